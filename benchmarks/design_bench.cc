#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "bandana/bandit/optimal_design.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"

namespace bandana {
namespace {

enum class Lengths { kUnit, kHeavyTailed };

ActionMatrix RandomActions(Eigen::Index k, Eigen::Index d, Lengths lengths) {
  PhiloxSource source({.seed = 1});
  CoinGen coin(source);
  ActionMatrix actions(k, d);
  for (Eigen::Index i = 0; i < k; ++i) {
    for (Eigen::Index c = 0; c < d; ++c) actions(i, c) = StandardNormal(coin);
    actions.row(i).normalize();
    if (lengths == Lengths::kHeavyTailed) actions.row(i) *= StandardNormal(coin) / StandardNormal(coin);
  }
  return actions;
}

double SecondsOfGemv(const ActionMatrix& actions, const Vector& x, Vector& y) {
  const auto start = std::chrono::steady_clock::now();
  y.noalias() = actions * x;
  benchmark::DoNotOptimize(y.data());
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The counter `gemvs` is the time of one design in units of one k x d matrix-vector product, measured
/// between designs.
void BM_Design(benchmark::State& state, Lengths lengths) {
  const ActionMatrix actions = RandomActions(state.range(0), state.range(1), lengths);
  std::vector<ArmId> active(actions.rows());
  std::iota(active.begin(), active.end(), 0);
  const Vector x = Vector::Ones(actions.cols());
  Vector y = Vector::Zero(actions.rows());
  double design_seconds = 0;
  double gemv_seconds = 0;
  Design design;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    design = NearOptimalDesign(actions, active).value();
    const auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(elapsed);
    design_seconds += elapsed;
    SecondsOfGemv(actions, x, y);
    gemv_seconds += SecondsOfGemv(actions, x, y);
  }
  state.counters["gemvs"] = design_seconds / gemv_seconds;
  state.counters["gemv_us"] = 1e6 * gemv_seconds / static_cast<double>(state.iterations());
  state.counters["g_over_rank"] = design.g / design.rank();
  state.counters["support"] = static_cast<double>(design.support.size());
  state.counters["steps"] = design.steps;
}

/// Measures an elimination: designs for fewer and fewer actions, the best for a random theta, until d are
/// left. The ranges are k, d, the per cent of actions that a phase keeps, and 1 for warm starts.
void BM_Phases(benchmark::State& state) {
  const ActionMatrix actions = RandomActions(state.range(0), state.range(1), Lengths::kUnit);
  const bool warm = state.range(3) != 0;
  std::vector<ArmId> order(actions.rows());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](ArmId a, ArmId b) { return actions(a, 0) > actions(b, 0); });
  double steps = 0;
  double support = 0;
  double phases = 0;
  for (auto _ : state) {
    steps = support = phases = 0;
    std::vector<ArmId> active = order;
    Design design;
    while (std::ssize(active) > actions.cols()) {
      design =
          NearOptimalDesign(actions, active, {.warm_start = warm && phases > 0 ? &design : nullptr}).value();
      steps += design.steps;
      support += static_cast<double>(design.support.size());
      phases += 1;
      active.resize(active.size() * state.range(2) / 100);
    }
  }
  state.counters["steps_a_phase"] = steps / phases;
  state.counters["support"] = support / phases;
  state.counters["phases"] = phases;
}
BENCHMARK(BM_Phases)
    ->ArgsProduct({{1000}, {20}, {50, 90}, {0, 1}})
    ->ArgsProduct({{100000}, {50}, {50, 90}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void Sizes(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{1000, 10000, 100000, 1000000}, {20}})->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(BM_Design, sphere, Lengths::kUnit)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Design, heavy_tailed, Lengths::kHeavyTailed)->Apply(Sizes);

}  // namespace
}  // namespace bandana
