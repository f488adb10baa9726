#include "bandana/audit/arm_sums_target.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bandana/audit/distinguisher.h"
#include "bandana/audit/mean_target.h"

namespace bandana::audit {
namespace {

using Rewards = std::vector<RewardSum>;

constexpr Count kFirstPulls = 3;
constexpr Count kSecondPulls = 2;
constexpr std::size_t kView = 6;  // first release: three sums; second: the pulls and two sums

double EndOf(const Interval& rewards, Neighbour neighbour) {
  return neighbour == Neighbour::kSecond ? rewards.high : rewards.low;
}

absl::Status Record(const SiloArmSums& privatizer, const std::vector<ArmId>& arms, const Rewards& rewards,
                    ArmStream& stream) {
  std::vector<Pull> pulls;
  for (std::size_t i = 0; i < arms.size(); ++i) pulls.push_back({arms[i], rewards[i].count});
  return privatizer.Record(pulls, Raw<RewardSums>(rewards), stream);
}

absl::StatusOr<ArmSums> ReleaseArms(const SiloArmSums& privatizer, const ArmQuery& query, ArmStream& stream,
                                    NoiseGen& noise) {
  AuditContext agent(NodeId{1}, noise);
  const auto epoch = static_cast<Epoch>(query.release);
  BANDANA_ASSIGN_OR_RETURN(const Released<ArmSums> released,
                           Release::FromSilo(agent, privatizer, epoch, query, Raw<ArmStream*>(&stream)));
  return released.value();
}

absl::Status Draw(const SiloArmSums& privatizer, ArmSumsCase which, Neighbour neighbour, NoiseGen& noise,
                  std::span<double> view) {
  const Interval& one = privatizer.rewards();
  const double first = EndOf(one, neighbour), both = one.low + one.high;
  const Declassify own("rewards of the audit's own making");
  ArmStream stream(privatizer, own);
  const std::vector<ArmId> all{0, 1, 2};
  const RewardSum known{kFirstPulls, both + both / 2};
  BANDANA_RETURN_IF_ERROR(Record(privatizer, all, {{kFirstPulls, both + first}, known, known}, stream));
  BANDANA_ASSIGN_OR_RETURN(const ArmSums before, ReleaseArms(privatizer, {1, all}, stream, noise));

  std::vector<ArmId> arms{0, MeanOf(before, 0) > both / 2 ? 1 : 2};
  if (which == ArmSumsCase::kWaitingPullRecorded) {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<double> means, privatizer.RevealMeans(stream, all, own));
    const auto best = std::max_element(means.begin(), means.end()) - means.begin();
    BANDANA_RETURN_IF_ERROR(Record(privatizer, {static_cast<ArmId>(best)}, {{1, one.low}}, stream));
    arms = {0};
  }
  Rewards rewards(arms.size(), {kSecondPulls, both});
  if (which == ArmSumsCase::kSecondReward) rewards.front().sum = one.low + first;
  BANDANA_RETURN_IF_ERROR(Record(privatizer, arms, rewards, stream));
  BANDANA_ASSIGN_OR_RETURN(const ArmSums after, ReleaseArms(privatizer, {2, arms}, stream, noise));

  std::fill(view.begin(), view.end(), 0);
  for (std::size_t i = 0; i < 3; ++i) view[i] = static_cast<double>(before.units[i]) * kArmSumsUnit;
  view[3] = static_cast<double>(after.pulls);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    view[4 + i] = static_cast<double>(after.units[i]) * kArmSumsUnit;
  }
  return absl::OkStatus();
}

}  // namespace

Target ArmSumsTarget(const std::string& name, const SiloArmSums& privatizer, ArmSumsCase which) {
  Target target{.name = name, .claim = ClaimOf(privatizer), .dimension = kView};
  // The ratio depends only on entries that depend on the first reward.
  const Interval& one = privatizer.rewards();
  std::array<std::vector<double>, 2> centres;
  for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
    const double first = EndOf(one, neighbour);
    const bool again = which == ArmSumsCase::kSecondReward;
    centres[neighbour == Neighbour::kSecond] = {one.low + one.high + first,  0, 0, 0,
                                                again ? one.low + first : 0, 0};
  }
  target.log_ratio = LaplaceLogRatio(centres[0], centres[1], privatizer.noise_scale());
  target.draw = [privatizer, which](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    return Draw(privatizer, which, neighbour, noise, view);
  };
  return target;
}

}  // namespace bandana::audit
