// Messages of users in the local model, from Philox (the lab). Targets: 40 ns per gradient in the plane for
// Duchi's randomizer and for PrivUnit at any epsilon, and 2 to 3 ns per entry of regression statistics.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/noise_door.h"
#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

constexpr std::size_t kUsers = 256;

struct Users {
  explicit Users(std::size_t dimension) : contexts(kUsers, std::vector<double>(dimension)), rewards(kUsers) {
    PhiloxSource source({.seed = 2, .stream = Stream::kContext});
    CoinGen gen(source);
    for (std::size_t i = 0; i < kUsers; ++i) {
      double squares = 0;
      for (double& x : contexts[i]) {
        x = StandardNormal(gen);
        squares += x * x;
      }
      for (double& x : contexts[i]) x /= std::sqrt(squares);
      rewards[i] = UniformUnit(gen);
    }
  }
  Raw<LocalRecord> operator[](std::size_t i) const {
    return Raw(LocalRecord{contexts[i % kUsers], rewards[i % kUsers], static_cast<ArmId>(i % 2)});
  }
  std::vector<std::vector<double>> contexts;
  std::vector<double> rewards;
};

void Gradients(benchmark::State& state, L2BallRandomizer randomizer, Sampler sampler, Count slots) {
  const auto d = static_cast<std::size_t>(state.range(0));
  const LocalGradient mechanism = LocalGradient::Create({.epsilon = static_cast<double>(state.range(1)),
                                                         .randomizer = randomizer,
                                                         .sampler = sampler,
                                                         .calibration = Calibration::kTight,
                                                         .dimension = state.range(0),
                                                         .slots = slots,
                                                         .slot_budget = SlotBudget::kFull,
                                                         .context_norm = 1,
                                                         .rewards = {0, 1},
                                                         .means = {0, 1},
                                                         .out_of_range = OutOfRange::kClip})
                                      .value();
  const Users users(d);
  const std::vector<double> theta(d, 0.1);
  const auto predict = [&](std::span<const double> x) {
    return 0.5 + Dot(x.data(), theta.data(), static_cast<Eigen::Index>(d));
  };
  PhiloxSource source({.seed = 1, .stream = Stream::kPrivacy});
  NoiseGen noise = NoiseDoor::Open(source);
  LocalMessage message;
  std::size_t i = 0;
  for (auto _ : state) {
    mechanism.Answer(GradientQuestion{users[i++], predict}, noise, message, nullptr);
    benchmark::DoNotOptimize(message.entries().data());
  }
  state.SetItemsProcessed(state.iterations());
}

void Statistics(benchmark::State& state, Sampler sampler, Count crowd_size) {
  const auto d = static_cast<std::size_t>(state.range(0));
  const LocalRegression mechanism = LocalRegression::Create({.nominal = {1, 0.1},
                                                             .calibration = Calibration::kTight,
                                                             .sampler = sampler,
                                                             .dimension = state.range(0),
                                                             .slot_budget = SlotBudget::kFull,
                                                             .context_norm = 1,
                                                             .rewards = {0, 1},
                                                             .side_bounds = {1},
                                                             .side_weights = {1},
                                                             .out_of_range = OutOfRange::kClip})
                                        .value();
  const Users users(d);
  const auto sides = [](std::span<const double>, double r, std::span<double> out) { out[0] = r; };
  PhiloxSource source({.seed = 1, .stream = Stream::kPrivacy});
  NoiseGen noise = NoiseDoor::Open(source);
  LocalMessage message;
  SealedStatistics statistics(mechanism);
  std::size_t i = 0;
  for (auto _ : state) {
    for (Count user = 0; user < crowd_size; ++user) mechanism.Record(users[i++], sides, statistics);
    mechanism.Answer({statistics}, noise, message, nullptr);
    benchmark::DoNotOptimize(message.entries().data());
  }
  state.SetItemsProcessed(state.iterations() * crowd_size);
}

constexpr auto kDuchi = L2BallRandomizer::kDuchi;
constexpr auto kPrivUnit = L2BallRandomizer::kPrivUnit;

BENCHMARK_CAPTURE(Gradients, duchi_fast, kDuchi, Sampler::kFast, 1)->ArgsProduct({{1, 2, 20}, {1}});
BENCHMARK_CAPTURE(Gradients, privunit_fast, kPrivUnit, Sampler::kFast, 1)
    ->ArgsProduct({{2, 3, 20}, {1, 4, 10}});
BENCHMARK_CAPTURE(Gradients, privunit_fast_10_slots, kPrivUnit, Sampler::kFast, 10)
    ->ArgsProduct({{2, 10}, {1}});
BENCHMARK_CAPTURE(Gradients, duchi_exact, kDuchi, Sampler::kExact, 1)->ArgsProduct({{2, 20}, {1}});
BENCHMARK_CAPTURE(Gradients, privunit_exact, kPrivUnit, Sampler::kExact, 1)->ArgsProduct({{2, 20}, {1, 4}});
BENCHMARK_CAPTURE(Statistics, fast, Sampler::kFast, 1)->Arg(2)->Arg(20);
BENCHMARK_CAPTURE(Statistics, fast_crowd_of_64, Sampler::kFast, 64)->Arg(2)->Arg(20);
BENCHMARK_CAPTURE(Statistics, exact, Sampler::kExact, 1)->Arg(2)->Arg(20);

}  // namespace
}  // namespace bandana
