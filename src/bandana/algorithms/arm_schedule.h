#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/width.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/arm_sums.h"

/// When P4's algorithms eliminate, and what: the lines that Algorithms 1, 3 and 5 share.
/// T. Li, L. Song, "Privacy-preserving communication-efficient federated multi-armed bandits", 2021.
///
///   paper                      here
///   S(r)                       Pulls(r, |I|)
///   C(r)                       HalfWidth
///   Delta~_r = 2^-r            Resolution(r), without a limit on rounds
///   Delta~_r = Delta^(r/R)     the same with `rounds` and `gap`
///   N = ceil(p M)              reporting
///   1 / (M epsilon)            noise_scale, of an agent's sums
///
/// Departures. Width::kExact takes the least S(r) whose Chernoff bound, over rewards and noise together, is
/// Delta~_r / 2, and the width that the sums at hand have. With `rounds` and `gap` it halves the gap: an arm
/// is sure to go if it is worse by 2 Delta~, so the printed schedule may end with the runner-up
/// (docs/papers/p4.md). A round that does not fit into the horizon is not begun: the best arm so far is
/// played out.
namespace bandana {

struct ArmScheduleParams {
  Count horizon = 0;
  Count arms = 0;          ///< K
  Count reporting = 0;     ///< agents whose sums make up an estimate
  Interval rewards{0, 1};  ///< where they lie
  double noise_scale = 0;  ///< of the Laplace term in an agent's released sum; 0: none
  Width width = Width::kExact;
  std::optional<double> failure;  ///< that all widths hold but for; none: 1 / horizon
  std::optional<Count> rounds;    ///< of communication at most
  std::optional<double> gap;      ///< smallest one, if it is known; looked at with `rounds` alone
};

/// Public: all agents compute the same from it.
class ArmSchedule {
 public:
  static absl::StatusOr<ArmSchedule> Create(const ArmScheduleParams& params);

  const ArmScheduleParams& params() const { return params_; }

  /// Arms that are worse by twice that are gone after round r, if widths hold.
  double Resolution(Epoch round) const;

  /// How often each agent has pulled each of `active` arms after round r. Beyond the horizon: more than there
  /// is.
  Count Pulls(Epoch round, Count active) const;

  /// Pulls of each of `active` arms in round r, when each agent has made `pulled` of each so far and has
  /// `left` slots of which `waiting` pass while messages are on their way. 0: no more rounds.
  Count Next(Epoch round, Count active, Count pulled, Count left, Count waiting) const;

  /// How far the mean of an arm may be from the truth, over sums with these weights, which add up to 1.
  struct Part {
    double weight = 1;
    const ArmSums* sums = nullptr;
  };
  double HalfWidth(Epoch round, Count active, std::span<const Part> parts) const;

 private:
  explicit ArmSchedule(const ArmScheduleParams& params);
  double Level(Epoch round) const;
  double ExactWidth(Epoch round, double pulls, Count noise_terms) const;
  Count ExactPulls(Epoch round, double resolution) const;

  ArmScheduleParams params_;
  double failure_;
  double last_resolution_ = 0;  // of round R
};

/// That these are some of arms 0 .. arms - 1, at least one, ascending.
bool AreArms(std::span<const ArmId> some, Count arms);

/// What round r leaves of some arms.
struct ArmDecision {
  std::vector<ArmId> arms;  ///< ascending
  ArmId best = 0;           ///< by its mean
  double half_width = 0;
};

/// Of the arms of the parts' sums, which all have the same ones: those whose mean is less than 2 C(r) below
/// the largest.
ArmDecision EliminateArms(const ArmSchedule& schedule, Epoch round, std::span<const ArmSchedule::Part> parts);

}  // namespace bandana
