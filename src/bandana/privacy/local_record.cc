#include "bandana/privacy/local_record.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/shortened.h"

namespace bandana {

double ShareOf(SlotBudget budget, Count slots) {
  if (slots == 1 || budget == SlotBudget::kFull) return 1;
  return budget == SlotBudget::kHalf ? 0.5 : 1 / static_cast<double>(slots);
}

RecordBounds::RecordBounds(Count dimension, double context_norm, Interval rewards, OutOfRange out_of_range)
    : dimension_(static_cast<std::size_t>(dimension)),
      context_norm_(context_norm),
      most_squares_(context_norm * context_norm * (1 + kSlack)),
      rewards_(rewards),
      out_of_range_(out_of_range) {}

absl::Status RecordBounds::Check(Count dimension, double context_norm, Interval rewards) {
  if (!(dimension >= 1 && dimension <= 1'000'000)) {
    return InvalidOption("dimension", static_cast<double>(dimension), "a whole number from 1 to 1000000");
  }
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("context_norm", context_norm));
  const auto fits = [](double x) { return std::abs(x) <= calibration::kMost; };
  if (!(fits(rewards.low) && fits(rewards.high) && rewards.low < rewards.high)) {
    return InvalidOption("rewards", fits(rewards.low) ? rewards.high : rewards.low,
                         "an interval with finite ends (within 1e60), the low one below the high one");
  }
  return absl::OkStatus();
}

RecordBounds::Clipped RecordBounds::ClipOutside(const LocalRecord& record, double squares, Room& room,
                                                RangeCounts* counts) const {
  const bool context_inside = squares <= most_squares_;
  const bool reward_inside = record.reward >= rewards_.low && record.reward <= rewards_.high;
  if (counts != nullptr) {
    counts->contexts += context_inside ? 0 : 1;
    counts->rewards += reward_inside ? 0 : 1;
  }
  constexpr Clipped kNothing{{}, 0, 0, true};
  if (out_of_range_ == OutOfRange::kZero || !std::isfinite(record.reward)) return kNothing;
  Clipped clipped{record.context, squares, std::clamp(record.reward, rewards_.low, rewards_.high), false};
  if (!context_inside) {
    room.resize(record.context.size());
    Shorten(record.context, context_norm_, std::span(room.data(), room.size()));
    clipped.squares = 0;
    for (double& each : room) {
      each *= context_norm_;
      clipped.squares += each * each;
    }
    clipped.context = std::span<const double>(room.data(), room.size());
  }
  clipped.zero = !(clipped.squares >= kLeastSquares);
  return clipped;
}

}  // namespace bandana
