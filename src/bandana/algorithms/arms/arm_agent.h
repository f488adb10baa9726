#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/context.h"
#include "bandana/federation/observations.h"
#include "bandana/privacy/arm_totals.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/silo_arm_sums.h"

namespace bandana {

/// The part that agents of all three structures of P4 share: pulls, a clock that counts one slot per pull,
/// the stream of rewards that may be released, and the sum of all releases. Rewards of waiting pulls never
/// enter that stream.
class ArmAgent {
 public:
  /// With a `leak`, waiting pulls follow the agent's own rewards (LocalData::kRaw): whoever sees its actions
  /// learns something about these rewards. `privatizer` must outlive the agent.
  ArmAgent(Count horizon, const SiloArmSums& privatizer, std::optional<Declassify> leak = std::nullopt);

  Count clock() const { return clock_; }            ///< slots played
  Count left() const { return horizon_ - clock_; }  ///< slots that are left
  Count waited() const { return waited_; }          ///< pulls while it waited for messages

  /// Pulls each of `arms` `pulls` times next; the rewards will be released.
  void Explore(std::span<const ArmId> arms, Count pulls);

  /// Pulls its own best of `arms` next, for `slots` slots or as many as are left.
  void Wait(std::span<const ArmId> arms, Count slots);

  /// Pulls these arms in turn until the horizon.
  void PlayOut(std::span<const ArmId> arms);

  /// Pulls its own best of `arms` until the horizon.
  void PlayOutOwn(std::span<const ArmId> arms);

  double noise_scale() const { return privatizer_->noise_scale(); }

  std::span<const Pull> pulls() const { return waits_.empty() ? pulls_ : waits_; }  ///< next, until Observe
  bool waits() const { return !waits_.empty(); }  ///< whether the next pulls are those of Wait
  Count pending() const;                          ///< slots that all pulls not yet observed take
  absl::Status Observe(const Raw<RewardSums>& rewards);

  /// Releases the sums of everything that it has explored since its last release, and returns the sums of all
  /// its releases.
  absl::StatusOr<ReleasedArms> Release(Context& context, Epoch epoch, std::span<const ArmId> arms);

  void Describe(Observations& observations) const {
    observations.numbers["waited"] += static_cast<double>(waited_);
  }

  template <class Archive>
  void State(Archive& a) {
    a.Same(horizon_, "horizon");
    a.Same(privatizer_->noise_scale(), "noise");
    a(clock_, waited_, waits_, pulls_, recorded_, *stream_, history_, released_);
    a.Check([&] { return Fits(); }, "it has more pulls than the horizon allows");
  }

 private:
  ArmId BestOwn(std::span<const ArmId> arms) const;
  bool Fits() const;  // whether all pulls fit into the horizon

  Count horizon_;
  const SiloArmSums* privatizer_;
  std::optional<Declassify> leak_;
  Count clock_ = 0;
  Count waited_ = 0;
  std::vector<Pull> waits_;  // made before pulls_
  std::vector<Pull> pulls_;
  bool recorded_ = false;  // whether rewards of pulls_ go into the stream
  std::unique_ptr<ArmStream> stream_;
  ArmHistory history_;
  ReleasedArms released_;  // the sums of all releases
};

}  // namespace bandana
