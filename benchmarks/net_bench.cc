#include <benchmark/benchmark.h>

#include "bandana/bandit/net.h"

namespace bandana {
namespace {

/// The ranges are the dimension and 10^4 times the radius.
void BM_Net(benchmark::State& state, ActionSet set) {
  const NetParams params{
      .set = set, .dimension = state.range(0), .radius = static_cast<double>(state.range(1)) * 1e-4};
  Eigen::Index actions = 0;
  for (auto _ : state) actions = MakeNet(params)->rows();
  state.counters["actions"] = static_cast<double>(actions);
}
BENCHMARK_CAPTURE(BM_Net, ball, ActionSet::kBall)
    ->Args({2, 14})
    ->Args({3, 200})
    ->Args({5, 1000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Net, sphere, ActionSet::kSphere)
    ->Args({2, 14})
    ->Args({3, 30})
    ->Args({5, 1000})
    ->Unit(benchmark::kMillisecond);

void BM_SmallestRadius(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(SmallestNetRadius(ActionSet::kSphere, state.range(0), kMostNetEntries).value());
  }
}
BENCHMARK(BM_SmallestRadius)->Arg(2)->Arg(3)->Arg(5)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bandana
