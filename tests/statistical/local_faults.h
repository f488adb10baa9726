#pragma once

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bandana/audit/local_target.h"
#include "tests/statistical/faults.h"

/// Planted faults in local mechanisms, each beside its sound twin (faults.h).
namespace bandana::test {

inline LocalRegression FaultStatistics(DpGuarantee nominal, double context_norm = 1) {
  return *LocalRegression::Create({.nominal = nominal,
                                   .calibration = Calibration::kTight,
                                   .sampler = Sampler::kExact,
                                   .dimension = 2,
                                   .slot_budget = SlotBudget::kFull,
                                   .context_norm = context_norm,
                                   .rewards = {-1, 1},
                                   .side_bounds = {1},
                                   .side_weights = {0.5},
                                   .out_of_range = OutOfRange::kClip});
}

/// A user's statistics with exactly this noise, for contexts up to this length, under the sound mechanism's
/// claim. The mechanism runs at the larger epsilon that gives this noise.
inline Target StatisticsWithNoise(const std::string& name, double noise, double context_norm) {
  double low = kFaultClaim.epsilon;
  double high = 1000;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double gram = FaultStatistics({middle, kFaultClaim.delta}, context_norm).gram_noise();
    (gram > noise ? low : high) = middle;
  }
  const LocalRegression mechanism = FaultStatistics({high, kFaultClaim.delta}, context_norm);
  return Claiming(
      audit::LocalRegressionTarget(name, mechanism, audit::FarthestRegressions(mechanism.space(), 0.5)),
      kFaultClaim);
}

inline Target SoundStatistics(const LocalRegression& mechanism, const LocalRegressionSpace& users) {
  return audit::LocalRegressionTarget("statistics", mechanism, audit::FarthestRegressions(users, 0.5));
}

inline LocalGradient FaultGradient(double epsilon, L2BallRandomizer randomizer, Count slots) {
  return *LocalGradient::Create({.epsilon = epsilon,
                                 .randomizer = randomizer,
                                 .sampler = Sampler::kExact,
                                 .calibration = Calibration::kTight,
                                 .dimension = 3,
                                 .slots = slots,
                                 .slot_budget = SlotBudget::kFull,
                                 .context_norm = 1,
                                 .rewards = {0, 1},
                                 .means = {0, 1},
                                 .out_of_range = OutOfRange::kClip});
}

/// A user's statistics with half the noise.
inline Fault HalfTheNoiseOfStatistics() {
  const LocalRegression mechanism = FaultStatistics(kFaultClaim);
  return {"half the noise, statistics", SoundStatistics(mechanism, mechanism.space()),
          StatisticsWithNoise("statistics", mechanism.gram_noise() / 2, 1)};
}

/// Contexts of twice the allowed length, which nobody clips. Published code for P5 has this fault.
inline Fault UnclippedContext() {
  const LocalRegression mechanism = FaultStatistics(kFaultClaim);
  LocalRegressionSpace wide = mechanism.space();
  wide.context_norm = 2;
  return {"unclipped context", SoundStatistics(mechanism, wide),
          StatisticsWithNoise("statistics", mechanism.gram_noise(), 2)};
}

/// The slots of other arms are left empty, which shows the arm that was played.
inline Fault NoSyntheticMessages() {
  const LocalGradient mechanism = FaultGradient(1, L2BallRandomizer::kPrivUnit, 2);
  Target sound = audit::LocalGradientTarget("slots", mechanism, audit::FarthestGradients(mechanism.space()));
  Target broken = Changed(sound, [](Neighbour neighbour, std::span<double> view) {
    const std::size_t other = neighbour == Neighbour::kSecond ? 0 : view.size() / 2;
    for (std::size_t i = 0; i < view.size() / 2; ++i) view[other + i] = 0;
  });
  return {"no synthetic messages", std::move(sound), std::move(broken)};
}

/// PrivUnit's synthetic messages are drawn by a fair coin on a fixed axis, as a zero vector is often
/// randomized. They should be uniform (docs/proofs/synthetic-slots.md).
inline Fault SyntheticMessagesByACoin() {
  const LocalGradient mechanism = FaultGradient(2, L2BallRandomizer::kPrivUnit, 2);
  const LocalGradient one = FaultGradient(2, L2BallRandomizer::kPrivUnit, 1);
  const auto users = audit::FarthestGradients(mechanism.space());
  Target sound = audit::LocalGradientTarget("coin", mechanism, users);
  Target broken = sound;
  broken.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const bool second = neighbour == Neighbour::kSecond;
    const audit::LocalUser axis{{0, 0, (noise() >> 63) != 0 ? 1.0 : -1.0}, 0};
    const std::vector<double> real = audit::GradientMessage(one, users[second], noise);
    const std::vector<double> synthetic = audit::GradientMessage(one, axis, noise);
    for (std::size_t i = 0; i < 3; ++i) {
      view[(second ? 3 : 0) + i] = real[i];
      view[(second ? 0 : 3) + i] = synthetic[i];
    }
    return absl::OkStatus();
  };
  const L2BallSetting setting = mechanism.setting();
  const auto coin = [=](std::span<const double> slot) {
    const double inside = setting.p / setting.cap_mass;
    const double outside = (1 - setting.p) / (1 - setting.cap_mass);
    const bool near = std::abs(slot[2]) >= setting.gamma * mechanism.length();
    return std::log(near ? (inside + outside) / 2 : outside);
  };
  broken.log_ratio = [=, ratio = sound.log_ratio](std::span<const double> view) {
    return ratio(view) + coin(view.first(3)) - coin(view.subspan(3));
  };
  return {"synthetic messages by a coin", std::move(sound), std::move(broken)};
}

/// A user who answers twice and is charged once.
inline Fault AnswersTwice() {
  const LocalGradient mechanism = FaultGradient(1, L2BallRandomizer::kDuchi, 1);
  Target sound = audit::LocalGradientTarget("twice", mechanism, audit::FarthestGradients(mechanism.space()));
  Target broken = sound;
  broken.dimension *= 2;
  broken.direction.insert(broken.direction.end(), sound.direction.begin(), sound.direction.end());
  broken.log_ratio = [ratio = sound.log_ratio](std::span<const double> view) {
    return ratio(view.first(view.size() / 2)) + ratio(view.subspan(view.size() / 2));
  };
  broken.draw = [draw = sound.draw](Neighbour neighbour, NoiseGen& noise,
                                    std::span<double> view) -> absl::Status {
    BANDANA_RETURN_IF_ERROR(draw(neighbour, noise, view.first(view.size() / 2)));
    return draw(neighbour, noise, view.subspan(view.size() / 2));
  };
  return {"a user who answers twice", std::move(sound), std::move(broken)};
}

inline std::vector<Fault> LocalFaults() {
  return {HalfTheNoiseOfStatistics(), UnclippedContext(), NoSyntheticMessages(), SyntheticMessagesByACoin(),
          AnswersTwice()};
}

}  // namespace bandana::test
