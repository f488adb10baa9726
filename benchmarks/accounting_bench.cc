#include <cstdint>

#include "bandana/privacy/accounting/privacy_loss_distribution.h"
#include "bandana/privacy/accounting/shuffled_ldp.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

// Composes 100 releases; the argument is the number of grid points per standard deviation.
void BM_SelfCompose(benchmark::State& state) {
  const auto one = PrivacyLossDistribution::Gaussian(10, LossGrid(0.1, static_cast<double>(state.range(0))));
  std::size_t cells = 0;
  for (auto _ : state) cells = one.SelfCompose(100).masses().size();
  state.counters["cells"] = static_cast<double>(cells);
}
BENCHMARK(BM_SelfCompose)->Arg(200)->Arg(2000)->Unit(benchmark::kMillisecond);

void BM_ShuffledLdpLoss(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ShuffledLdpLoss(4, n, LossGrid(ShuffledLdpScale(4, n), 400)).infinity_mass());
  }
}
BENCHMARK(BM_ShuffledLdpLoss)->Arg(100'000)->Arg(100'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bandana
