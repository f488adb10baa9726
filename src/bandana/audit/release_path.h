#pragma once

#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/audit/target.h"
#include "bandana/core/status.h"
#include "bandana/federation/context.h"
#include "bandana/federation/release.h"
#include "bandana/federation/releases.h"

namespace bandana::audit {

/// The context of one role in an audit. A target so takes the same path as a run (federation/release.h), but
/// nothing is sent, and nothing is charged unless there are `releases`.
class AuditContext : public Context {
 public:
  AuditContext(NodeId self, NoiseGen& noise, Releases* releases = nullptr)
      : AuditContext(Topology::Star(0).LinksOf(self), noise, releases) {}
  AuditContext(Links links, NoiseGen& noise, Releases* releases = nullptr)
      : links_(std::move(links)), noise_(noise), releases_(releases) {}

  const Links& links() const override { return links_; }
  void Send(NodeId, Payload) override {}
  void Play(std::span<const Pull>) override {}
  CoinGen& coin(Epoch) final;

 private:
  bool remembers() const override { return releases_ != nullptr; }

  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return releases_ == nullptr ? draw(noise_) : releases_->Once(key, charge, noise_, draw);
  }

  Links links_;
  NoiseGen& noise_;
  Releases* releases_;
};

/// Runs Randomize: returns the reports of clients 1, 2, ... with these averages, as they leave the clients.
template <Privatizer P>
absl::StatusOr<std::vector<Report>> ReportsOf(const P& privatizer, const MeanQuery& query,
                                              std::span<const std::vector<RewardSum>> clients,
                                              NoiseGen& noise) {
  std::vector<Report> reports;
  for (const std::vector<RewardSum>& averages : clients) {
    AuditContext client(NodeId{static_cast<std::uint32_t>(reports.size() + 1)}, noise);
    BANDANA_ASSIGN_OR_RETURN(Report report, Release::FromClient(client, privatizer, 1, query,
                                                                Raw<RewardSums>(RewardSums(averages))));
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Runs Add (or Mix and AddMixed), Seal and Open: returns what is released about these reports.
template <Privatizer P>
absl::StatusOr<Mean> ReleaseMean(const P& privatizer, const MeanQuery& query,
                                 const std::vector<Report>& reports, NoiseGen& noise) {
  ReportSum sum;
  if constexpr (ShufflePrivatizer<P>) {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed, privatizer.Mix(query, reports));
    BANDANA_RETURN_IF_ERROR(privatizer.AddMixed(query, mixed, sum));
  } else {
    for (const Report& report : reports) BANDANA_RETURN_IF_ERROR(privatizer.Add(query, report, sum));
  }
  AuditContext analyzer(kServerNode, noise);
  BANDANA_ASSIGN_OR_RETURN(const Released<Mean> mean, Release::FromAnalyzer(analyzer, privatizer, 1, sum));
  return mean.value();
}

}  // namespace bandana::audit
