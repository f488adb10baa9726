#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/status.h"
#include "bandana/federation/node.h"
#include "bandana/federation/roll_call.h"
#include "bandana/privacy/privatizer.h"

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
      return Mix(context, roll_call_.Call(*roll));
    }
    const auto* share = std::get_if<Share>(&message.body);
    if (share == nullptr) return absl::InvalidArgumentError("a shuffler takes rolls and shares alone");
    return Mix(context, roll_call_.Take(share->epoch, message.origin, Report(share->report)));
  }

  bool finished() const override { return roll_call_.empty(); }

 private:
  absl::Status Mix(Context& context, RollCall<Report>::Outcome outcome) {
    if (!outcome.ok()) return outcome.status();
    if (!outcome->has_value()) return absl::OkStatus();
    auto& [roll, collected] = **outcome;
    std::vector<Report> reports;
    reports.reserve(collected.size());
    for (auto& [client, report] : collected) reports.push_back(std::move(report));
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> mixed, privatizer_->Mix(roll->query, std::move(reports)));
    context.Send(*context.links().upstream, Mixed{roll->epoch, std::move(mixed)});
    return absl::OkStatus();
  }

  const P* privatizer_;
  RollCall<Report> roll_call_;
};

}  // namespace bandana
