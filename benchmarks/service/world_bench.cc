#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "tests/service/world/star.h"

// How fast whole deployments are simulated, with a crash and a lost connection in each. A night of random
// schedules needs 20,000 operations per second.
namespace bandana::service {
namespace {

const std::vector<Fault>& TwoFaults() {
  static const auto& faults =
      *new std::vector<Fault>{{60, Fault::Kind::kCrashLost, 1, 0}, {80, Fault::Kind::kCutLate, 2, 1}};
  return faults;
}

template <class P>
void Simulate(benchmark::State& state, const P& privatizer) {
  std::uint64_t seed = 0;
  std::uint64_t operations = 0;
  for (auto _ : state) {
    Star<P> star(privatizer, ++seed);
    const std::string wrong = star.world.Run(TwoFaults());
    if (!wrong.empty()) state.SkipWithError(wrong.c_str());
    operations += star.world.operations();
  }
  state.counters["operations"] =
      benchmark::Counter(static_cast<double>(operations), benchmark::Counter::kIsRate);
}

void BM_WorldWithoutPrivacy(benchmark::State& state) { Simulate(state, SmallNoPrivacy()); }
void BM_WorldCentral(benchmark::State& state) {
  Simulate(state, CentralGaussianMean::Create(SmallPrivacy()).value());
}
void BM_WorldLocal(benchmark::State& state) {
  Simulate(state, LocalGaussianMean::Create(SmallPrivacy()).value());
}
void BM_WorldCounts(benchmark::State& state) { Simulate(state, SmallShuffleSum(Transport::kCounts)); }
void BM_WorldSealedBits(benchmark::State& state) { Simulate(state, SmallShuffleSum(Transport::kBits)); }
void BM_WorldAmplified(benchmark::State& state) { Simulate(state, SmallShuffledLaplace()); }

BENCHMARK(BM_WorldWithoutPrivacy)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WorldCentral)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WorldLocal)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WorldCounts)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WorldSealedBits)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WorldAmplified)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bandana::service
