// The cost of one round of an environment with one user per round, without a learner: Next, Scores, Context,
// Reward and Gap. Targets for ProjectedRounds: 80 ns at d = 2, K = 10, and 600 ns at d = 20, K = 20.
#include <algorithm>
#include <memory>
#include <vector>

#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/bandit/worlds/user_rounds.h"
#include "bandana/core/check.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

std::shared_ptr<const GlmProblem> Problem(Count dimension, Count arms, Link link, UserContexts contexts,
                                          ParameterKind parameters) {
  const auto mean = MeanFunction::Create(link, link == Link::kPoisson ? 8 : 0);
  BANDANA_CHECK(mean.ok());
  auto problem = GlmProblem::Draw(
      {.dimension = dimension,
       .arms = arms,
       .parameters = parameters,
       .mean = *mean,
       .contexts = contexts,
       .reward = {.kind = link == Link::kIdentity ? RewardKind::kGaussian : RewardKind::kBernoulli,
                  .sd = 0.1}},
      1, 0);
  BANDANA_CHECK(problem.ok());
  return std::make_shared<const GlmProblem>(*std::move(problem));
}

template <class World>
void Rounds(benchmark::State& state, Link link, UserContexts contexts, ParameterKind parameters) {
  World world(Problem(state.range(0), state.range(1), link, contexts, parameters), 1, 0);
  std::vector<double> theta(
      static_cast<std::size_t>(world.multi() ? world.arms() * world.dimension() : world.dimension()), 0.3);
  std::vector<double> scores(static_cast<std::size_t>(world.arms()));
  double regret = 0;
  for (auto _ : state) {
    world.Next();
    world.Scores(theta, scores);
    const auto arm = static_cast<ArmId>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    // theta changes as it does in a learner.
    theta[0] += 1e-9 * *world.Reward(arm) * world.Context(arm)[0];
    regret += world.Gap(arm);
  }
  benchmark::DoNotOptimize(regret);
  state.SetItemsProcessed(state.iterations());
}

void Projected(benchmark::State& state, Link link, UserContexts contexts) {
  Rounds<ProjectedRounds>(state, link, contexts, ParameterKind::kSingle);
}

void Drawn(benchmark::State& state, Link link, ParameterKind parameters) {
  Rounds<DrawnRounds>(state, link, UserContexts::kSphere, parameters);
}

constexpr auto kSphere = UserContexts::kSphere;
BENCHMARK_CAPTURE(Projected, identity, Link::kIdentity, kSphere)->Args({2, 10})->Args({20, 20});
BENCHMARK_CAPTURE(Projected, logistic, Link::kLogistic, kSphere)->Args({2, 10})->Args({20, 20});
BENCHMARK_CAPTURE(Projected, poisson, Link::kPoisson, kSphere)->Args({2, 10})->Args({20, 20});
BENCHMARK_CAPTURE(Projected, gaussian, Link::kIdentity, UserContexts::kGaussian)->Args({20, 2});
BENCHMARK_CAPTURE(Drawn, single, Link::kIdentity, ParameterKind::kSingle)->Args({2, 10})->Args({20, 20});
BENCHMARK_CAPTURE(Drawn, multi, Link::kLogistic, ParameterKind::kMulti)->Args({10, 3})->Args({20, 10});

void Means(benchmark::State& state, Link link) {
  const auto mean = MeanFunction::Create(link, link == Link::kPoisson ? 8 : 0);
  double predictor = -1;
  for (auto _ : state) {
    benchmark::DoNotOptimize((*mean)(predictor));
    predictor += 1e-7;
  }
}
BENCHMARK_CAPTURE(Means, logistic, Link::kLogistic);
BENCHMARK_CAPTURE(Means, probit, Link::kProbit);
BENCHMARK_CAPTURE(Means, poisson, Link::kPoisson);

}  // namespace
}  // namespace bandana
