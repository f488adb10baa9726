// LinUCB's decisions at P1's setting (Fig. 3): k = 1000 actions in d = 20 dimensions. A round is one choice
// and one update.
#include <optional>

#include "bandana/algorithms/lin_ucb/lin_ucb.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/core/distributions.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

void Rounds(benchmark::State& state) {
  const auto problem = LinearProblem::Draw({.dimension = 20, .actions = state.range(0)}, 1, 0);
  constexpr Count kMany = 1'000'000'000;
  const LinUcbSetting params{.horizon = kMany, .beta = std::nullopt, .population = kMany, .client_sd = 0.1};
  auto policy = *LinUcbPolicy::Create(params, problem->actions());
  PhiloxSource bits({.seed = 1});
  CoinGen coin(bits);
  for (auto _ : state) {
    const ArmId arm = policy.ChooseArm();
    policy.Learn(arm, problem->means()[arm] + StandardNormal(coin));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Rounds)->Arg(1000)->Arg(100'000);

}  // namespace
}  // namespace bandana
