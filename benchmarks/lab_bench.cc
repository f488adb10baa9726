// experiments/p1-models.toml: P1's three models x five epsilons x 20 replicates. The result is in seconds,
// with both cores busy; `cores_busy` is CPU time divided by wall time.
#include <filesystem>
#include <string>

#include "bandana/lab/runner.h"
#include "benchmark/benchmark.h"

namespace bandana::lab {
namespace {

void TrustModels(benchmark::State& state) {
  const auto spec = LoadSpec(BANDANA_SOURCE "/experiments/p1-models.toml", {});
  if (!spec.ok()) return state.SkipWithError(std::string(spec.status().message()).c_str());
  const std::string out = (std::filesystem::temp_directory_path() / "bandana-lab-bench").string();
  const std::atomic<bool> stop = false;
  for (auto _ : state) {
    std::filesystem::remove_all(out);
    const auto summary = RunExperiment(*spec, {.out = out, .quiet = true}, stop);
    if (!summary.ok()) return state.SkipWithError(std::string(summary.status().message()).c_str());
    state.counters["cores_busy"] = (*summary)["cpu_s"].get<double>() / (*summary)["wall_s"].get<double>();
  }
  std::filesystem::remove_all(out);
}
BENCHMARK(TrustModels)->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace bandana::lab
