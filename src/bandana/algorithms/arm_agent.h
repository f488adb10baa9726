#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/context.h"
#include "bandana/privacy/arm_totals.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/silo_arm_sums.h"

namespace bandana {

/// What agents of P4's three structures have in common: pulls, a clock of one slot a pull, the stream of what
/// may be released, and all their releases added up. Rewards of waiting pulls never enter that stream.
class ArmAgent {
 public:
  /// With a `leak` waiting pulls follow the agent's own rewards (LocalData::kRaw): whoever sees its actions
  /// then sees something of these. `privatizer` must outlive it.
  ArmAgent(Count horizon, const SiloArmSums& privatizer, std::optional<Declassify> leak = std::nullopt);

  Count clock() const { return clock_; }
  Count left() const { return horizon_ - clock_; }  ///< slots
  Count waited() const { return waited_; }          ///< pulls while it waited

  /// Each of `arms` `pulls` times, to be released.
  void Explore(std::span<const ArmId> arms, Count pulls);

  /// Its own best of `arms` for some slots, as many as there are at most.
  void Wait(std::span<const ArmId> arms, Count slots);

  /// To the end: this arm, or its own best.
  void PlayOut(ArmId arm);
  void PlayOutOwn(std::span<const ArmId> arms) { PlayOut(BestOwn(arms)); }

  double noise_scale() const { return privatizer_->noise_scale(); }

  std::span<const Pull> pulls() const { return waits_.empty() ? pulls_ : waits_; }  ///< next, until Observe
  bool waits() const { return !waits_.empty(); }  ///< whether these are Wait's
  Count pending() const;                          ///< slots that these take
  absl::Status Observe(const Raw<RewardSums>& rewards);

  /// Its next release: of what it has explored since the last one. All of them, added up.
  absl::StatusOr<ReleasedArms> Release(Context& context, Epoch epoch, std::span<const ArmId> arms);

  template <class Archive>
  void State(Archive& a) {
    a.Same(horizon_, "horizon");
    a.Same(privatizer_->noise_scale(), "noise");
    a(clock_, waited_, waits_, pulls_, recorded_, *stream_, history_, released_);
    a.Check([&] { return Fits(); }, "more pulls than the horizon has");
  }

 private:
  ArmId BestOwn(std::span<const ArmId> arms) const;
  bool Fits() const;  // into the horizon

  Count horizon_;
  const SiloArmSums* privatizer_;
  std::optional<Declassify> leak_;
  Count clock_ = 0;
  Count waited_ = 0;
  std::vector<Pull> waits_;  // first
  std::vector<Pull> pulls_;
  bool recorded_ = false;  // whether rewards of pulls_ go into the stream
  std::unique_ptr<ArmStream> stream_;
  ArmHistory history_;
  ReleasedArms released_;  // all of them
};

}  // namespace bandana
