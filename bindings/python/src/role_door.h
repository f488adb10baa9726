#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bandana/federation/context.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/federation/releases.h"
#include "policy_draws.h"

namespace bandana::python {

/// The noise and the budget of one agent's policy.
struct RoleOutside {
  RoleOutside(const PolicyDraws& draws, DpGuarantee budget) : bits(draws.seed), releases(budget) {}
  Bits bits;
  Releases releases;
};

/// The Context of a role of a policy. What it sends waits in `outbox` for the policy to deliver it.
class RoleDoor final : public Context {
 public:
  struct Envelope {
    NodeId to;
    Message message;
  };

  RoleDoor(RoleOutside& outside, Links links) : outside_(&outside), links_(std::move(links)) {}

  const Links& links() const override { return links_; }
  void Send(NodeId to, Payload payload) override {
    outbox.push_back({to, {links_.self, links_.self, 0, next_seq_++, std::move(payload)}});
  }
  void Play(std::span<const Pull>) override {}
  CoinGen& coin(Epoch epoch) override {
    return coin_.For(epoch, [&] { return outside_->bits.MakeCoins(links_.self, epoch); });
  }

  std::vector<Envelope> outbox;

 private:
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return outside_->bits.WithNoise(key.node, key.epoch, [&](NoiseGen& noise) {
      return outside_->releases.Once(key, charge, noise, draw);
    });
  }

  RoleOutside* outside_;
  Links links_;
  EpochCoin coin_;
  Seq next_seq_ = 0;
};

/// Why the state of a silo's policy is not public.
inline constexpr char kSilosState[] =
    "the policy holds raw sums of people's data, which nobody but the silo may have; save(path) writes them "
    "into a file "
    "that only its owner can read";

}  // namespace bandana::python
