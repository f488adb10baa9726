#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bandana/federation/network_player.h"

namespace bandana {

/// A role that forwards every call to another role. Derived classes override some calls, to observe them.
class ForwardingPlayer : public NetworkPlayer {
 public:
  explicit ForwardingPlayer(std::unique_ptr<NetworkPlayer> role) : role_(std::move(role)) {}

  absl::Status OnStart(Context& context) override { return role_->OnStart(context); }
  absl::Status OnMessage(Context& context, const Message& message) override {
    return role_->OnMessage(context, message);
  }
  std::span<const Pull> Act(Context& context) override { return role_->Act(context); }
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    return role_->Observe(context, rewards);
  }
  absl::Status EndTick(Context& context) override { return role_->EndTick(context); }
  void OnSilence(Context& context) override { role_->OnSilence(context); }
  bool finished() const override { return role_->finished(); }
  bool waiting() const override { return role_->waiting(); }
  void Describe(Observations& observations) const override { role_->Describe(observations); }
  std::string Save() const override { return role_->Save(); }
  absl::Status Restore(std::string_view saved) override { return role_->Restore(saved); }

  NetworkPlayer& role() const { return *role_; }

 private:
  std::unique_ptr<NetworkPlayer> role_;
};

}  // namespace bandana
