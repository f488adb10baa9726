#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bandana/cli/role_log.h"
#include "bandana/federation/forwarding_player.h"

namespace bandana::cli {

/// A role that works in ticks and writes its pulls as events, one event per tick, if events are wanted.
class EventNetworkPlayer final : public ForwardingPlayer {
 public:
  EventNetworkPlayer(std::unique_ptr<NetworkPlayer> role, NodeId self, RoleLog& log)
      : ForwardingPlayer(std::move(role)), self_(self), log_(log) {}
  ~EventNetworkPlayer() override { Flush(); }

  std::span<const Pull> Act(Context& context) override {
    const std::span<const Pull> pulls = ForwardingPlayer::Act(context);
    if (!log_.traces()) return pulls;
    for (const Pull& pull : pulls) {
      if (!told_.empty() && told_.back().first == pull.arm) {
        told_.back().second += pull.count;
      } else {
        told_.emplace_back(pull.arm, pull.count);
      }
    }
    return pulls;
  }
  absl::Status EndTick(Context& context) override {
    Flush();
    return ForwardingPlayer::EndTick(context);
  }

 private:
  void Flush() {
    if (!told_.empty()) log_.Trace("pulls", {{"agent", self_.value}, {"pulls", told_}});
    told_.clear();
  }

  NodeId self_;
  RoleLog& log_;
  std::vector<std::pair<ArmId, Count>> told_;  // the pulls of this tick
};

}  // namespace bandana::cli
