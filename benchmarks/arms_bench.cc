// Baselines of multi-armed bandits on one core, alone and with the environment that answers them. Target:
// UCB1 among 100 arms makes 10 million decisions per second. WorldAnswers measures the environment alone, for
// one reward or for many.
#include <memory>
#include <span>
#include <vector>

#include "bandana/algorithms/arms/successive_elimination.h"
#include "bandana/algorithms/arms/ucb1.h"
#include "bandana/bandit/worlds/arm_problem.h"
#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

void Rate(benchmark::State& state, Count decisions) {
  state.counters["a_second"] =
      benchmark::Counter(static_cast<double>(decisions), benchmark::Counter::kIsRate);
}

std::vector<double> Means(Count arms) {
  std::vector<double> means;
  for (Count k = 1; k <= arms; ++k) means.push_back(0.9 * static_cast<double>(k) / static_cast<double>(arms));
  return means;
}

ArmWorld World(Count arms) {
  auto problem = ArmProblem::Alike(Means(arms), 1);
  BANDANA_CHECK(problem.ok());
  auto world =
      ArmWorld::Create({.problem = std::make_shared<const ArmProblem>(*std::move(problem)), .seed = 1});
  BANDANA_CHECK(world.ok());
  return *std::move(world);
}

double Ask(ArmWorld& world, ArmId arm, Count count) {
  const Pull pull{arm, count};
  RewardSum reward;
  BANDANA_CHECK(world.Answer(NodeId{1}, 1, std::span(&pull, 1), std::span(&reward, 1)).ok());
  return reward.sum;
}

constexpr Count kHorizon = 1'000'000;

/// Measures choosing and learning only; a reward is one comparison of random bits.
void Ucb1Alone(benchmark::State& state) {
  const std::vector<double> means = Means(state.range(0));
  PhiloxSource bits({.seed = 1});
  CoinGen coin(bits);
  Count decisions = 0;
  for (auto _ : state) {
    Ucb1 policy = Ucb1::Create(state.range(0)).value();
    for (Count t = 0; t < kHorizon; ++t) {
      const ArmId arm = policy.Choose();
      policy.Learn(arm, UniformUnit(coin) < means[static_cast<std::size_t>(arm)] ? 1 : 0, 1);
    }
    decisions += kHorizon;
  }
  Rate(state, decisions);
}
BENCHMARK(Ucb1Alone)->Arg(2)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void Ucb1InItsWorld(benchmark::State& state) {
  ArmWorld world = World(state.range(0));
  Count decisions = 0;
  for (auto _ : state) {
    Ucb1 policy = Ucb1::Create(state.range(0)).value();
    for (Count t = 0; t < kHorizon; ++t) {
      const ArmId arm = policy.Choose();
      policy.Learn(arm, Ask(world, arm, 1), 1);
    }
    decisions += kHorizon;
  }
  Rate(state, decisions);
}
BENCHMARK(Ucb1InItsWorld)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

/// Plays until one arm is left, for at most a million pulls.
void SweepsInTheirWorld(benchmark::State& state) {
  ArmWorld world = World(state.range(0));
  Count decisions = 0;
  for (auto _ : state) {
    SuccessiveElimination policy =
        SuccessiveElimination::Create({.arms = state.range(0), .horizon = kHorizon}).value();
    Count t = 0;
    for (; t < kHorizon && policy.active().size() > 1; ++t) {
      const ArmId arm = policy.Choose();
      policy.Learn(arm, Ask(world, arm, 1), 1);
    }
    decisions += t;
  }
  Rate(state, decisions);
}
BENCHMARK(SweepsInTheirWorld)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

void SweepsAlone(benchmark::State& state) {
  const std::vector<double> means = Means(state.range(0));
  PhiloxSource bits({.seed = 1});
  CoinGen coin(bits);
  Count decisions = 0;
  for (auto _ : state) {
    SuccessiveElimination policy =
        SuccessiveElimination::Create({.arms = state.range(0), .horizon = kHorizon}).value();
    Count t = 0;
    for (; t < kHorizon && policy.active().size() > 1; ++t) {
      const ArmId arm = policy.Choose();
      policy.Learn(arm, UniformUnit(coin) < means[static_cast<std::size_t>(arm)] ? 1 : 0, 1);
    }
    decisions += t;
  }
  Rate(state, decisions);
}
BENCHMARK(SweepsAlone)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

void WorldAnswers(benchmark::State& state) {
  ArmWorld world = World(100);
  ArmId arm = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Ask(world, arm, state.range(0)));
    arm = arm == 99 ? 0 : arm + 1;
  }
  Rate(state, static_cast<Count>(state.iterations()));
}
BENCHMARK(WorldAnswers)->Arg(1)->Arg(100)->Arg(1'000'000);

}  // namespace
}  // namespace bandana
