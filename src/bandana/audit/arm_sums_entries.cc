#include "bandana/audit/arm_sums_target.h"
#include "bandana/audit/catalog.h"
#include "bandana/core/status.h"

namespace bandana::audit {
namespace {

auto Agent(Calibration calibration, Interval rewards, Count reporting) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const SiloArmSums privatizer, SiloArmSums::Create({.epsilon = nominal.epsilon,
                                                                                .calibration = calibration,
                                                                                .sampler = Sampler::kExact,
                                                                                .rewards = rewards,
                                                                                .reporting = reporting}));
    return ArmSumsTarget(name, privatizer);
  };
}

constexpr Count kPersonsRewards = 2;

absl::StatusOr<Target> Person(const std::string& name, DpGuarantee nominal) {
  BANDANA_ASSIGN_OR_RETURN(const SiloArmSums privatizer,
                           SiloArmSums::Create({.epsilon = nominal.epsilon,
                                                .calibration = Calibration::kTight,
                                                .sampler = Sampler::kExact,
                                                .rewards = {0, 1},
                                                .reporting = 4,
                                                .records_per_person = kPersonsRewards}));
  Target target = ArmSumsTarget(name, privatizer, ArmSumsCase::kSecondReward);
  target.claim->unit = RecordUnit("reward", "rewards", kPersonsRewards);
  return target;
}

}  // namespace

std::vector<Entry> ArmSumsEntries() {
  constexpr std::int64_t kDraws = 200'000;
  constexpr Interval kBernoulli{0, 1};
  return {
      {"arm-sums",
       "an agent's sums of rewards by arm, both releases together",
       {1, 0},
       kDraws,
       Agent(Calibration::kTight, kBernoulli, 4)},
      {"arm-sums-signed",
       "arm-sums for rewards in [-1, 1]",
       {1, 0},
       kDraws,
       Agent(Calibration::kTight, {-1, 1}, 4)},
      {"arm-sums-person",
       "arm-sums for a person with two rewards, one in each release",
       {1, 0},
       kDraws,
       Person},
      {"arm-sums-paper",
       "arm-sums with P4's formula for four agents, compared with the four times epsilon that it delivers",
       {0.5, 0},
       kDraws,
       Agent(Calibration::kPaper, kBernoulli, 4)},
  };
}

}  // namespace bandana::audit
