#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

/// Finite sets that represent infinite action sets (P1, Remark 3.1; P2, Lemma 1). A net N of a set A is a
/// subset of A, spans the same space as A, and every a in A has an a' in N with |a - a'| <= radius (up to the
/// rounding of coordinates). docs/proofs/nets.md has the constructions and their proofs.
namespace bandana {

enum class ActionSet {
  kBall,    ///< |a| <= 1
  kSphere,  ///< |a| = 1
  kBox,     ///< [-1/sqrt(d), 1/sqrt(d)]^d, so that norms are at most 1
};

std::string_view NameOf(ActionSet set);

/// A net has at most this many numbers, actions times dimension: 4 GiB.
inline constexpr Count kMostNetEntries = Count{1} << 29;

/// The largest useful radius: the chord of a quarter of the unit circle, sqrt(2).
inline constexpr double kMostNetRadius = 1.4142135623730951;

struct NetParams {
  ActionSet set = ActionSet::kBall;
  Count dimension = 0;
  double radius = 0;                     ///< in (0, kMostNetRadius]
  Count most_entries = kMostNetEntries;  ///< at most kMostNetEntries
};

/// Returns an upper bound on the number of actions of MakeNet, without making the net. If the bound exceeds
/// the limit, fails with an InvalidInput on "net_radius" that names the size and a sufficient
/// radius. If no radius is sufficient, the error is on "dimension".
absl::StatusOr<Count> NetSize(const NetParams& params);

/// Returns the net, one action per row, without repetitions. Deterministic. For d <= 4 and radius <= 1 it has
/// at most (3 / radius)^d + d actions (P2, Lemma 1).
absl::StatusOr<ActionMatrix> MakeNet(const NetParams& params);

/// Returns the smallest radius, to 1 %, whose NetSize is within the limit. Fails like NetSize.
absl::StatusOr<double> SmallestNetRadius(ActionSet set, Count dimension, Count most_entries);

/// Returns an upper bound on max_A <theta, a> - max_N <theta, a> for |theta| <= 1: the regret per round that
/// the net can cause. It is radius^2 / 2 on the ball and the sphere: their best action is on the sphere, and
/// so is a near action of the net. It is 0 on the box, because its corners are in the net. P1 and P2 use the
/// bound `radius`, which holds for any set.
double NetLoss(ActionSet set, double radius);

/// Returns the largest radius at which a net costs at most `regret` in total over the horizon.
double NetRadiusFor(ActionSet set, double horizon, double regret);

/// Returns the maximum of <theta, a> over the whole set.
double SetOptimum(ActionSet set, const Vector& theta);

/// Draws actions uniformly from the set, one per row.
ActionMatrix DrawActions(ActionSet set, Count dimension, Count count, CoinGen& coin);

/// Returns the indices of rows of the sample, ascending, such that every row is within the radius of one of
/// them. They span what the sample spans (to kDesignRankTolerance). Their number is at most (1 + 2 L /
/// radius)^d + d, where L is the norm of the longest row. A row is kept if it is farther than the radius from
/// all kept rows before it, or if it completes the span. For a continuous set this covers only the given
/// sample, and says nothing about what lies between. Cost: O(rows kept d) at worst, much less in few
/// dimensions.
absl::StatusOr<std::vector<ArmId>> SampledNet(const ActionMatrix& sample, double radius);

}  // namespace bandana
