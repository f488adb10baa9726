// Rounds of P5's algorithms on one core, with their environment: contexts, rewards, noise and learning.
// Targets with one theta: at d = 2, K = 10, 5 million rounds per second for ldp-sgd and 2 million for
// ldp-ols; at d = 20, K = 20, 250 thousand for both. ContextsInFull draws whole contexts and nothing else,
// for comparison.
#include <atomic>
#include <memory>
#include <string>

#include "bandana/bandit/worlds/user_rounds.h"
#include "bandana/core/check.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "benchmark/benchmark.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kHorizon = 500'000;

lab::Settings SettingsOf(const std::string& algorithm, Count dimension, Count arms, const std::string& more) {
  const std::string text = fmt::format(
      "horizon = {}\nenvironment = {{ kind = \"glm\", link = \"identity\", dimension = {}, actions = {} }}\n"
      "algorithm.name = \"{}\"\nprivacy = {{ model = \"local\", epsilon = 1.0, delta = 0.01 }}\n"
      "checkpoints = 1\n",
      kHorizon, dimension, arms, algorithm);
  lab::Overrides set;
  if (!more.empty()) set.push_back(more);
  const auto spec = lab::ParseSpec(text, "bench.toml", set);
  BANDANA_CHECK(spec.ok());
  return spec->points.front().settings;
}

void Rounds(benchmark::State& state, const std::string& algorithm, const std::string& more) {
  const lab::Settings settings = SettingsOf(algorithm, state.range(0), state.range(1), more);
  const std::atomic<bool> stop = false;
  Count rounds = 0;
  std::uint32_t replicate = 0;
  for (auto _ : state) {
    const auto outcome = lab::RunReplicate(settings, replicate++, stop);
    BANDANA_CHECK(outcome.ok());
    benchmark::DoNotOptimize(outcome->checkpoints.back().regret);
    rounds += kHorizon;
  }
  state.counters["rounds_per_second"] =
      benchmark::Counter(static_cast<double>(rounds), benchmark::Counter::kIsRate);
}

void ContextsInFull(benchmark::State& state) {
  const auto instance = lab::MakeInstance(SettingsOf("ldp-sgd", state.range(0), state.range(1), ""), 0);
  BANDANA_CHECK(instance.ok());
  auto& world = dynamic_cast<DrawnRounds&>(*instance->world);
  Count rounds = 0;
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) world.Next();
    rounds += 1000;
  }
  state.counters["rounds_per_second"] =
      benchmark::Counter(static_cast<double>(rounds), benchmark::Counter::kIsRate);
}

void Worlds(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({2, 10})->Args({20, 20})->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(Rounds, ldp_sgd, std::string("ldp-sgd"), std::string())->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_sgd_logistic, std::string("ldp-sgd"), std::string("environment.link=logistic"))
    ->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_ols, std::string("ldp-ols"), std::string())->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_ols_solved_every_round, std::string("ldp-ols"), std::string("algorithm.lazy=0"))
    ->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_ucb, std::string("ldp-ucb"), std::string())->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_gloc, std::string("ldp-gloc"), std::string())->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_sgd_multi, std::string("ldp-sgd"), std::string("environment.parameters=multi"))
    ->Apply(Worlds);
BENCHMARK_CAPTURE(Rounds, ldp_ols_multi, std::string("ldp-ols"), std::string("environment.parameters=multi"))
    ->Apply(Worlds);
BENCHMARK(ContextsInFull)->Apply(Worlds);

}  // namespace
}  // namespace bandana
