#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/raw.h"
#include "bandana/privacy/samplers/fast_sphere.h"

namespace bandana {

/// What gradients without noise need to know, and the private ones, too. All of it is public.
struct LocalGradientSpace {
  Count dimension;      ///< d, of a context
  Count slots = 1;      ///< K in the multi-parameter case: a gradient for each arm's parameter
  double context_norm;  ///< C_B
  Interval rewards;
  Interval means;  ///< predictions are clipped to it
  OutOfRange out_of_range;
};

struct LocalGradientParams {
  double epsilon;
  L2BallRandomizer randomizer;
  Sampler sampler;
  Calibration calibration;  ///< `paper`: radius 2 c_r C_B, and half of epsilon in each of several slots
  Count dimension;
  Count slots = 1;
  SlotBudget slot_budget;
  double context_norm;
  Interval rewards;
  Interval means;
  OutOfRange out_of_range;
  /// Whether a gradient g may go through PrivUnit as the unit vector (g/R, sqrt(1 - |g/R|^2)) of d + 1
  /// dimensions, of which d are sent, where that has less noise: then noise goes to 0 as epsilon grows, which
  /// that of Duchi's coin does not. Not with Duchi's randomizer, nor under `paper`.
  bool lift = false;

  LocalGradientSpace space() const { return {dimension, slots, context_norm, rewards, means, out_of_range}; }
};

/// A user's gradient (mean(x) - r) x of the squared or the logistic loss, mean(x) the public model's
/// prediction, randomized by the user itself in the l2 ball (P5's equation (5), with Duchi's randomizer or
/// PrivUnit): epsilon-LDP, unbiased for records inside their bounds. In the multi-parameter case the message
/// has a slot for every arm, and all but the played one hold a randomized 0. Unit: one user's context, arm
/// and reward; neighbours: any two users (docs/proofs/local-gradient.md, docs/proofs/synthetic-slots.md).
class LocalGradient : public Mechanism {
 public:
  static absl::StatusOr<LocalGradient> Create(const LocalGradientParams& params);

  /// The same gradients, clipped as the private ones are, without noise; other slots hold 0. Claims nothing.
  static absl::StatusOr<LocalGradient> CreateBare(const LocalGradientSpace& space, const Declassify&);

  bool bare() const { return bare_; }
  std::vector<Claim> claims() const;  ///< of Randomize's messages
  /// Of the message, all slots of it. It is what is proven: half of what was asked under SlotBudget::kHalf.
  DpGuarantee guarantee() const { return {epsilon_, 0}; }
  const LocalGradientSpace& space() const { return space_; }
  const L2BallSetting& setting() const { return setting_; }
  double radius() const { return radius_; }  ///< no gradient is longer
  bool lifted() const { return lifted_; }
  double length() const { return length_; }  ///< of every slot of a private message that is not lifted
  /// Standard deviation of an entry at a gradient of 0, root mean square over entries and slots.
  double noise() const { return noise_; }

  /// The record is brought into its bounds, and then `predict`, a double(std::span<const double> context), is
  /// asked for the mean that the public model predicts. The message has slots x d entries. No allocation.
  template <class Predict>
  void Randomize(const Raw<LocalRecord>& record, Predict&& predict, NoiseGen& noise, LocalMessage& message,
                 RangeCounts* counts) const {
    const LocalRecord& user = Reveal(record);
    RecordBounds::Room room;
    const Gradient gradient = GradientOf(user, predict, room, counts);
    const auto d = static_cast<std::size_t>(space_.dimension);
    const std::span<double> out = Write(message, d * static_cast<std::size_t>(space_.slots));
    if (space_.slots == 1) return Draw(gradient, noise, out);
    BANDANA_CHECK(user.arm >= 0 && user.arm < space_.slots);
    for (Count slot = 0; slot < space_.slots; ++slot) {
      const std::span<double> part = out.subspan(static_cast<std::size_t>(slot) * d, d);
      if (slot == user.arm) {
        Draw(gradient, noise, part);
      } else {
        DrawZero(noise, part);
      }
    }
  }

  /// The same where the arm is public, since no data chose it (P5's warm-up): d entries, those of its slot.
  /// The unit is the context and the reward.
  template <class Predict>
  void RandomizePublic(const Raw<LocalRecord>& record, Predict&& predict, NoiseGen& noise,
                       LocalMessage& message, RangeCounts* counts) const {
    RecordBounds::Room room;
    const Gradient gradient = GradientOf(Reveal(record), predict, room, counts);
    Draw(gradient, noise, Write(message, static_cast<std::size_t>(space_.dimension)));
  }

 private:
  // slope times context; 0 if slope is.
  struct Gradient {
    std::span<const double> context;
    double squares;  // |context|^2
    double slope;
  };

  struct Law {
    L2BallSetting setting;
    double epsilon;
    bool lifted = false;
  };

  static absl::StatusOr<Law> LawFor(const LocalGradientParams& params, double epsilon, double radius,
                                    bool lifted);

  LocalGradient(const LocalGradientSpace& space, double radius, Sampler sampler, const Law& law, bool bare);

  template <class Predict>
  Gradient GradientOf(const LocalRecord& user, Predict& predict, RecordBounds::Room& room,
                      RangeCounts* counts) const {
    const RecordBounds::Clipped inside = bounds_.Clip(user, room, counts);
    if (inside.zero) return {{}, 0, 0};
    const double mean = predict(inside.context);
    if (mean != mean) return {{}, 0, 0};
    return {inside.context, inside.squares,
            std::clamp(mean, space_.means.low, space_.means.high) - inside.reward};
  }

  void Draw(const Gradient& gradient, NoiseGen& noise, std::span<double> out) const {
    if (!fast_ || lifted_) return DrawOtherwise(gradient, noise, out);
    if (gradient.slope == 0) return FastCap::DrawUniform(length_, noise, out);
    const double norm = std::sqrt(gradient.squares);
    // Duchi's coin: to the surface, at the gradient's direction or opposite.
    const double share = std::abs(gradient.slope) * norm * over_radius_;  // above 1 by rounding alone
    const double length = std::copysign(length_, share - (2 * UniformUnit(noise) - 1));
    cap_.Draw(gradient.context, std::copysign(1, gradient.slope) / norm, length, noise, out);
  }

  void DrawZero(NoiseGen& noise, std::span<double> out) const {
    if (!fast_ || lifted_) return DrawZeroOtherwise(noise, out);
    FastCap::DrawUniform(length_, noise, out);
  }

  // Exactly, lifted, or without noise.
  void DrawOtherwise(const Gradient& gradient, NoiseGen& noise, std::span<double> out) const;
  void DrawZeroOtherwise(NoiseGen& noise, std::span<double> out) const;
  void DrawLifted(const Gradient& gradient, NoiseGen& noise, std::span<double> out) const;
  void DrawExactly(std::span<double> vector, NoiseGen& noise) const;

  LocalGradientSpace space_;
  RecordBounds bounds_;
  double radius_;
  double over_radius_;
  L2BallSetting setting_;
  double epsilon_;
  double length_;
  bool lifted_;
  double noise_;
  bool bare_;
  bool fast_;
  FastCap cap_;
};

}  // namespace bandana
