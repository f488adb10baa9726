#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

/// Finite sets that stand for infinite action sets (P1, Remark 3.1; P2, Lemma 1). A net N of a set A has
/// N in A, N spans what A spans, and every a in A has an a' in N with |a - a'| <= radius (to the rounding of
/// its coordinates). docs/proofs/nets.md has the constructions and their proofs.
namespace bandana {

enum class ActionSet {
  kBall,    ///< |a| <= 1
  kSphere,  ///< |a| = 1
  kBox,     ///< [-1/sqrt(d), 1/sqrt(d)]^d, so that norms are at most 1, as everywhere
};

std::string_view NameOf(ActionSet set);

/// A net is at most this many numbers, actions times dimension: 4 GiB.
inline constexpr Count kMostNetEntries = Count{1} << 29;

/// Beyond this, half the way round the unit sphere, a net says nothing.
inline constexpr double kMostNetRadius = 1.4142135623730951;

struct NetParams {
  ActionSet set = ActionSet::kBall;
  Count dimension = 0;
  double radius = 0;                     ///< in (0, kMostNetRadius]
  Count most_entries = kMostNetEntries;  ///< and never more than that
};

/// Upper bound on the actions of MakeNet, without making it. An InvalidInput on "algorithm.net_radius" that
/// names the size and a radius that would do, if the bound is more than the limit; on "environment.dimension"
/// if no radius would.
absl::StatusOr<Count> NetSize(const NetParams& params);

/// One action a row, none twice. Deterministic. For d <= 4 at most (3 / radius)^d + d for radius <= 1 (P2,
/// Lemma 1).
absl::StatusOr<ActionMatrix> MakeNet(const NetParams& params);

/// The least radius, to 1 %, whose NetSize is within the limit, or an error as NetSize's.
absl::StatusOr<double> SmallestNetRadius(ActionSet set, Count dimension, Count most_entries);

/// Upper bound on max_A <theta, a> - max_N <theta, a>, |theta| <= 1: what a round's regret can owe to the
/// net. radius^2 / 2 on ball and sphere, whose best action is on the sphere, where the net has a neighbour of
/// norm 1 too; 0 on the box, whose corners are in the net. Any set: radius, which is what P1 and P2 use.
double NetLoss(ActionSet set, double radius);

/// The greatest radius at which a net costs at most `regret` in all over the horizon.
double NetRadiusFor(ActionSet set, double horizon, double regret);

/// max over the whole set of <theta, a>.
double SetOptimum(ActionSet set, const Vector& theta);

/// Uniform draws from the set, one a row.
ActionMatrix DrawActions(ActionSet set, Count dimension, Count count, CoinGen& coin);

/// Rows of the sample, ascending, of which every row has one within the radius; they span what the sample
/// spans (to kDesignRankTolerance), at most (1 + 2 L / radius)^d + d where L is the longest row. First come,
/// first kept: kept rows are farther than the radius from each other, but for those that complete the span.
/// For a continuous set this covers the sample it was given, and says nothing about what lies between.
/// Cost: O(rows kept d) at worst, much less in few dimensions.
absl::StatusOr<std::vector<ArmId>> SampledNet(const ActionMatrix& sample, double radius);

}  // namespace bandana
