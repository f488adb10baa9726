#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "bandana/core/bit_source.h"
#include "bandana/core/noise_door.h"
#include "bandana/federation/context.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/service/randomness.h"
#include "bandana/store/seal.h"
#include "bandana/store/store_ledger.h"

namespace bandana::service {

/// The state that the roles of one machine share: where their messages go, and where their charges, noise and
/// coins come from. A process that was killed draws the same again: noise from the seeds of the ledger, and
/// everything else from the secret of the run.
class RoleWorld {
 public:
  using Sender = std::function<void(NodeId from, NodeId to, Payload payload)>;
  using OnPlay = std::function<void(std::span<const Pull> pulls)>;

  RoleWorld(std::optional<InsecureSeed> insecure_seed, Sender send, OnPlay play = nullptr)
      : insecure_seed_(insecure_seed), send_(std::move(send)), play_(std::move(play)) {}

  void Attach(store::StoreLedger& ledger, const store::Key& secret) {
    ledger_ = &ledger;
    secret_ = &secret;
  }

  /// Has releases charged to other units than the role names; `units_of` may fail.
  void ChargeInstead(std::function<absl::StatusOr<UnitRanges>(const UnitRanges&)> units_of) {
    units_of_ = std::move(units_of);
  }

  void Send(NodeId from, NodeId to, Payload payload) { send_(from, to, std::move(payload)); }
  void Play(std::span<const Pull> pulls) {
    if (play_) play_(pulls);
  }

  std::unique_ptr<BitSource> Coins(NodeId node, Epoch epoch) const;
  absl::StatusOr<Report> Once(const ReleaseKey& key, const Charge& charge,
                              absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw);

 private:
  std::unique_ptr<BitSource> Noise(const ReleaseKey& key, const store::Key& seed) const;

  std::optional<InsecureSeed> insecure_seed_;
  Sender send_;
  OnPlay play_;
  std::function<absl::StatusOr<UnitRanges>(const UnitRanges&)> units_of_;
  store::StoreLedger* ledger_ = nullptr;
  const store::Key* secret_ = nullptr;
};

/// A role's Context in a deployment.
class RoleContext final : public Context {
 public:
  /// `world` must outlive the context.
  RoleContext(RoleWorld& world, Links links) : world_(&world), links_(std::move(links)) {}

  const Links& links() const override { return links_; }
  void Send(NodeId to, Payload payload) override { world_->Send(links_.self, to, std::move(payload)); }
  void Play(std::span<const Pull> pulls) override { world_->Play(pulls); }
  CoinGen& coin(Epoch epoch) override {
    return coin_.For(epoch, [&] { return world_->Coins(links_.self, epoch); });
  }
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return world_->Once(key, charge, draw);
  }

  template <class Archive>
  void State(Archive& a) {
    EpochCoin::Position position = coin_.position();
    a(position);
    if constexpr (Archive::kReads) {
      if (!a.ok()) return;
      coin_.GoTo(position, [&] { return world_->Coins(links_.self, position.epoch); });
    }
  }

 private:
  RoleWorld* world_;
  Links links_;
  EpochCoin coin_;
};

}  // namespace bandana::service
