#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bandana/cli/role.h"
#include "bandana/federation/network_player.h"

namespace bandana::cli {

/// A role that works in ticks and tells of its pulls, a tick a line, if somebody wants to know.
class TellingNetworkPlayer final : public NetworkPlayer {
 public:
  TellingNetworkPlayer(std::unique_ptr<NetworkPlayer> role, NodeId self, Events& events)
      : role_(std::move(role)), self_(self), events_(events) {}
  ~TellingNetworkPlayer() override { Flush(); }

  absl::Status OnStart(Context& context) override { return role_->OnStart(context); }
  absl::Status OnMessage(Context& context, const Message& message) override {
    return role_->OnMessage(context, message);
  }
  bool finished() const override { return role_->finished(); }
  std::span<const Pull> Act(Context& context) override {
    const std::span<const Pull> pulls = role_->Act(context);
    if (!events_.wanted()) return pulls;
    for (const Pull& pull : pulls) {
      if (!told_.empty() && told_.back().first == pull.arm) {
        told_.back().second += pull.count;
      } else {
        told_.emplace_back(pull.arm, pull.count);
      }
    }
    return pulls;
  }
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    return role_->Observe(context, rewards);
  }
  absl::Status EndTick(Context& context) override {
    Flush();
    return role_->EndTick(context);
  }
  void OnSilence(Context& context) override { role_->OnSilence(context); }

 private:
  void Flush() {
    if (!told_.empty()) events_.Write("pulls", {{"agent", self_.value}, {"pulls", told_}});
    told_.clear();
  }

  std::unique_ptr<NetworkPlayer> role_;
  NodeId self_;
  Events& events_;
  std::vector<std::pair<ArmId, Count>> told_;  // in this tick
};

}  // namespace bandana::cli
