#include "bandana/bandit/worlds/arm_problem.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status CheckAgents(Count agents) {
  if (agents >= 1 && agents <= ArmProblem::kMostAgents) return absl::OkStatus();
  return InvalidField(Part::kParams, "agents", fmt::format("{}", agents),
                      fmt::format("a whole number from 1 to {}", ArmProblem::kMostAgents));
}

absl::Status CheckArms(Count arms) {
  if (arms >= 1 && arms <= ArmProblem::kMostArms) return absl::OkStatus();
  return InvalidField(Part::kParams, "actions", fmt::format("{}", arms),
                      fmt::format("a whole number from 1 to {}", ArmProblem::kMostArms));
}

absl::Status CheckUnit(const char* field, double value) {
  if (value >= 0 && value <= 1) return absl::OkStatus();
  return InvalidField(Part::kParams, field, value, "a number in [0, 1]");
}

absl::Status CheckMeans(std::span<const double> means) {
  for (const double mean : means) BANDANA_RETURN_IF_ERROR(CheckUnit("means", mean));
  return absl::OkStatus();
}

absl::Status BadMeans(std::size_t given, std::string accepted) {
  return InvalidField(Part::kParams, {.message = "the number of means is wrong",
                                      .key = "means",
                                      .value = fmt::format("{} means", given),
                                      .accepted = std::move(accepted)});
}

absl::Status Check(const ArmDraw& draw) {
  BANDANA_RETURN_IF_ERROR(CheckAgents(draw.agents));
  BANDANA_RETURN_IF_ERROR(CheckArms(draw.arms));
  BANDANA_RETURN_IF_ERROR(CheckUnit("gap", draw.gap));
  BANDANA_RETURN_IF_ERROR(CheckUnit("heterogeneous", draw.heterogeneous));
  BANDANA_RETURN_IF_ERROR(CheckMeans(draw.means));
  if (!draw.means.empty() && !std::cmp_equal(draw.means.size(), draw.arms)) {
    return BadMeans(draw.means.size(), fmt::format("{}, one per action", draw.arms));
  }
  if (!draw.means.empty() && draw.gap != 0) {
    return InvalidField(Part::kParams, "gap", draw.gap, "0 if means are given");
  }
  if (draw.heterogeneous > 0 && draw.arms > ArmProblem::kMostMeans / draw.agents) {
    return InvalidField(Part::kParams, "actions", fmt::format("{}", draw.arms),
                        fmt::format("at most {} for {} agents that differ",
                                    ArmProblem::kMostMeans / draw.agents, draw.agents));
  }
  return absl::OkStatus();
}

std::vector<double> DrawMeans(Count arms, double gap, CoinGen& coin) {
  std::vector<double> means(static_cast<std::size_t>(arms));
  for (double& mean : means) mean = (1 - gap) * UniformUnit(coin);
  double& best = *std::max_element(means.begin(), means.end());
  best = std::min(best + gap, 1.0);
  return means;
}

// Draws numbers in [-1, 1] that sum to 0, with the farthest at an end. A single number is 0.
void DrawDeviations(std::span<double> deviations, CoinGen& coin) {
  double sum = 0;
  for (double& each : deviations) sum += each = 2 * UniformUnit(coin) - 1;
  double farthest = 0;
  for (double& each : deviations) {
    each -= sum / static_cast<double>(deviations.size());
    farthest = std::max(farthest, std::abs(each));
  }
  if (!(farthest > 0)) return;
  for (double& each : deviations) each /= farthest;
}

}  // namespace

ArmProblem::ArmProblem(std::vector<double> means, std::size_t row, Count arms, Count agents)
    : means_(std::move(means)), row_(row), agents_(agents) {
  const auto width = static_cast<std::size_t>(arms);
  global_.assign(means_.begin(), means_.begin() + arms);
  if (row_ > 0) {
    // Sums differences to the first agent, so that the average of equal means is exact.
    std::vector<double> above(width);
    for (std::size_t i = 0; i < means_.size(); ++i) above[i % width] += means_[i] - global_[i % width];
    for (std::size_t arm = 0; arm < width; ++arm) {
      global_[arm] = std::clamp(global_[arm] + above[arm] / static_cast<double>(agents_), 0.0, 1.0);
    }
  }
  best_ = static_cast<ArmId>(std::max_element(global_.begin(), global_.end()) - global_.begin());
  for (ArmId arm = 0; arm < arms; ++arm) {
    const double gap = Gap(arm);
    if (gap > 0 && !(smallest_gap_ > 0 && smallest_gap_ <= gap)) smallest_gap_ = gap;
  }
}

absl::StatusOr<ArmProblem> ArmProblem::FromMeans(std::vector<double> means, Count agents) {
  BANDANA_RETURN_IF_ERROR(CheckAgents(agents));
  const auto size = static_cast<Count>(means.size());
  if (size == 0 || size % agents != 0 || size > kMostMeans || size / agents > kMostArms) {
    return BadMeans(means.size(), fmt::format("one per action for each of {} agents", agents));
  }
  BANDANA_RETURN_IF_ERROR(CheckMeans(means));
  const Count arms = size / agents;
  return ArmProblem(std::move(means), static_cast<std::size_t>(arms), arms, agents);
}

absl::StatusOr<ArmProblem> ArmProblem::Alike(std::vector<double> means, Count agents) {
  BANDANA_RETURN_IF_ERROR(CheckAgents(agents));
  const auto arms = static_cast<Count>(means.size());
  if (arms == 0 || arms > kMostArms) {
    return BadMeans(means.size(), fmt::format("from 1 to {}, one per action", kMostArms));
  }
  BANDANA_RETURN_IF_ERROR(CheckMeans(means));
  return ArmProblem(std::move(means), 0, arms, agents);
}

absl::StatusOr<ArmProblem> ArmProblem::Draw(const ArmDraw& draw, CoinGen& coin) {
  BANDANA_RETURN_IF_ERROR(Check(draw));
  std::vector<double> means = draw.means.empty() ? DrawMeans(draw.arms, draw.gap, coin) : draw.means;
  if (draw.heterogeneous == 0 || draw.agents == 1) return Alike(std::move(means), draw.agents);
  const auto agents = static_cast<std::size_t>(draw.agents);
  std::vector<double> all(agents * means.size());
  std::vector<double> deviations(agents);
  for (std::size_t arm = 0; arm < means.size(); ++arm) {
    DrawDeviations(deviations, coin);
    const double reach = draw.heterogeneous * std::min(means[arm], 1 - means[arm]);
    for (std::size_t i = 0; i < agents; ++i) all[i * means.size() + arm] = means[arm] + reach * deviations[i];
  }
  return FromMeans(std::move(all), draw.agents);
}

double ArmProblem::Mean(NodeId agent, ArmId arm) const {
  BANDANA_CHECK(Contains(agent) && Contains(arm));
  return means_[(agent.value - 1) * row_ + static_cast<std::size_t>(arm)];
}

double ArmProblem::lowest_mean() const { return *std::min_element(means_.begin(), means_.end()); }

}  // namespace bandana
