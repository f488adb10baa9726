#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/width.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/arm_sums.h"

/// The schedule by which P4's algorithms explore and eliminate arms: the lines that Algorithms 1, 3 and 5
/// share. P4 calls a sync a round of communication, r.
/// T. Li, L. Song, "Privacy-preserving communication-efficient federated multi-armed bandits", 2021.
///
///   paper                      here
///   S(r)                       Pulls(r, |I|)
///   C(r)                       HalfWidth
///   Delta~_r = 2^-r            Resolution(r), without a limit on syncs
///   Delta~_r = Delta^(r/R)     Resolution(r), with `rounds` and `gap`
///   N = ceil(p M)              reporting
///   1 / (M epsilon)            noise_scale of an agent's sums
///
/// Departures. Width::kExact takes the least S(r) whose Chernoff bound, over rewards and noise together, is
/// Delta~_r / 2, and the width that follows from the sums at hand. With `rounds` and `gap` it halves the gap:
/// an arm is sure to be eliminated only if it is worse by 2 Delta~, so the printed schedule may end with the
/// runner-up (docs/papers/p4.md). An exploration that does not fit into the horizon is not begun: the best
/// arm so far is pulled until the end. Overrun::kExplore begins it, as the paper does.
namespace bandana {

/// Says what agents do if the next exploration does not fit into the horizon.
enum class Overrun {
  kBest,     ///< they pull the best arm so far until the end
  kExplore,  ///< they pull all active arms in turn until the end, as in the paper
};

struct ArmScheduleParams {
  Count horizon = 0;
  Count arms = 0;          ///< K
  Count reporting = 0;     ///< agents whose sums make up an estimate
  Interval rewards{0, 1};  ///< which contains every reward
  double noise_scale = 0;  ///< scale of the Laplace noise in an agent's released sum; 0: no noise
  Width width = Width::kExact;
  double bonus = 1;               ///< the factor of the widths; below 1 they may fail more often
  std::optional<double> failure;  ///< probability that some width fails; empty: 1 / (1 + horizon)
  std::optional<Count> rounds;    ///< R, the largest number of syncs; empty: no limit
  std::optional<double> gap;      ///< the smallest gap, if it is known; it matters only with `rounds`
  Overrun overrun = Overrun::kBest;
};

/// A schedule is public: all agents compute the same one.
class ArmSchedule {
 public:
  static absl::StatusOr<ArmSchedule> Create(const ArmScheduleParams& params);

  const ArmScheduleParams& params() const { return params_; }

  /// Returns Delta~_r: arms that are worse than the best by twice this are gone after sync r, if widths hold.
  double Resolution(Epoch round) const;

  /// Returns how often each agent has pulled each of `active` arms before sync r. If that is more than the
  /// horizon allows, the result is some number beyond the horizon.
  Count Pulls(Epoch round, Count active) const;

  /// Returns how often each agent pulls each of `active` arms before sync r. It has made `pulled` pulls of
  /// each so far and has `left` slots, of which `waiting` pass while messages are on their way. 0: there are
  /// no more syncs.
  Count Next(Epoch round, Count active, Count pulled, Count left, Count waiting) const;

  /// Returns whether agents pull all of `active` arms in turn until the end. It matters only where Next has
  /// returned 0 for this sync: no exploration fits any more.
  bool ExploresToTheEnd(Epoch round, Count active) const;

  /// Returns C(r): how far the estimated mean of an arm may be from its true mean. The estimate averages sums
  /// with these weights, which add up to 1.
  struct WeightedSums {
    double weight = 1;
    const ArmSums* sums = nullptr;
  };
  double HalfWidth(Epoch round, Count active, std::span<const WeightedSums> parts) const;

 private:
  explicit ArmSchedule(const ArmScheduleParams& params);
  double Level(Epoch round) const;
  double ExactWidth(Epoch round, double pulls, Count noise_terms) const;
  Count ExactPulls(Epoch round, double resolution) const;

  ArmScheduleParams params_;
  double failure_;
  double last_resolution_ = 0;  // Resolution(R)
};

/// Returns whether `some` holds at least one of the arms 0 .. arms - 1, in ascending order and none twice.
bool AreArms(std::span<const ArmId> some, Count arms);

/// The result of an elimination.
struct ArmDecision {
  std::vector<ArmId> arms;  ///< that are left, ascending
  ArmId best = 0;           ///< the arm with the largest estimated mean
  double half_width = 0;
};

/// Keeps the arms whose estimated mean is less than 2 C(r) below the largest. All parts have sums of the same
/// arms.
ArmDecision EliminateArms(const ArmSchedule& schedule, Epoch round,
                          std::span<const ArmSchedule::WeightedSums> parts);

}  // namespace bandana
