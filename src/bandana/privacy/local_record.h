#pragma once

#include <span>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "bandana/core/check.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

/// What a user of the local model has, and how it is brought into its public bounds before anything else
/// happens to it.
namespace bandana {

/// One user's: the context of the arm that was played (or of all of them, in the multi-parameter case), the
/// arm, and what came of it.
struct LocalRecord {
  std::span<const double> context;
  double reward = 0;
  ArmId arm = 0;  ///< the slot that it belongs to; of no consequence where there is one slot
};

/// What becomes of a record outside its bounds: it is brought to the nearest end, or counts as (0, 0) (P5,
/// Section 2.2). One that is not finite counts as (0, 0) under both.
enum class OutOfRange { kClip, kZero };

/// How epsilon (and delta) are spent on the slots of a message. kFull is what docs/proofs/synthetic-slots.md
/// proves: all of it in every slot. The others are ablations, which deliver more privacy than was asked:
/// half in each slot (P5's Algorithm 2), or a K-th.
enum class SlotBudget { kFull, kHalf, kSplit };

/// The share of the budget that each of `slots` slots has.
double ShareOf(SlotBudget budget, Count slots);

/// Users whose context, respectively reward, was out of range. Raw events: for the lab alone.
struct RangeCounts {
  Count contexts = 0;
  Count rewards = 0;
};

/// The public bounds of a record.
class RecordBounds {
 public:
  /// A context may be that much longer than its bound, relatively, and counts as inside: unit vectors are not
  /// quite that. Noise accounts for it.
  static constexpr double kSlack = 1e-13;

  RecordBounds(Count dimension, double context_norm, Interval rewards, OutOfRange out_of_range);

  static absl::Status Check(Count dimension, double context_norm, Interval rewards);

  /// A record inside its bounds.
  struct Clipped {
    std::span<const double> context;
    double squares;  ///< |context|^2
    double reward;
    bool zero;  ///< counts as (0, 0): the context is of no use
  };

  using Room = absl::InlinedVector<double, 64>;  ///< for a context that had to be changed

  Clipped Clip(const LocalRecord& record, Room& room, RangeCounts* counts) const {
    const std::span<const double> x = record.context;
    BANDANA_CHECK(x.size() == dimension_);
    double squares = 0;
    for (const double each : x) squares += each * each;
    const bool inside = squares <= most_squares_;  // not if one is not a number
    if (inside && record.reward >= rewards_.low && record.reward <= rewards_.high) [[likely]] {
      return {x, squares, record.reward, !(squares >= kLeastSquares)};
    }
    return ClipOutside(record, squares, room, counts);
  }

 private:
  // Below it a squared length has too few digits to tell a direction: the context counts as 0.
  static constexpr double kLeastSquares = 1e-280;

  Clipped ClipOutside(const LocalRecord& record, double squares, Room& room, RangeCounts* counts) const;

  std::size_t dimension_;
  double context_norm_;
  double most_squares_;
  Interval rewards_;
  OutOfRange out_of_range_;
};

}  // namespace bandana
