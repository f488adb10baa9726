#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bandana/cli/role_log.h"
#include "bandana/federation/played_arm.h"
#include "bandana/federation/round_player.h"

namespace bandana::cli {

/// A role that plays round by round and writes its decisions as events, a thousand rounds per event, if
/// events are wanted.
class EventRoundPlayer final : public RoundPlayer<double> {
 public:
  EventRoundPlayer(std::unique_ptr<RoundPlayer<double>> role, NodeId self, RoleLog& log)
      : role_(std::move(role)), self_(self), log_(log) {}
  ~EventRoundPlayer() override { Flush(); }

  absl::Status OnMessage(Context& context, const Message& message) override {
    return role_->OnMessage(context, message);
  }
  Count rounds_ready() const override { return role_->rounds_ready(); }
  bool Plays(Count round) const override { return role_->Plays(round); }
  const ChosenArm& Act(Context& context, Count round, const Raw<DecisionSet<double>>& set) override {
    const ChosenArm& chosen = role_->Act(context, round, set);
    if (log_.traces()) {
      arms_.push_back(PlayedArm::Of(chosen));
      if (arms_.size() == 1000) Flush();
    }
    return chosen;
  }
  absl::Status Observe(Context& context, Count round, const Raw<double>& reward) override {
    return role_->Observe(context, round, reward);
  }
  absl::Status EndRound(Context& context, Count round) override { return role_->EndRound(context, round); }
  void Describe(Observations& observations) const override { role_->Describe(observations); }
  std::string Save() const override { return role_->Save(); }
  absl::Status Restore(std::string_view saved) override { return role_->Restore(saved); }

 private:
  void Flush() {
    if (!arms_.empty()) log_.Trace("decisions", {{"agent", self_.value}, {"arms", arms_}});
    arms_.clear();
  }

  std::unique_ptr<RoundPlayer<double>> role_;
  NodeId self_;
  RoleLog& log_;
  std::vector<ArmId> arms_;
};

}  // namespace bandana::cli
