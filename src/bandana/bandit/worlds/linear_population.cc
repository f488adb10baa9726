#include "bandana/bandit/worlds/linear_population.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

LinearPopulation::LinearPopulation(Params params)
    : params_(std::move(params)), means_(params_.reward.means()), client_theta_(params_.problem->theta()) {
  const ActionMatrix& actions = params_.problem->actions();
  facts_ = {.horizon = params_.horizon,
            .people = params_.size,
            .arms = actions.rows(),
            .dimension = actions.cols(),
            .actions = std::shared_ptr<const ActionMatrix>(params_.problem, &actions),
            .reward = params_.reward,
            .reward_bound = params_.reward_bound,
            .client_sd = params_.client_sd,
            .mean = MeanFunction(params_.problem->link()),
            .public_seed = params_.seed};
}

absl::StatusOr<LinearPopulation> LinearPopulation::Create(Params params) {
  BANDANA_CHECK(params.problem != nullptr);
  if (!(params.client_sd >= 0 && std::isfinite(params.client_sd))) {
    return InvalidField(Part::kParams, "client_sd", params.client_sd, "a finite number >= 0");
  }
  if (!(params.reward.sd >= 0 && std::isfinite(params.reward.sd))) {
    return InvalidField(Part::kParams, "reward_sd", params.reward.sd, "a finite number >= 0");
  }
  if (!(params.size >= 1)) {
    return InvalidField(Part::kParams, "population", static_cast<double>(params.size), "a whole number >= 1");
  }
  LinearPopulation population(std::move(params));
  const Vector& means = population.params_.problem->means();
  for (Eigen::Index arm = 0; arm < means.size(); ++arm) {
    if (!population.InRange(means[arm])) {
      return population.MeanOutOfRange(kServerNode, static_cast<ArmId>(arm), means[arm]);
    }
  }
  return population;
}

absl::Status LinearPopulation::Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                                      std::span<RewardSum> rewards) {
  BANDANA_CHECK(pulls.size() == rewards.size());
  BANDANA_CHECK(client.value >= 1 && client.value <= params_.size);
  DrawParameter(client);
  PhiloxSource bits({params_.seed, params_.replicate, client, epoch, Stream::kReward});
  CoinGen coin(bits);
  const ActionMatrix& actions = params_.problem->actions();
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const auto [arm, count] = pulls[i];
    if (!(arm >= 0 && arm < actions.rows())) {
      return absl::InvalidArgumentError(fmt::format("action {} does not exist", arm));
    }
    const double exact = MeanOf(params_.problem->link(), Dot(actions, arm, client_theta_));
    if (!InRange(exact)) return MeanOutOfRange(client, arm, exact);
    const double mean = std::clamp(exact, means_.low, means_.high);
    double sum = 0;
    if (params_.path == Path::kSums) {
      sum = params_.reward.DrawSum(mean, count, coin);
    } else {
      for (Count pull = 0; pull < count; ++pull) sum += params_.reward.Draw(mean, coin);
    }
    rewards[i] = {count, sum};
  }
  return absl::OkStatus();
}

bool LinearPopulation::AnswersGroups() const {
  return params_.client_sd == 0 && params_.reward.support().has_value() && params_.path == Path::kSums;
}

absl::Status LinearPopulation::AnswerGroup(NodeId first, Count clients, Epoch epoch, ArmId arm,
                                           std::vector<RewardSum>& rewards) {
  BANDANA_CHECK(AnswersGroups());
  BANDANA_CHECK(first.value >= 1 && clients >= 1 && Count{first.value} + clients - 1 <= params_.size);
  if (!(arm >= 0 && arm < params_.problem->actions().rows())) {
    return absl::InvalidArgumentError(fmt::format("action {} does not exist", arm));
  }
  PhiloxSource bits({params_.seed, params_.replicate, first, epoch, Stream::kReward});
  CoinGen coin(bits);
  const double mean = std::clamp(params_.problem->means()[arm], means_.low, means_.high);
  params_.reward.DrawGroup(mean, clients, coin, rewards);
  return absl::OkStatus();
}

bool LinearPopulation::InRange(double mean) const {
  constexpr double kRounding = 1e-9;  // the tolerance with which norms are checked
  return mean >= means_.low - kRounding && mean <= means_.high + kRounding;
}

void LinearPopulation::DrawParameter(NodeId client) {
  if (params_.client_sd == 0) return;
  PhiloxSource bits({params_.seed, params_.replicate, client, 0, Stream::kClientParameter});
  CoinGen coin(bits);
  const Vector& theta = params_.problem->theta();
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    client_theta_[i] = theta[i] + params_.client_sd * StandardNormal(coin);
  }
}

absl::Status LinearPopulation::MeanOutOfRange(NodeId client, ArmId arm, double mean) const {
  const std::string whose = client == kServerNode ? "the population" : fmt::format("client {}", client.value);
  return InvalidField(
      Part::kParams,
      {.message = fmt::format("action {} has mean {:.6g} for {}, outside this reward model's range", arm,
                              mean, whose),
       .key = "reward",
       .accepted = fmt::format("means in [{}, {}]: use a smaller theta_norm or client_sd, contexts = "
                               "\"orthant\" for bernoulli, or reward = \"gaussian\"",
                               means_.low, means_.high)});
}

}  // namespace bandana
