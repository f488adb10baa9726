// FedUCB's hot loop on one core, compared with the rate of multiply-adds that Eigen reaches in a 1000 x 1000
// product. `flops` counts K d (d + 1) + 2 K d per decision, whatever the code really does, and 2 n^3 per
// product. `of_gemm` is the ratio of the two rates. The product alternates with the loop, so that both see
// the same machine. Target: of_gemm >= 0.4 for DecideAndUpdate/double (local = raw: an update after every
// decision). Decide is local = released, where the index is set once per segment. Draw makes the decision
// sets; its counter `ns_an_arm` is in Decide's lines too.
#include <cstdint>
#include <ctime>
#include <string>
#include <type_traits>
#include <vector>

#include "bandana/algorithms/fed_ucb/optimistic_regression.h"
#include "bandana/algorithms/fed_ucb/ucb_index.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/check.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

/// Returns the CPU time of this thread, because others may share the core.
double CpuSeconds() {
  timespec time;
  BANDANA_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr Eigen::Index kSide = 1000;
constexpr double kProductFlops = 2.0 * kSide * kSide * kSide;

struct Product {
  Matrix a = Matrix::Random(kSide, kSide);
  Matrix b = Matrix::Random(kSide, kSide);
  Matrix c = Matrix::Zero(kSide, kSide);

  void Run() {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
  }
};

void Gemm(benchmark::State& state) {
  Product product;
  for (auto _ : state) product.Run();
  state.counters["flops"] = benchmark::Counter(kProductFlops, benchmark::Counter::kIsIterationInvariantRate,
                                               benchmark::Counter::kIs1000);
}
BENCHMARK(Gemm)->Unit(benchmark::kMillisecond);

constexpr Count kRounds = 16;

RoundContexts Contexts(Count dimension, Count arms, RoundLaw law = RoundLaw::kGap) {
  const bool gap = law == RoundLaw::kGap;
  auto contexts = RoundContexts::Create({.contexts = law,
                                         .dimension = dimension,
                                         .actions = arms,
                                         .reward = gap ? RewardKind::kBernoulli : RewardKind::kRademacher,
                                         .seed = 1});
  BANDANA_CHECK(contexts.ok());
  return *std::move(contexts);
}

/// One agent's loop over a block of rounds that does not change.
template <class Scalar>
class Agent {
 public:
  Agent(Count dimension, Count arms)
      : contexts_(Contexts(dimension, arms)),
        block_(kRounds, arms, dimension),
        regression_(dimension),
        x_(static_cast<std::size_t>(dimension)) {
    contexts_.Draw(NodeId{1}, 1, block_);
    Restart();
  }

  void Restart() {
    const Eigen::Index d = block_.dimension();
    BANDANA_CHECK(regression_.Reset(Matrix::Identity(d, d), Vector::Zero(d)).ok());
    index_.Set(regression_.inverse(), regression_.theta(), kBeta);
  }

  void Decide(bool update) {
    const Count round = round_++ % kRounds;
    const DecisionSet<Scalar> set = block_.set(round);
    const ArmId arm = index_.Best(set);
    benchmark::DoNotOptimize(arm);
    if (!update) return;
    for (Eigen::Index j = 0; j < set.dimension; ++j) x_[j] = set.at(arm, j);
    regression_.Add(x_.data(), contexts_.Reward(block_, round, arm));
    index_.Set(regression_.inverse(), regression_.theta(), kBeta);
  }

 private:
  static constexpr double kBeta = 0.5;
  RoundContexts contexts_;
  DecisionBlock<Scalar> block_;
  OptimisticRegression regression_;
  UcbIndex<Scalar> index_;
  std::vector<double> x_;
  Count round_ = 0;
};

/// Repeats one product, then decisions for about the same time.
template <class Scalar>
void Decisions(benchmark::State& state, bool update) {
  const auto d = state.range(0);
  const auto arms = state.range(1);
  Agent<Scalar> agent(d, arms);
  Product product;
  product.Run();
  const double flops = static_cast<double>(arms * d * (d + 1) + 2 * arms * d);
  const auto batch = static_cast<int>(kProductFlops / 2 / flops);
  double product_seconds = 0;
  double decision_seconds = 0;
  double products = 0;
  double decisions = 0;
  for (auto _ : state) {
    const double start = CpuSeconds();
    product.Run();
    const double middle = CpuSeconds();
    for (int i = 0; i < batch; ++i) agent.Decide(update);
    const double end = CpuSeconds();
    product_seconds += middle - start;
    decision_seconds += end - middle;
    products += 1;
    decisions += batch;
    state.SetIterationTime((end - middle) / batch);
  }
  const double rate = flops * decisions / decision_seconds;
  state.counters["flops"] =
      benchmark::Counter(rate, benchmark::Counter::kDefaults, benchmark::Counter::kIs1000);
  state.counters["of_gemm"] = rate / (kProductFlops * products / product_seconds);
  state.counters["ns_an_arm"] = 1e9 * decision_seconds / decisions / static_cast<double>(arms);
}

template <class Scalar>
void Draw(benchmark::State& state, RoundLaw law) {
  const RoundContexts contexts = Contexts(state.range(0), state.range(1), law);
  DecisionBlock<Scalar> block(kRounds, state.range(1), state.range(0));
  Count round = 1;
  const double start = CpuSeconds();
  for (auto _ : state) {
    contexts.Draw(NodeId{1}, round, block);
    round += kRounds;
  }
  const double contexts_drawn = static_cast<double>(state.iterations() * kRounds * state.range(1));
  state.counters["ns_an_arm"] = 1e9 * (CpuSeconds() - start) / contexts_drawn;
  state.SetItemsProcessed(static_cast<std::int64_t>(contexts_drawn));
}

template <class Scalar>
void Register(const std::string& scalar) {
  const auto sizes = [](benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"d", "K"})->Args({10, 100})->Args({20, 400})->Unit(benchmark::kMicrosecond);
  };
  sizes(benchmark::RegisterBenchmark(("DecideAndUpdate/" + scalar).c_str(),
                                     [](benchmark::State& state) { Decisions<Scalar>(state, true); })
            ->UseManualTime()
            ->Iterations(10));
  sizes(benchmark::RegisterBenchmark(("Decide/" + scalar).c_str(),
                                     [](benchmark::State& state) { Decisions<Scalar>(state, false); })
            ->UseManualTime()
            ->Iterations(10));
  sizes(benchmark::RegisterBenchmark(("Draw/gap/" + scalar).c_str(),
                                     [](benchmark::State& state) { Draw<Scalar>(state, RoundLaw::kGap); }));
  sizes(benchmark::RegisterBenchmark(("Draw/sphere/" + scalar).c_str(), [](benchmark::State& state) {
    Draw<Scalar>(state, RoundLaw::kSphere);
  }));
}

const int kRegistered = [] {
  Register<double>("double");
  Register<float>("float");
  return 0;
}();

}  // namespace
}  // namespace bandana
