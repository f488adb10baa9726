// The time of a calibration. A deployment needs it once; the simulator needs it once per phase.
#include "bandana/privacy/calibration/amplification.h"
#include "bandana/privacy/calibration/shuffle_sum.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

void BM_NumericalAmplification(benchmark::State& state) {
  const double epsilon0 = static_cast<double>(state.range(1));
  double epsilon = 0;
  for (auto _ : state) epsilon = NumericalAmplification(epsilon0, state.range(0), 1e-6).value();
  state.counters["epsilon"] = epsilon;
}
BENCHMARK(BM_NumericalAmplification)
    ->ArgNames({"n", "epsilon0"})
    ->Args({1'000, 1})
    ->Args({100'000, 4})
    ->Args({100'000'000, 1})
    ->Args({100'000'000, 4})
    ->Args({Count{1} << 40, 4})
    ->Unit(benchmark::kMillisecond);

void BM_LargestLocalEpsilon(benchmark::State& state) {
  double epsilon0 = 0;
  for (auto _ : state) epsilon0 = LargestLocalEpsilon({1, 1e-6}, state.range(0)).value().epsilon0;
  state.counters["epsilon0"] = epsilon0;
}
BENCHMARK(BM_LargestLocalEpsilon)
    ->ArgName("n")
    ->Arg(1'000)
    ->Arg(100'000)
    ->Arg(100'000'000)
    ->Unit(benchmark::kMillisecond);

void BM_TightShuffleSum(benchmark::State& state) {
  ShuffleSumSetting setting{};
  for (auto _ : state) {
    setting = TightShuffleSum({state.range(0), state.range(1), {1, 1e-6}, state.range(0), 0.1}).value();
  }
  state.counters["bits"] = static_cast<double>(setting.bits_per_coordinate);
  state.counters["error_over_gaussian"] = setting.stddev / setting.gaussian_stddev;
}
BENCHMARK(BM_TightShuffleSum)
    ->ArgNames({"n", "dimension"})
    ->Args({100, 1})
    ->Args({1'000, 10})
    ->Args({10'000, 40})
    ->Args({1'000'000, 1})
    ->Args({1'000'000, 100})
    ->Unit(benchmark::kMillisecond);

void BM_PaperVectorSum(benchmark::State& state) {
  ShuffleSumSetting setting{};
  for (auto _ : state) {
    setting = PaperVectorSum({state.range(0), state.range(1), {1, 1e-6}, state.range(0), 0.1}).value();
  }
  state.counters["bits"] = static_cast<double>(setting.bits_per_coordinate);
  state.counters["error_over_gaussian"] = setting.stddev / setting.gaussian_stddev;
}
BENCHMARK(BM_PaperVectorSum)
    ->ArgNames({"n", "dimension"})
    ->Args({1'000, 10})
    ->Args({1'000'000, 100})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bandana
