#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "bandana/core/without_replacement.h"
#include "bandana/federation/assigned_parts.h"
#include "bandana/federation/awaited_reports.h"
#include "bandana/federation/cohort.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/privatizer.h"
#include "fmt/format.h"

namespace bandana {

/// The shuffler S as a role. It holds the reports of a mix request's clients until it has all of them, mixes
/// them, and sends the mixed reports to the server. It makes no decision. It sees a plan only if it assigns
/// the plan's parts.
template <ShufflePrivatizer P>
class Shuffler final : public Node {
 public:
  explicit Shuffler(const P& privatizer) : privatizer_(&privatizer) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (const auto* mix_request = std::get_if<std::shared_ptr<const MixRequest>>(&message.body)) {
      if (message.from != context.links().upstream) {
        return absl::PermissionDeniedError("the mix request is not from the server");
      }
      return Mix(context, awaited_reports_.Call(*mix_request));
    }
    if (const auto* deal = std::get_if<Deal>(&message.body)) {
      if (message.from != context.links().upstream) {
        return absl::PermissionDeniedError("the deal is not from the server");
      }
      return DealOut(context, *deal);
    }
    const auto* share = std::get_if<Share>(&message.body);
    if (share == nullptr)
      return absl::InvalidArgumentError("a shuffler accepts only mix requests, deals and shares");
    if (dealt_ != nullptr && dealt_->epoch == share->epoch) {
      return TakePart(context, message.origin, share->report);
    }
    if (share->report.part() != Report::kWhole) return absl::OkStatus();  // the deal is over
    return Mix(context, awaited_reports_.Take(share->epoch, message.origin, Report(share->report)));
  }

  bool finished() const override { return awaited_reports_.empty() && dealt_ == nullptr; }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(awaited_reports_, dealt_, last_deal_, parts_, answers_, assigned_parts_);
  }

 private:
  // The privacy against the server rests on this order being secret (docs/proofs/dealt.md).
  absl::Status DealOut(Context& context, const Deal& deal) {
    if (dealt_ != nullptr || deal.plan->epoch <= last_deal_) return absl::OkStatus();  // a repeat
    if (deal.plan->query.cohort != CohortOf(deal.first, deal.plan->query.clients)) {
      return absl::InvalidArgumentError(fmt::format(
          "the clients of the deal of epoch {} are not the cohort that its query names", deal.plan->epoch));
    }
    dealt_ = deal.plan;
    last_deal_ = deal.plan->epoch;
    assigned_parts_ = {dealt_->query.dealt, deal.first};
    context.DealOut(dealt_, deal.first, [&] {
      auto order = RandomOrder(static_cast<std::uint32_t>(dealt_->query.clients), context.coin(last_deal_));
      assigned_parts_.Permute(order);
      return order;
    });
    return absl::OkStatus();
  }

  absl::Status TakePart(Context& context, NodeId origin, const Report& report) {
    if (!assigned_parts_.Take(origin, report)) return absl::OkStatus();
    answers_ += report.clients();
    parts_.push_back(report);
    if (answers_ < dealt_->query.clients) return absl::OkStatus();
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> mixed,
                             privatizer_->Mix(dealt_->query, std::exchange(parts_, {})));
    context.Send(*context.links().upstream, Mixed{dealt_->epoch, std::move(mixed)});
    dealt_ = nullptr;
    answers_ = 0;
    assigned_parts_ = {};
    return absl::OkStatus();
  }

  absl::Status Mix(Context& context, AwaitedReports<Report>::Outcome outcome) {
    if (!outcome.ok()) return outcome.status();
    if (!outcome->has_value()) return absl::OkStatus();
    auto& [mix_request, collected] = **outcome;
    std::vector<Report> reports;
    reports.reserve(collected.size());
    for (auto& [client, report] : collected) reports.push_back(std::move(report));
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> mixed,
                             privatizer_->Mix(mix_request->query, std::move(reports)));
    context.Send(*context.links().upstream, Mixed{mix_request->epoch, std::move(mixed)});
    return absl::OkStatus();
  }

  const P* privatizer_;
  AwaitedReports<Report> awaited_reports_;
  std::shared_ptr<const Plan> dealt_;  // assigned to clients, and not yet answered by all of them
  Epoch last_deal_ = 0;
  std::vector<Report> parts_;
  Count answers_ = 0;
  AssignedParts assigned_parts_;
};

}  // namespace bandana
