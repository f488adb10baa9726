#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "bandana/core/noise_door.h"
#include "bandana/federation/context.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/federation/releases.h"
#include "bandana/service/randomness.h"

namespace bandana::service {

/// The state that the roles of one process share. Calls come from one thread at a time.
struct RoleWorld {
  std::optional<InsecureSeed> insecure_seed;
  Releases releases;
  std::function<void(NodeId from, NodeId to, Payload payload)> send;
  std::function<void(std::span<const Pull> pulls)> play;
};

/// A role's Context in a real deployment, at the server and at the agents.
class RoleContext final : public Context {
 public:
  /// `world` must outlive the context.
  RoleContext(RoleWorld& world, Links links) : world_(world), links_(std::move(links)) {}

  const Links& links() const override { return links_; }

  void Send(NodeId to, Payload payload) override { world_.send(links_.self, to, std::move(payload)); }

  void Play(std::span<const Pull> pulls) override {
    if (world_.play) world_.play(pulls);
  }

  CoinGen& coin(Epoch epoch) override {
    return coin_.For(
        epoch, [&] { return MakeBits(world_.insecure_seed, links_.self, epoch, Stream::kExploration); });
  }

  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    const std::unique_ptr<BitSource> bits =
        MakeBits(world_.insecure_seed, key.node, key.epoch, Stream::kPrivacy);
    NoiseGen noise = NoiseDoor::Open(*bits);
    return world_.releases.Once(key, charge, noise, draw);
  }

 private:
  RoleWorld& world_;
  Links links_;
  EpochCoin coin_;
};

}  // namespace bandana::service
