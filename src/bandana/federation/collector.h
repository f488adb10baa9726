#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/federation/assigned_parts.h"
#include "bandana/federation/cohort.h"
#include "bandana/federation/context.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/release.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// The server's side of one question at a time. It asks clients, collects their reports (through a shuffler
/// if the privatizer has one), and releases the answer when enough clients have reported: as many as the
/// query waits for, or, at a deadline, its quorum. Who paid for a report has it counted, so without a trusted
/// server only a deadline ends the wait for those that were asked.
template <Privatizer P>
class Collector {
 public:
  explicit Collector(P privatizer) : privatizer_(std::move(privatizer)) {}

  /// Sends the plan to `clients`. Their number must equal plan->query.clients. Sends nothing if it fails.
  absl::Status Ask(Context& context, std::shared_ptr<const Plan> plan, std::vector<NodeId> clients) {
    absl::flat_hash_set<NodeId> awaited(clients.begin(), clients.end());
    if (static_cast<Count>(awaited.size()) != plan->query.clients || awaited.size() != clients.size()) {
      return absl::InvalidArgumentError("a plan must go to as many different clients as its query asks for");
    }
    if (ShufflePrivatizer<P> && !context.links().shuffler.has_value()) return NoShuffler();
    if constexpr (ShufflePrivatizer<P>) {
      auto mixed = std::make_shared<Plan>(*plan);
      mixed->query.cohort = CohortOf(clients);
      plan = std::move(mixed);
    }
    plan_ = std::move(plan);
    sum_ = {};
    awaited_.clear();
    for (const NodeId client : clients) context.Send(client, plan_);
    if constexpr (ShufflePrivatizer<P>) {
      auto mix_request =
          std::make_shared<MixRequest>(MixRequest{plan_->epoch, plan_->query, std::move(clients)});
      context.Send(*context.links().shuffler, std::shared_ptr<const MixRequest>(std::move(mix_request)));
    } else {
      awaited_ = std::move(awaited);
    }
    return absl::OkStatus();
  }

  /// Assigns one part of the plan to each of the clients first .. first + query.clients - 1. If there is a
  /// shuffler, the shuffler assigns the parts instead of the server.
  absl::Status Deal(Context& context, std::shared_ptr<const Plan> plan, NodeId first) {
    if (ShufflePrivatizer<P> && !context.links().shuffler.has_value()) return NoShuffler();
    if constexpr (ShufflePrivatizer<P>) {
      auto mixed = std::make_shared<Plan>(*plan);
      mixed->query.cohort = CohortOf(first, plan->query.clients);
      plan = std::move(mixed);
    }
    plan_ = std::move(plan);
    sum_ = {};
    awaited_.clear();
    dealt_ = {plan_->query.dealt, first};
    if constexpr (ShufflePrivatizer<P>) {
      context.Send(*context.links().shuffler, bandana::Deal{plan_, first});
    } else {
      context.DealOut(plan_, first);
    }
    return absl::OkStatus();
  }

  /// Adds an answer. Returns the release if this answer was the last one missing, else nothing. Drops
  /// repeated answers, answers that were not asked for, and answers that come late.
  absl::StatusOr<std::optional<Released<typename P::Output>>> Take(Context& context, const Message& message) {
    if (!plan_) return std::nullopt;
    if constexpr (ShufflePrivatizer<P>) {
      const auto* mixed = std::get_if<Mixed>(&message.body);
      if (mixed == nullptr || message.from != context.links().shuffler) {
        return absl::InvalidArgumentError("this server accepts only mixed reports from its shuffler");
      }
      if (mixed->epoch != plan_->epoch) return std::nullopt;
      BANDANA_RETURN_IF_ERROR(privatizer_.AddMixed(plan_->query, mixed->reports, sum_));
    } else {
      const auto* share = std::get_if<Share>(&message.body);
      if (share == nullptr) return absl::InvalidArgumentError("this server accepts only shares");
      if (share->epoch != plan_->epoch || !IsNew(message.origin, share->report)) return std::nullopt;
      BANDANA_RETURN_IF_ERROR(privatizer_.Add(plan_->query, share->report, sum_));
      if (sum_.reports() < Wanted()) return std::nullopt;
    }
    return Close(context);
  }

  /// Ends the wait for answers to the plan of this epoch. Returns the release, or nothing if too few clients
  /// have answered, and then waits on.
  absl::StatusOr<std::optional<Released<typename P::Output>>> AtDeadline(Context& context, Epoch epoch) {
    if (!plan_ || plan_->epoch != epoch || sum_.reports() == 0 || ShufflePrivatizer<P>) return std::nullopt;
    BasicReportSum<typename P::Query> closed = sum_;
    if (!closed.Close().ok()) return std::nullopt;
    return Close(context);
  }

  const P& privatizer() const { return privatizer_; }
  const std::shared_ptr<const Plan>& plan() const { return plan_; }  ///< null if no answer is missing
  /// Returns the query of the last release, whose clients are those that have answered.
  const typename P::Query& answered() const { return sum_.query(); }

  template <class Archive>
  void State(Archive& a) {
    a(plan_, awaited_, dealt_, sum_);
  }

 private:
  Count Wanted() const { return P::kChargesClient ? plan_->query.clients : plan_->query.wanted(); }

  absl::StatusOr<std::optional<Released<typename P::Output>>> Close(Context& context) {
    const std::shared_ptr<const Plan> plan = std::exchange(plan_, nullptr);
    if constexpr (!ShufflePrivatizer<P>) BANDANA_RETURN_IF_ERROR(sum_.Close());
    return Release::FromAnalyzer(context, privatizer_, plan->epoch, sum_);
  }

  static absl::Status NoShuffler() {
    return absl::FailedPreconditionError("the shuffle model needs a shuffler, but the network has none");
  }

  // Returns whether `origin` was asked this question and has not answered it yet.
  bool IsNew(NodeId origin, const Report& report) {
    return plan_->query.dealt.empty() ? awaited_.erase(origin) > 0 : dealt_.Take(origin, report);
  }

  P privatizer_;
  std::shared_ptr<const Plan> plan_;  // null if no answer is missing
  absl::flat_hash_set<NodeId> awaited_;
  AssignedParts dealt_;
  BasicReportSum<typename P::Query> sum_;
};

}  // namespace bandana
