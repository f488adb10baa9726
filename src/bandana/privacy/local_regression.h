#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/raw.h"

namespace bandana {

class LocalRegression;

/// The sum of some users' statistics, sealed: only the mechanism that it was made for can release it, and
/// only once. A device adds one user's record; several records are a shortcut of the simulator.
class SealedStatistics {
 public:
  explicit SealedStatistics(const LocalRegression& mechanism);
  SealedStatistics(const SealedStatistics&) = delete;
  SealedStatistics& operator=(const SealedStatistics&) = delete;
  SealedStatistics(SealedStatistics&& other) noexcept = default;
  SealedStatistics& operator=(SealedStatistics&& other) noexcept = default;

  Count users() const { return users_; }

 private:
  friend class LocalRegression;
  std::shared_ptr<const char> owner_;
  std::vector<double> sums_;    // one slot after the other
  std::vector<Count> records_;  // the number of records in each slot
  Count users_ = 0;
};

/// The public parameters that statistics need, with noise or without it.
struct LocalRegressionSpace {
  Count dimension;      ///< d, the dimension of a context
  Count slots = 1;      ///< K in the multi-parameter case: statistics for each arm's parameter
  double context_norm;  ///< L, the largest length of a context
  Interval rewards;
  std::vector<double> side_bounds;  ///< B_j: the side value s_j is clipped to [-B_j, B_j]
  OutOfRange out_of_range;
};

struct LocalRegressionParams {
  DpGuarantee nominal;
  Calibration calibration;  ///< `paper`: P5's printed noise, with half of the budget in each slot if there
                            ///< are several
  Sampler sampler;
  Count dimension;
  Count slots = 1;
  SlotBudget slot_budget;
  double context_norm;
  Interval rewards;
  std::vector<double> side_bounds;
  std::vector<double> side_weights;  ///< w_j: a larger weight means less noise on s_j x and more on x x'
  OutOfRange out_of_range;

  LocalRegressionSpace space() const {
    return {dimension, slots, context_norm, rewards, side_bounds, out_of_range};
  }
};

/// Asks for the statistics that were added, once.
struct StatisticsQuestion {
  SealedStatistics& statistics;
  /// The arm that all these users played, if it is public because no data chose it (P5's warm-up). The
  /// message then has the slot of this arm alone, and the unit is the context and the reward.
  std::optional<ArmId> public_arm = std::nullopt;

  Count users() const { return statistics.users(); }
};

/// Releases a user's statistics for regression, x x' and s_1 x, s_2 x, ..., as one Gaussian mechanism that
/// the user runs itself. A side value s_j is a public function of the user's context x and reward. For least
/// squares it is the reward itself (P5's equation (3)).
///
/// In the multi-parameter case the message has one slot per arm, and every slot but that of the played arm
/// holds a privatized 0. The unit is one user's context, arm and reward; the neighbours are any two users
/// (docs/proofs/local-regression.md, docs/proofs/synthetic-slots.md).
class LocalRegression : public Mechanism {
 public:
  static constexpr std::size_t kMostSides = 8;

  /// Under Calibration::kPaper the claim is the epsilon that the printed noise delivers at the nominal delta.
  static absl::StatusOr<LocalRegression> Create(const LocalRegressionParams& params);

  /// Makes a mechanism that sends the statistics without noise, clipped like the private ones. It claims
  /// nothing.
  static absl::StatusOr<LocalRegression> CreateBare(const LocalRegressionSpace& space, const Declassify&);

  bool bare() const { return bare_; }
  std::vector<Claim> claims() const;  ///< for messages of one user whose arm is not public
  /// Returns the proved guarantee of the whole message with all its slots. Under kHalf or kSplit it is
  /// stronger than what was requested.
  DpGuarantee guarantee() const { return delivered_; }
  const LocalRegressionSpace& space() const { return space_; }

  /// Return the standard deviation of the noise in one user's message: in an entry of x x' off the diagonal,
  /// in an entry on the diagonal (sqrt2 times the first, except under Calibration::kPaper), and in an entry
  /// of s_j x.
  double gram_noise() const { return gram_noise_; }
  double diagonal_noise() const { return diagonal_noise_; }
  double side_noise(std::size_t j) const { return side_noises_[j]; }

  /// Returns the number of entries of a slot: the lower triangle of x x' row by row, d (d + 1)/2 entries,
  /// then d for each side value.
  std::size_t slot_size() const { return slot_size_; }

  /// Clips the record to its bounds and adds its statistics to `statistics`. `sides`, a
  /// void(std::span<const double> context, double reward, std::span<double> sides), computes the side values
  /// from the clipped record; they are clipped to their bounds. Does not allocate.
  template <class Sides>
  void Record(const Raw<LocalRecord>& record, Sides&& sides, SealedStatistics& statistics) const {
    Record(record, sides, statistics, nullptr);
  }

  /// Writes a message of slots x slot_size() entries, or the slot of the public arm alone, which all users of
  /// the statistics must have played. For one user this is its message. For n > 1 users it is the sum of
  /// their messages, with one draw for each entry; this is a shortcut of the simulator, which the exact
  /// sampler refuses. There must be a user, and there is none afterwards. `counts` is not used: records were
  /// counted when they were added.
  void Answer(const StatisticsQuestion& question, NoiseGen& noise, LocalMessage& message,
              RangeCounts* counts) const;

 private:
  friend class SealedStatistics;
  friend class Release;  // which alone may say where to count records outside of their bounds

  template <class Sides>
  void Record(const Raw<LocalRecord>& record, Sides&& sides, SealedStatistics& statistics,
              RangeCounts* counts) const {
    const LocalRecord& user = Reveal(record);
    BANDANA_CHECK(statistics.owner_ == owner_);
    const bool one_slot = space_.slots == 1;
    BANDANA_CHECK(one_slot || (user.arm >= 0 && user.arm < space_.slots));
    const std::size_t slot = one_slot ? 0 : static_cast<std::size_t>(user.arm);
    ++statistics.users_;
    ++statistics.records_[slot];
    RecordBounds::Room room;
    const RecordBounds::Clipped inside = bounds_.Clip(user, room, counts);
    if (inside.zero) return;
    std::array<double, kMostSides> values{};
    const std::span<double> clipped = std::span(values).first(space_.side_bounds.size());
    sides(inside.context, inside.reward, clipped);
    double* sums = statistics.sums_.data() + slot * slot_size_;
    const std::span<const double> x = inside.context;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) sums[j] += x[i] * x[j];
      sums += i + 1;
    }
    for (std::size_t j = 0; j < clipped.size(); ++j) {
      const double bound = space_.side_bounds[j];
      const double side = clipped[j] == clipped[j] ? std::clamp(clipped[j], -bound, bound) : 0;
      for (std::size_t i = 0; i < x.size(); ++i) sums[i] += side * x[i];
      sums += x.size();
    }
  }

  struct Noises {
    double gram;
    double diagonal;
    std::vector<double> sides;
  };

  LocalRegression(const LocalRegressionSpace& space, Noises noises, Sampler sampler, DpGuarantee delivered,
                  bool bare);
  void AnswerSlot(SealedStatistics& statistics, std::size_t slot, NoiseGen& noise,
                  std::span<double> out) const;

  LocalRegressionSpace space_;
  RecordBounds bounds_;
  double gram_noise_;
  double diagonal_noise_;
  std::vector<double> side_noises_;
  std::size_t slot_size_;
  std::vector<double> noises_;  // the noise of each entry of a slot
  Sampler sampler_;
  DpGuarantee delivered_;
  bool bare_;
  std::shared_ptr<const char> owner_;  // identifies the mechanism; shared by its copies
};

}  // namespace bandana
