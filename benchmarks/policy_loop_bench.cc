// Learning from a batch of users whose contexts, arms and rewards are given, in C++: what a batch from Python
// (benchmarks/python/policies_bench.py, partial_fit) is compared with. Both have the same learner, the same
// sampler and the same bits: the lab's by a seed with the fast sampler, or the system's entropy with the
// exact one.
#include <memory>
#include <vector>

#include "bandana/algorithms/registry.h"
#include "bandana/algorithms/users/ldp_sgd.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/noise_door.h"
#include "bandana/federation/user_learner.h"
#include "bandana/sim/user_simulator.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

class EntropySeat final : public UserContext {
 public:
  explicit EntropySeat(NoiseGen& noise) : noise_(&noise) {}
  CoinGen& coin() override { std::abort(); }

 private:
  friend class bandana::Release;
  absl::Status ReleaseOnce(const DpGuarantee&, Count, LocalMessage&,
                           absl::FunctionRef<void(NoiseGen&)> draw) override {
    draw(*noise_);
    return absl::OkStatus();
  }
  NoiseGen* noise_;
};

template <bool kExact>
void BatchLoop(benchmark::State& state) {
  const Count d = state.range(0);
  const Count arms = state.range(1);
  constexpr Count kRows = 20'000;
  Facts facts{.horizon = Count{1} << 40, .people = Count{1} << 40, .arms = arms, .dimension = d};
  facts.reward_proxy = 0.5;
  const Privacy privacy{
      .model = TrustModel::kLocal, .epsilon = 1, .sampler = kExact ? Sampler::kExact : Sampler::kFast};
  const auto federation = Create("ldp-sgd", TimeModel::kUser, {}, privacy, facts);
  BANDANA_CHECK(federation.ok());
  const auto owned = std::get<UserRoles>(federation->roles).learner();
  LdpSgd& learner = dynamic_cast<UserLearnerOf<LdpSgd>&>(*owned).learner();
  LdpSgd::Device device = learner.MakeDevice();

  PhiloxSource bits({.seed = 1, .stream = Stream::kTest});
  CoinGen coin(bits);
  std::vector<double> contexts(static_cast<std::size_t>(kRows * arms * d));
  for (double& each : contexts) each = (2 * UniformUnit(coin) - 1) / std::sqrt(static_cast<double>(d));
  std::vector<ArmId> played(kRows);
  std::vector<double> rewards(kRows);
  for (Count i = 0; i < kRows; ++i) {
    played[static_cast<std::size_t>(i)] =
        static_cast<ArmId>(UniformBelow(static_cast<std::uint64_t>(arms), coin));
    rewards[static_cast<std::size_t>(i)] = UniformUnit(coin);
  }

  SecureSource entropy;
  NoiseGen noise = NoiseDoor::Open(entropy);
  RangeCounts counts;
  Count before = 0;
  for (auto _ : state) {
    for (Count i = 0; i < kRows; ++i, ++before) {
      const ArmId arm = played[static_cast<std::size_t>(i)];
      const double* x = contexts.data() + (i * arms + arm) * d;
      const Raw record(
          LocalRecord{{x, static_cast<std::size_t>(d)}, rewards[static_cast<std::size_t>(i)], arm});
      const auto report = [&](auto&& user) { BANDANA_CHECK(learner.Report(user, arm, record, device).ok()); };
      if constexpr (kExact) {
        report(EntropySeat(noise));
      } else {
        report(sim::UserSeat(7, 0, before, counts));
      }
      learner.Learn(device.message, 1);
    }
  }
  state.counters["rounds_per_second"] =
      benchmark::Counter(static_cast<double>(before), benchmark::Counter::kIsRate);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"d", "K"})
      ->Args({2, 10})
      ->Args({10, 20})
      ->Args({20, 20})
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK(BatchLoop<false>)->Name("PolicyBatchSeeded")->Apply(Sizes);
BENCHMARK(BatchLoop<true>)->Name("PolicyBatchExact")->Apply(Sizes);

}  // namespace
}  // namespace bandana
