// One DP-DPE run at P1's setting: d = 20, k = 1000, sigma = 0.1, alpha = 0.8, 10^5 clients. The targets are
// CPU milliseconds per run. On a noisy machine read `per_draw`: the time of a run divided by the time of
// drawing as many normals as its clients see averages, measured in the same process.
#include <atomic>
#include <string>

#include "bandana/core/distributions.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "benchmark/benchmark.h"

namespace bandana::lab {
namespace {

Settings PaperSetting(const std::string& model, Count horizon) {
  const auto spec = ParseSpec(R"(
horizon = 1
checkpoints = 1
[environment]
dimension = 20
actions = 1000
client_sd = 0.1
[algorithm]
name = "dp-dpe"
[privacy]
epsilon = 1
delta = 0.1
)",
                              "bench", {"privacy.model=" + model, "horizon=" + std::to_string(horizon)});
  return spec->points.front().settings;
}

double SecondsPerNormal() {
  PhiloxSource bits({.seed = 1});
  CoinGen coin(bits);
  constexpr int kDraws = 1'000'000;
  double sum = 0;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kDraws; ++i) sum += StandardNormal(coin);
  const std::clock_t end = std::clock();
  benchmark::DoNotOptimize(sum);
  return static_cast<double>(end - begin) / CLOCKS_PER_SEC / kDraws;
}

void Run(benchmark::State& state, const Settings& settings) {
  const std::atomic<bool> stop = false;
  double reals = 0;
  double phases = 0;
  std::uint32_t replicate = 0;
  const std::clock_t begin = std::clock();
  for (auto _ : state) {
    const auto outcome = RunReplicate(settings, replicate++ % 10, stop);
    if (!outcome.ok()) {
      state.SkipWithError(std::string(outcome.status().message()).c_str());
      return;
    }
    reals += static_cast<double>(outcome->checkpoints.back().reals);
    phases += static_cast<double>(outcome->phases.size());
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["phases"] = phases / static_cast<double>(state.iterations());
  state.counters["ms_per_phase"] = 1e3 * seconds / phases;
  state.counters["per_draw"] = seconds / reals / SecondsPerNormal();
}

// Targets: 100 ms for none and central, 200 ms for local.
void PaperRun(benchmark::State& state, const std::string& model) {
  Run(state, PaperSetting(model, 1'000'000));
}
BENCHMARK_CAPTURE(PaperRun, none, "none")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PaperRun, central, "central")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PaperRun, local, "local")->Unit(benchmark::kMillisecond);

// Target: with equally many clients in every phase, ms_per_phase at T = 10^9 is at most twice that at T =
// 10^6.
void FixedClients(benchmark::State& state) {
  Settings settings = PaperSetting("central", state.range(0));
  settings.Set("algorithm.clients", Value(std::string("fixed")));
  settings.Set("algorithm.fixed_clients", Value(std::int64_t{1000}));
  Run(state, settings);
}
BENCHMARK(FixedClients)->Arg(1'000'000)->Arg(1'000'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bandana::lab
