#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "bandana/core/bit_source.h"
#include "bandana/core/noise_door.h"
#include "bandana/federation/context.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/federation/releases.h"

namespace bandana::sim {

/// The randomness and the budget of one simulated run. Every draw is keyed by (seed, replicate, node, epoch,
/// stream), so that the order of calls and the number of threads do not matter.
class SimRandomness {
 public:
  SimRandomness(std::uint64_t seed, std::uint32_t replicate, DpGuarantee budget_per_unit)
      : seed_(seed), replicate_(replicate), releases_(budget_per_unit, Releases::Journal::kNotNeeded) {}

  StreamKey Key(NodeId node, Epoch epoch, Stream stream) const {
    return {seed_, replicate_, node, epoch, stream};
  }

  absl::StatusOr<Report> Release(const ReleaseKey& key, const Charge& charge,
                                 absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) {
    PhiloxSource bits(Key(key.node, key.epoch, Stream::kPrivacy));
    NoiseGen noise = NoiseDoor::Open(bits);
    const std::lock_guard lock(mutex_);
    return releases_.Once(key, charge, noise, draw);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t replicate_;
  std::mutex mutex_;
  Releases releases_;
};

/// The Context of a role in a simulated world. The simulators of slots, rounds and ticks derive from it and
/// add how messages travel.
class SimContext : public Context {
 public:
  SimContext(SimRandomness& randomness, Links links) : randomness_(&randomness), links_(std::move(links)) {}

  const Links& links() const override { return links_; }
  void Play(std::span<const Pull>) override {}
  CoinGen& coin(Epoch epoch) override {
    return coin_.For(epoch, [&] {
      return std::make_unique<PhiloxSource>(randomness_->Key(links_.self, epoch, Stream::kExploration));
    });
  }

 private:
  bool remembers() const override { return false; }  // not needed: draws are keyed, and messages arrive once
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return randomness_->Release(key, charge, draw);
  }

  SimRandomness* randomness_;
  Links links_;
  EpochCoin coin_;
};

}  // namespace bandana::sim
