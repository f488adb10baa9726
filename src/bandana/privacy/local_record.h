#pragma once

#include <span>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "bandana/core/check.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

/// The record of a user in the local model, and how it is clipped to its public bounds before any other use.
namespace bandana {

/// One user's record: the context, the arm that was played, and its reward. The context is that of the played
/// arm; in the multi-parameter case all arms have the same one.
struct LocalRecord {
  std::span<const double> context;
  double reward = 0;
  ArmId arm = 0;  ///< the slot of the record; ignored if there is only one slot
};

/// The treatment of a record outside its bounds. kClip moves it to the nearest bound; kZero makes it count as
/// (0, 0) (P5, Section 2.2). A record that is not finite counts as (0, 0) under both.
enum class OutOfRange { kClip, kZero };

/// How epsilon (and delta) are spent on the slots of a message. kFull spends all of it in every slot, which
/// docs/proofs/synthetic-slots.md proves to be enough. The others are ablations and deliver more privacy than
/// was requested: half in each slot (kHalf, P5's Algorithm 2), or a K-th in each of K slots (kSplit).
enum class SlotBudget { kFull, kHalf, kSplit };

/// Returns the share of the budget that each of `slots` slots gets.
double ShareOf(SlotBudget budget, Count slots);

/// The numbers of users whose context or reward was out of range. They count raw events, so only the lab may
/// use them.
struct RangeCounts {
  Count contexts = 0;
  Count rewards = 0;
};

/// The public bounds of a record.
class RecordBounds {
 public:
  /// A context that exceeds its bound by this relative amount still counts as inside, because computed unit
  /// vectors are not exactly of length 1. The noise accounts for it.
  static constexpr double kSlack = 1e-13;

  RecordBounds(Count dimension, double context_norm, Interval rewards, OutOfRange out_of_range);

  static absl::Status Check(Count dimension, double context_norm, Interval rewards);

  /// A record inside its bounds.
  struct Clipped {
    std::span<const double> context;
    double squares;  ///< |context|^2
    double reward;
    bool zero;  ///< the record counts as (0, 0), and the context must not be used
  };

  using Room = absl::InlinedVector<double, 64>;  ///< buffer for a context that had to be changed

  Clipped Clip(const LocalRecord& record, Room& room, RangeCounts* counts) const {
    const std::span<const double> x = record.context;
    BANDANA_CHECK(x.size() == dimension_);
    double squares = 0;
    for (const double each : x) squares += each * each;
    const bool inside = squares <= most_squares_;  // false if an entry is NaN
    if (inside && record.reward >= rewards_.low && record.reward <= rewards_.high) [[likely]] {
      return {x, squares, record.reward, !(squares >= kLeastSquares)};
    }
    return ClipOutside(record, squares, room, counts);
  }

 private:
  // Below this a squared length has too few digits to determine a direction: the context counts as 0.
  static constexpr double kLeastSquares = 1e-280;

  Clipped ClipOutside(const LocalRecord& record, double squares, Room& room, RangeCounts* counts) const;

  std::size_t dimension_;
  double context_norm_;
  double most_squares_;
  Interval rewards_;
  OutOfRange out_of_range_;
};

}  // namespace bandana
