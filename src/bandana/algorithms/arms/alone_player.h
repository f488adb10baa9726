#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "bandana/core/archive.h"
#include "bandana/federation/network_player.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/silo_arm_sums.h"

namespace bandana {

/// An agent by itself, which learns from every reward and protects none: a baseline. Policy is Ucb1 or
/// SuccessiveElimination. Rewards outside of [0, 1] are clipped.
template <class Policy>
class AlonePlayer final : public NetworkPlayer {
 public:
  AlonePlayer(Policy policy, Count horizon, const Declassify& leak)
      : policy_(std::move(policy)), horizon_(horizon), left_(horizon), leak_(leak) {}

  absl::Status OnMessage(Context&, const Message&) override {
    return absl::InvalidArgumentError("an agent that learns alone accepts no messages");
  }
  std::span<const Pull> Act(Context&) override {
    if (left_ == 0) return {};
    Count due = 1;
    if constexpr (requires { policy_.Due(); }) due = std::min(left_, policy_.Due());
    pull_ = {policy_.Choose(), due};
    return {&pull_, 1};
  }
  absl::Status Observe(Context&, const Raw<RewardSums>& rewards) override {
    left_ -= pull_.count;
    const double sum = SiloArmSums::RevealRewards(rewards, leak_).front().sum;
    const auto most = static_cast<double>(pull_.count);
    policy_.Learn(pull_.arm, std::isnan(sum) ? most / 2 : std::clamp(sum, 0.0, most), pull_.count);
    return absl::OkStatus();
  }
  absl::Status EndTick(Context&) override { return absl::OkStatus(); }
  void OnSilence(Context&) override {}
  bool finished() const override { return left_ == 0; }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(horizon_, "horizon");
    a(policy_, left_, pull_);
    a.Check(left_ >= 0 && left_ <= horizon_ && pull_.count >= 0 && pull_.count <= horizon_,
            "it has more pulls than the horizon allows");
  }

 private:
  Policy policy_;
  Count horizon_;
  Count left_;
  Declassify leak_;
  Pull pull_;
};

}  // namespace bandana
