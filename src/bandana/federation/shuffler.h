#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "bandana/core/status.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/privatizer.h"
#include "fmt/format.h"

namespace bandana {

/// S as a role: holds the reports of a roll's clients until all are in, mixes them, and hands the server what
/// is left. It sees no plan and makes no decision.
template <ShufflePrivatizer P>
class Shuffler final : public Node {
 public:
  explicit Shuffler(const P& privatizer) : privatizer_(&privatizer) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (const auto* roll = std::get_if<std::shared_ptr<const Roll>>(&message.body)) {
      if (message.from != context.links().upstream) {
        return absl::PermissionDeniedError("a roll of somebody other than the server");
      }
      if (mixed_.contains((*roll)->epoch)) return absl::OkStatus();  // a repeat
      Batch& batch = batches_[(*roll)->epoch];
      if (batch.roll == nullptr) batch.Open(*roll);
      return MixIfComplete(context, (*roll)->epoch);
    }
    const auto* share = std::get_if<Share>(&message.body);
    if (share == nullptr) return absl::InvalidArgumentError("a shuffler takes rolls and shares alone");
    if (mixed_.contains(share->epoch)) return absl::OkStatus();  // a repeat
    batches_[share->epoch].Take(message.origin, share->report);  // may come before its roll
    return MixIfComplete(context, share->epoch);
  }

  bool finished() const override { return batches_.empty(); }

 private:
  struct Batch {
    std::shared_ptr<const Roll> roll;
    absl::flat_hash_set<NodeId> wanted;
    std::map<NodeId, Report> reports;  // in an order that does not depend on the network

    void Open(std::shared_ptr<const Roll> called) {
      roll = std::move(called);
      wanted.insert(roll->clients.begin(), roll->clients.end());
      std::erase_if(reports, [&](const auto& entry) { return !wanted.contains(entry.first); });
    }

    void Take(NodeId origin, const Report& report) {
      if (roll == nullptr || wanted.contains(origin)) reports.try_emplace(origin, report);
    }

    bool complete() const { return roll != nullptr && reports.size() == wanted.size(); }
  };

  // What a client was promised rests on how many it is mixed with: it says so itself, and the server's word
  // does not count.
  static absl::Status CheckQuorum(const Batch& batch) {
    for (const auto& [client, report] : batch.reports) {
      if (report.quorum() <= static_cast<Count>(batch.reports.size())) continue;
      return absl::FailedPreconditionError(
          fmt::format("client {} may only be mixed with {} reports, and the roll of epoch {} has {}",
                      client.value, report.quorum(), batch.roll->epoch, batch.reports.size()));
    }
    return absl::OkStatus();
  }

  absl::Status MixIfComplete(Context& context, Epoch epoch) {
    Batch& batch = batches_[epoch];
    if (!batch.complete()) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(CheckQuorum(batch));
    std::vector<Report> reports;
    reports.reserve(batch.reports.size());
    for (auto& [client, report] : batch.reports) reports.push_back(std::move(report));
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> mixed,
                             privatizer_->Mix(batch.roll->query, std::move(reports), context.coin(epoch)));
    batches_.erase(epoch);
    mixed_.insert(epoch);
    context.Send(*context.links().upstream, Mixed{epoch, std::move(mixed)});
    return absl::OkStatus();
  }

  const P* privatizer_;
  std::map<Epoch, Batch> batches_;
  absl::flat_hash_set<Epoch> mixed_;
};

}  // namespace bandana
