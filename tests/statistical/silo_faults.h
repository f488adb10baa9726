#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bandana/audit/arm_sums_target.h"
#include "bandana/audit/regression_target.h"
#include "tests/statistical/faults.h"

/// Planted faults in the mechanisms of silos, each beside its sound twin (faults.h).
namespace bandana::test {

/// Makes the totals of silos' sums for regression, in three steps, under the claim of the faults.
inline ShuffledRegressionSum FaultSilos(Count silos, Collusion collusion) {
  return *ShuffledRegressionSum::Create({.sums = {.nominal = kFaultClaim,
                                                  .calibration = Calibration::kTight,
                                                  .sampler = Sampler::kExact,
                                                  .mechanism = PrefixSumMechanism::kTree,
                                                  .steps = 3,
                                                  .dimension = 2,
                                                  .context_norm = 1,
                                                  .reward_bound = 1,
                                                  .reward_weight = 1},
                                         .silos = silos,
                                         .collusion = collusion});
}

/// Totals over three silos' sums for regression, two of which subtract their own reports.
inline Fault UncountedSilo() {
  const auto made = [](Count colluding) {
    const auto mechanism = FaultSilos(3, {.colluding = colluding});
    return audit::ShuffledRegressionTarget("silo", mechanism, 1, audit::WorstRecords(mechanism.space()));
  };
  return {"uncounted silos", made(2), made(0)};
}

/// A stream of seven steps with the noise for one released value, although a record of the first step enters
/// three.
inline Fault StreamAsOneRelease() {
  Target sound = *audit::MakeTarget(**audit::FindEntry("silo-tree"), kFaultClaim.epsilon, kFaultClaim.delta);
  Target broken = Changed(sound, [centre = sound.direction](Neighbour neighbour, std::span<double> view) {
    const double end = neighbour == Neighbour::kSecond ? 1 : -1;  // where the record is
    for (std::size_t i = 0; i < view.size(); ++i) {
      view[i] = end * centre[i] + (view[i] - end * centre[i]) / std::sqrt(3);
    }
  });
  return {"a stream as one release", std::move(sound), std::move(broken)};
}

inline RegressionPrefixSum FaultRegression(PrefixSumMechanism mechanism, Count records_per_person = 1) {
  return *RegressionPrefixSum::Create({.nominal = kFaultClaim,
                                       .calibration = Calibration::kTight,
                                       .sampler = Sampler::kExact,
                                       .mechanism = mechanism,
                                       .steps = 3,
                                       .dimension = 2,
                                       .context_norm = 1,
                                       .reward_bound = 1,
                                       .reward_weight = 1,
                                       .records_per_person = records_per_person});
}

/// Sums for regression with the noise that x x' alone needs: the part y x of the sensitivity is forgotten.
inline Fault SensitivityWithoutTheReward() {
  const RegressionPrefixSum mechanism = FaultRegression(PrefixSumMechanism::kToeplitz);
  const auto records = audit::WorstRecords(mechanism.space());
  Target sound = audit::RegressionTarget("regression", mechanism, records);
  std::array<std::vector<double>, 2> centres;
  for (std::size_t i = 0; i < 2; ++i) {
    centres[i] = audit::RegressionCentre(mechanism.strategy(), mechanism.space(), records[i]);
  }
  Target broken = Changed(sound, [centres](Neighbour neighbour, std::span<double> view) {
    const std::vector<double>& centre = centres[neighbour == Neighbour::kSecond];
    for (std::size_t i = 0; i < view.size(); ++i) view[i] = centre[i] + (view[i] - centre[i]) / 2;
  });
  return {"sensitivity without the reward", std::move(sound), std::move(broken)};
}

/// A stream whose steps all use the same draws. The second release minus the first has no noise.
inline Fault NoiseReusedByEveryStep() {
  const RegressionPrefixSum mechanism = FaultRegression(PrefixSumMechanism::kToeplitz);
  const auto records = audit::WorstRecords(mechanism.space());
  Target sound = audit::RegressionTarget("regression", mechanism, records);
  Target broken = sound;
  const std::size_t entries = sound.dimension / 3;
  for (std::size_t i = 0; i < sound.dimension; ++i) {
    broken.direction[i] = i < entries       ? sound.direction[i]
                          : i < 2 * entries ? -sound.direction[i - entries]
                                            : 0;
  }
  broken.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    const std::uint64_t seed = noise();
    std::vector<std::unique_ptr<Noise>> again;
    const auto same = [&](std::int64_t) -> NoiseGen& {
      return again.emplace_back(std::make_unique<Noise>(seed))->gen;
    };
    return audit::DrawRegression(mechanism, records[neighbour == Neighbour::kSecond], same, view);
  };
  return {"noise reused by every step", std::move(sound), std::move(broken)};
}

/// Records of twice the allowed length, which nobody clips.
inline Fault MissingRecordClip() {
  const RegressionPrefixSum mechanism = FaultRegression(PrefixSumMechanism::kTree);
  RegressionSpace wide = mechanism.space();
  wide.context_norm = wide.reward_bound = 2;
  const auto records = audit::WorstRecords(wide);
  Target sound = audit::RegressionTarget("regression", mechanism, records);
  std::array<std::vector<double>, 2> excess;
  for (std::size_t i = 0; i < 2; ++i) {
    excess[i] = audit::RegressionCentre(mechanism.strategy(), wide, records[i]);
    const auto clipped = audit::RegressionCentre(mechanism.strategy(), mechanism.space(), records[i]);
    for (std::size_t k = 0; k < clipped.size(); ++k) excess[i][k] -= clipped[k];
  }
  Target broken = Changed(sound, [excess](Neighbour neighbour, std::span<double> view) {
    for (std::size_t i = 0; i < view.size(); ++i) view[i] += excess[neighbour == Neighbour::kSecond][i];
  });
  return {"missing clip, records", std::move(sound), std::move(broken)};
}

/// Totals over four silos' sums for regression, of which only one silo adds its noise. The sound twin is
/// calibrated for one honest silo, the broken one for four.
inline Fault UncountedDishonestSilos() {
  const auto made = [](double honest_fraction) {
    const auto mechanism = FaultSilos(4, {.colluding = 0, .honest_fraction = honest_fraction});
    return audit::ShuffledRegressionTarget("silos", mechanism, 1, audit::WorstRecords(mechanism.space()));
  };
  return {"uncounted dishonest silos", made(0.25), made(1)};
}

inline SiloArmSums FaultArmSums(double epsilon, Interval rewards = {0, 1}, Count records_per_person = 1) {
  return *SiloArmSums::Create({.epsilon = epsilon,
                               .calibration = Calibration::kTight,
                               .sampler = Sampler::kExact,
                               .rewards = rewards,
                               .reporting = 1,
                               .records_per_person = records_per_person});
}

/// An agent's sums for each arm with half the noise.
inline Fault HalfTheNoiseOfArms() {
  const auto made = [](double epsilon) { return audit::ArmSumsTarget("arms", FaultArmSums(epsilon)); };
  return {"half the noise, arms", made(1), Claiming(made(2), {1, 0})};
}

/// Rewards in [-1, 1] with the noise for rewards in [0, 1].
inline Fault ArmRangeTwo() {
  Target broken =
      Changed(audit::ArmSumsTarget("arms", FaultArmSums(1)), [](Neighbour neighbour, std::span<double> view) {
        if (neighbour == Neighbour::kFirst) view[0] -= 1;
      });
  broken.log_ratio = audit::LaplaceLogRatio({0, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 0}, 1);
  return {"sensitivity 1 for a range 2, arms", audit::ArmSumsTarget("arms", FaultArmSums(1, {-1, 1})),
          std::move(broken)};
}

/// A waiting pull enters the stream; its arm is the best one by raw means.
inline Fault WaitingPullRecorded() {
  const SiloArmSums mechanism = FaultArmSums(1);
  return {"a waiting pull recorded", audit::ArmSumsTarget("arms", mechanism),
          audit::ArmSumsTarget("arms", mechanism, audit::ArmSumsCase::kWaitingPullRecorded)};
}
/// A person with two records in a stream whose noise is set for one.
inline Fault SecondRecordOfAPerson() {
  const auto made = [](Count records_per_person) {
    const RegressionPrefixSum mechanism = FaultRegression(PrefixSumMechanism::kToeplitz, records_per_person);
    return audit::RegressionTarget("person", mechanism, audit::WorstRecords(mechanism.space()), 2);
  };
  return {"a second record of a person", made(2), made(1)};
}

/// A person with two rewards at an agent whose noise is set for one.
inline Fault SecondRewardOfAPerson() {
  const auto made = [](Count records_per_person) {
    return audit::ArmSumsTarget("person", FaultArmSums(1, {0, 1}, records_per_person),
                                audit::ArmSumsCase::kSecondReward);
  };
  return {"a second reward of a person", made(2), made(1)};
}

inline std::vector<Fault> SiloFaults() {
  std::vector<Fault> faults;
  for (Fault (*fault)() :
       {UncountedSilo, UncountedDishonestSilos, StreamAsOneRelease, SensitivityWithoutTheReward,
        NoiseReusedByEveryStep, MissingRecordClip, SecondRecordOfAPerson, HalfTheNoiseOfArms, ArmRangeTwo,
        WaitingPullRecorded, SecondRewardOfAPerson}) {
    faults.push_back(fault());
  }
  return faults;
}

}  // namespace bandana::test
