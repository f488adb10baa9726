#include "bandana/bandit/arm_world.h"

#include <algorithm>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kMostPulls = Count{1} << 53;  // whose sum is a whole number that a double holds

absl::Status CheckReward(RewardKind kind, const ArmProblem& problem) {
  if (kind == RewardKind::kBernoulli) return absl::OkStatus();
  if (kind == RewardKind::kUniform && problem.lowest_mean() >= 0.5) return absl::OkStatus();
  return InvalidInput({.message = "rewards of arms are in [0, 1]",
                       .key = "environment.reward",
                       .accepted = "bernoulli; or uniform, where all means are 0.5 or more"});
}

}  // namespace

ArmWorld::ArmWorld(Params params)
    : params_(std::move(params)), coins_(static_cast<std::size_t>(params_.problem->agents())) {}

absl::StatusOr<ArmWorld> ArmWorld::Create(Params params) {
  BANDANA_CHECK(params.problem != nullptr);
  BANDANA_RETURN_IF_ERROR(CheckReward(params.reward, *params.problem));
  return ArmWorld(std::move(params));
}

CoinGen& ArmWorld::CoinOf(NodeId agent) {
  auto& coins = coins_[agent.value - 1];
  if (coins == nullptr) {
    coins = std::make_unique<Coins>(StreamKey{
        .seed = params_.seed, .replicate = params_.replicate, .node = agent, .stream = Stream::kReward});
  }
  return coins->gen;
}

absl::Status ArmWorld::Answer(NodeId agent, Epoch, std::span<const Pull> pulls,
                              std::span<RewardSum> rewards) {
  BANDANA_CHECK(pulls.size() == rewards.size());
  if (!problem().Contains(agent)) {
    return absl::InvalidArgumentError(
        fmt::format("there is no agent {} of {}", agent.value, problem().agents()));
  }
  CoinGen& coin = CoinOf(agent);
  const RewardModel model{params_.reward};
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const auto [arm, count] = pulls[i];
    if (!problem().Contains(arm)) {
      return absl::InvalidArgumentError(fmt::format("there is no arm {} of {}", arm, problem().arms()));
    }
    if (!(count >= 0 && count <= kMostPulls)) {
      return absl::InvalidArgumentError(fmt::format("{} pulls of arm {}", count, arm));
    }
    const double mean = problem().Mean(agent, arm);
    const double sum = count == 1 ? model.Draw(mean, coin) : model.DrawSum(mean, count, coin);
    // A sum of uniform rewards may be rounded out of its range.
    rewards[i] = {count, std::clamp(sum, 0.0, static_cast<double>(count))};
  }
  return absl::OkStatus();
}

}  // namespace bandana
