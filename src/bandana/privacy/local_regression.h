#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
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

/// What some users have recorded, sealed: sums over them, of which only the mechanism that it was made for
/// releases anything, and only once. One user, but for a simulator's shortcut.
class LocalCrowd {
 public:
  explicit LocalCrowd(const LocalRegression& mechanism);
  LocalCrowd(const LocalCrowd&) = delete;
  LocalCrowd& operator=(const LocalCrowd&) = delete;
  LocalCrowd(LocalCrowd&& other) noexcept = default;
  LocalCrowd& operator=(LocalCrowd&& other) noexcept = default;

  Count users() const { return users_; }

 private:
  friend class LocalRegression;
  std::shared_ptr<const char> owner_;
  std::vector<double> sums_;    // slot by slot
  std::vector<Count> records_;  // a slot
  Count users_ = 0;
};

/// What statistics without noise need to know, and the private ones, too. All of it is public.
struct LocalRegressionSpace {
  Count dimension;      ///< d, of a context
  Count slots = 1;      ///< K in the multi-parameter case: statistics for each arm's parameter
  double context_norm;  ///< L
  Interval rewards;
  std::vector<double> side_bounds;  ///< B_j: a side is clipped to [-B_j, B_j]
  OutOfRange out_of_range;
};

struct LocalRegressionParams {
  DpGuarantee nominal;
  Calibration calibration;  ///< `paper`: P5's printed noise, with half the budget in each of several slots
  Sampler sampler;
  Count dimension;
  Count slots = 1;
  SlotBudget slot_budget;
  double context_norm;
  Interval rewards;
  std::vector<double> side_bounds;
  std::vector<double> side_weights;  ///< w_j: a larger one takes noise off s_j x and puts it on x x'
  OutOfRange out_of_range;

  LocalRegressionSpace space() const {
    return {dimension, slots, context_norm, rewards, side_bounds, out_of_range};
  }
};

/// A user's statistics for regression, x x' and s_1 x, s_2 x, ..., in one Gaussian release by the user
/// itself. A side s_j is a public function of the user's context and reward: the reward itself for least
/// squares (P5's equation (3)). In the multi-parameter case the message has a slot for every arm, and all but
/// the played one hold a privatized 0. Unit: one user's context, arm and reward; neighbours: any two users
/// (docs/proofs/local-regression.md, docs/proofs/synthetic-slots.md).
class LocalRegression : public Mechanism {
 public:
  static constexpr std::size_t kMostSides = 8;

  /// Under `paper` the claim is what the printed noise delivers, at the nominal delta.
  static absl::StatusOr<LocalRegression> Create(const LocalRegressionParams& params);

  /// The same statistics, clipped as the private ones are, without noise. Claims nothing.
  static absl::StatusOr<LocalRegression> CreateBare(const LocalRegressionSpace& space, const Declassify&);

  bool bare() const { return bare_; }
  std::vector<Claim> claims() const;  ///< of Release's messages, of one user
  /// Of the message, all slots of it. It is what is proven: with kHalf or kSplit, more than was asked.
  DpGuarantee guarantee() const { return delivered_; }
  const LocalRegressionSpace& space() const { return space_; }

  /// Standard deviations of the noise in one user's message: in an entry of x x' off the diagonal, on it
  /// (sqrt2 times that, but under `paper`), and in an entry of s_j x.
  double gram_noise() const { return gram_noise_; }
  double diagonal_noise() const { return diagonal_noise_; }
  double side_noise(std::size_t j) const { return side_noises_[j]; }

  /// Of a slot: the lower triangle of x x' row by row, d (d + 1)/2 entries, then d for each side.
  std::size_t slot_size() const { return slot_size_; }

  /// The record is brought into its bounds, and then `sides`, a void(std::span<const double> context, double
  /// reward, std::span<double> sides), is asked for the sides, which are clipped to theirs. No allocation.
  template <class Sides>
  void Record(const Raw<LocalRecord>& record, Sides&& sides, LocalCrowd& crowd, RangeCounts* counts) const {
    const LocalRecord& user = Reveal(record);
    BANDANA_CHECK(crowd.owner_ == owner_);
    const bool one_slot = space_.slots == 1;
    BANDANA_CHECK(one_slot || (user.arm >= 0 && user.arm < space_.slots));
    const std::size_t slot = one_slot ? 0 : static_cast<std::size_t>(user.arm);
    ++crowd.users_;
    ++crowd.records_[slot];
    RecordBounds::Room room;
    const RecordBounds::Clipped inside = bounds_.Clip(user, room, counts);
    if (inside.zero) return;
    std::array<double, kMostSides> values{};
    const std::span<double> clipped = std::span(values).first(space_.side_bounds.size());
    sides(inside.context, inside.reward, clipped);
    double* sums = crowd.sums_.data() + slot * slot_size_;
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

  /// slots x slot_size() entries. Of one user: its message. Of n > 1: what n users' messages add up to, in
  /// one draw for each entry, a simulator's shortcut that the exact sampler does not take. The crowd is empty
  /// afterwards, and must not have been before.
  void Release(LocalCrowd& crowd, NoiseGen& noise, LocalMessage& message) const;

  /// The same where the arm is public, since no data chose it (P5's warm-up): the slot of `arm` alone, which
  /// all of the crowd have played. The unit is the context and the reward.
  void ReleasePublic(LocalCrowd& crowd, ArmId arm, NoiseGen& noise, LocalMessage& message) const;

 private:
  friend class LocalCrowd;
  struct Noises {
    double gram;
    double diagonal;
    std::vector<double> sides;
  };

  LocalRegression(const LocalRegressionSpace& space, Noises noises, Sampler sampler, DpGuarantee delivered,
                  bool bare);
  void ReleaseSlot(LocalCrowd& crowd, std::size_t slot, NoiseGen& noise, std::span<double> out) const;

  LocalRegressionSpace space_;
  RecordBounds bounds_;
  double gram_noise_;
  double diagonal_noise_;
  std::vector<double> side_noises_;
  std::size_t slot_size_;
  std::vector<double> noises_;  // of each entry of a slot
  Sampler sampler_;
  DpGuarantee delivered_;
  bool bare_;
  std::shared_ptr<const char> owner_;  // one for each mechanism that was created, whatever its copies
};

}  // namespace bandana
