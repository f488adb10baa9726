#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
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

/// The public parameters that gradients need, with noise or without it.
struct LocalGradientSpace {
  Count dimension;      ///< d, the dimension of a context
  Count slots = 1;      ///< K in the multi-parameter case: one gradient for each arm's parameter
  double context_norm;  ///< C_B, the largest length of a context
  Interval rewards;
  Interval means;  ///< the model's predictions are clipped to this interval
  OutOfRange out_of_range;
};

struct LocalGradientParams {
  double epsilon;
  L2BallRandomizer randomizer;
  Sampler sampler;
  Calibration calibration;  ///< `paper`: radius 2 c_r C_B with c_r the largest |reward|, and half of epsilon
                            ///< in each slot if there are several
  Count dimension;
  Count slots = 1;
  SlotBudget slot_budget;
  double context_norm;
  Interval rewards;
  Interval means;
  OutOfRange out_of_range;
  /// Allows a lifted gradient where it has less noise. With R the radius, a gradient g then goes through
  /// PrivUnit as the unit vector (g/R, sqrt(1 - |g/R|^2)) of d + 1 dimensions, and the first d are sent. The
  /// noise of a lifted gradient goes to 0 as epsilon grows; that of Duchi's coin does not. Duchi's randomizer
  /// and Calibration::kPaper do not lift.
  bool lift = false;

  LocalGradientSpace space() const { return {dimension, slots, context_norm, rewards, means, out_of_range}; }
};

/// Asks for the gradient of one user's record. `predict`, a double(std::span<const double> context), returns
/// the mean that the public model predicts; it sees the clipped context.
template <class Predict>
struct GradientQuestion {
  const Raw<LocalRecord>& record;
  const Predict& predict;
  /// The arm, if it is public because no data chose it (P5's warm-up). The message then has the slot of this
  /// arm alone, and the unit is the context and the reward.
  std::optional<ArmId> public_arm = std::nullopt;

  Count users() const { return 1; }
};

/// Randomizes a user's gradient (mean(x) - r) x of the squared or the logistic loss in the l2 ball (P5's
/// equation (5), with Duchi's randomizer or PrivUnit). Here x is the user's context, r its reward, and
/// mean(x) the prediction of the public model. The message is epsilon-LDP, and unbiased for records inside
/// their bounds.
///
/// In the multi-parameter case the message has one slot per arm, and every slot but that of the played arm
/// holds a randomized 0. The unit is one user's context, arm and reward; the neighbours are any two users
/// (docs/proofs/local-gradient.md, docs/proofs/synthetic-slots.md).
class LocalGradient : public Mechanism {
 public:
  static absl::StatusOr<LocalGradient> Create(const LocalGradientParams& params);

  /// Makes a mechanism that sends the gradients without noise, clipped like the private ones. The other slots
  /// hold 0. It claims nothing.
  static absl::StatusOr<LocalGradient> CreateBare(const LocalGradientSpace& space, const Declassify&);

  bool bare() const { return bare_; }
  std::vector<Claim> claims() const;  ///< for messages whose arm is not public
  /// Returns the proved guarantee of the whole message with all its slots. Under SlotBudget::kHalf it is half
  /// of what was requested.
  DpGuarantee guarantee() const { return {epsilon_, 0}; }
  const LocalGradientSpace& space() const { return space_; }
  const L2BallSetting& setting() const { return setting_; }
  double radius() const { return radius_; }  ///< the largest length of a gradient
  bool lifted() const { return lifted_; }
  /// Returns the length of every slot of a private message that is not lifted.
  double length() const { return length_; }
  /// Returns the standard deviation of an entry for a gradient of 0: the root mean square over entries and
  /// slots.
  double noise() const { return noise_; }

  /// Clips the record to its bounds and writes the randomized gradient: slots x d entries, or d entries if
  /// the arm is public. Does not allocate.
  template <class Predict>
  void Answer(const GradientQuestion<Predict>& question, NoiseGen& noise, LocalMessage& message,
              RangeCounts* counts) const {
    const LocalRecord& user = Reveal(question.record);
    RecordBounds::Room room;
    const Gradient gradient = GradientOf(user, question.predict, room, counts);
    const auto d = static_cast<std::size_t>(space_.dimension);
    if (question.public_arm.has_value()) {
      BANDANA_CHECK(user.arm == *question.public_arm);
      return Draw(gradient, noise, Write(message, d));
    }
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

 private:
  // The gradient is slope times context. It is 0 if slope is 0.
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
    // Duchi's coin: the point moves to the surface, in the gradient's direction or the opposite one.
    const double share = std::abs(gradient.slope) * norm * over_radius_;  // exceeds 1 only by rounding
    const double length = std::copysign(length_, share - (2 * UniformUnit(noise) - 1));
    cap_.Draw(gradient.context, std::copysign(1, gradient.slope) / norm, length, noise, out);
  }

  void DrawZero(NoiseGen& noise, std::span<double> out) const {
    if (!fast_ || lifted_) return DrawZeroOtherwise(noise, out);
    FastCap::DrawUniform(length_, noise, out);
  }

  // Draw with the exact sampler, with a lifted gradient, or without noise.
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
