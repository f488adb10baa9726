#include "bandana/bandit/worlds/contextual_population.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

ContextualPopulation::ContextualPopulation(Params params)
    : params_(std::move(params)),
      means_(params_.reward.means()),
      context_(params_.problem->policies().law().actions(), params_.problem->policies().law().dimension()) {
  const ActionMatrix& responses = params_.problem->policies().responses();
  facts_ = {.horizon = params_.horizon,
            .people = params_.size,
            .arms = responses.rows(),
            .dimension = responses.cols(),
            .actions = std::shared_ptr<const ActionMatrix>(params_.problem, &responses),
            .reward = params_.reward,
            .misspecification = params_.problem->policies().misspecification(),
            .policies = true,
            .public_seed = params_.seed,
            .notes = params_.notes};
}

absl::StatusOr<ContextualPopulation> ContextualPopulation::Create(Params params) {
  BANDANA_CHECK(params.problem != nullptr);
  if (!(params.reward.sd >= 0 && std::isfinite(params.reward.sd))) {
    return InvalidField(Part::kParams, "reward_sd", params.reward.sd, "a finite number >= 0");
  }
  if (!(params.size >= 1)) {
    return InvalidField(Part::kParams, "population", static_cast<double>(params.size), "a whole number >= 1");
  }
  constexpr double kRounding = 1e-9;
  const Interval accepted = params.reward.means();
  const Interval means = params.problem->policies().law().Means(params.problem->theta());
  if (!(means.low >= accepted.low - kRounding && means.high <= accepted.high + kRounding)) {
    return InvalidField(
        Part::kParams,
        {.message = fmt::format("actions have means from {:.6g} to {:.6g}, outside this reward "
                                "model's range",
                                means.low, means.high),
         .key = "reward",
         .accepted =
             fmt::format("means in [{}, {}]: use reward = \"rademacher\"", accepted.low, accepted.high)});
  }
  return ContextualPopulation(std::move(params));
}

absl::Status ContextualPopulation::CheckArm(ArmId arm) const {
  if (arm >= 0 && arm < params_.problem->policies().thetas().rows()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("policy {} does not exist", arm));
}

absl::Status ContextualPopulation::Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                                          std::span<RewardSum> rewards) {
  BANDANA_CHECK(pulls.size() == rewards.size());
  BANDANA_CHECK(client.value >= 1 && client.value <= params_.size);
  const PolicySet& policies = params_.problem->policies();
  const Vector& theta = params_.problem->theta();
  PhiloxSource context_bits({params_.seed, params_.replicate, client, epoch, Stream::kInstance});
  PhiloxSource reward_bits({params_.seed, params_.replicate, client, epoch, Stream::kReward});
  CoinGen context_coin(context_bits);
  CoinGen reward_coin(reward_bits);
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    BANDANA_RETURN_IF_ERROR(CheckArm(pulls[i].arm));
    const Vector policy = policies.thetas().row(pulls[i].arm);
    rewards[i] = {pulls[i].count, 0};
    for (Count pull = 0; pull < pulls[i].count; ++pull) {
      policies.law().Draw(context_coin, context_);
      const double mean = Dot(context_, PickAction(context_, policy), theta);
      rewards[i].sum += params_.reward.Draw(std::clamp(mean, means_.low, means_.high), reward_coin);
    }
  }
  return absl::OkStatus();
}

bool ContextualPopulation::AnswersGroups() const {
  const bool two_points =
      params_.reward.kind == RewardKind::kRademacher || params_.reward.kind == RewardKind::kBernoulli;
  return two_points && params_.problem->policies().truth_is_exact();
}

absl::Status ContextualPopulation::AnswerGroup(NodeId first, Count clients, Epoch epoch, ArmId arm,
                                               std::vector<RewardSum>& rewards) {
  BANDANA_CHECK(AnswersGroups());
  BANDANA_CHECK(first.value >= 1 && clients >= 1 && clients <= params_.size - (first.value - 1));
  BANDANA_RETURN_IF_ERROR(CheckArm(arm));
  PhiloxSource bits({params_.seed, params_.replicate, first, epoch, Stream::kReward});
  CoinGen coin(bits);
  const double mean = std::clamp(params_.problem->linear().means()[arm], means_.low, means_.high);
  params_.reward.DrawGroup(mean, clients, coin, rewards);
  return absl::OkStatus();
}

void ContextualPopulation::DrawContext(NodeId client, Epoch epoch, ActionMatrix& context) const {
  PhiloxSource bits({params_.seed, params_.replicate, client, epoch, Stream::kInstance});
  CoinGen coin(bits);
  params_.problem->policies().law().Draw(coin, context);
}

}  // namespace bandana
