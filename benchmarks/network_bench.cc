// P4's GIS in the simulator: in every communication round each peer of a graph gets everybody's sums of 100
// arms. Also a whole run of DDP-MAB. `messages` counts ADV, REQ and DATA per second on one core; `tallies`
// counts the tallies in them.
#include <atomic>
#include <memory>
#include <vector>

#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/core/check.h"
#include "bandana/federation/dissemination.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "bandana/privacy/arm_totals.h"
#include "bandana/privacy/wire.h"
#include "bandana/sim/network_simulator.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

constexpr Count kArms = 100;

// A peer that runs GIS only: it has sums, and does nothing with the sums of others.
class GisPeer final : public NetworkPlayer {
 public:
  GisPeer(const DisseminationClock& clock, NodeId self, Epoch rounds)
      : clock_(clock), spreading_(clock, self), rounds_(rounds) {
    ArmSums sums{.pulls = 1, .units = std::vector<std::int64_t>(kArms)};
    for (ArmId arm = 0; arm < kArms; ++arm) sums.arms.push_back(arm);
    own_ = std::make_shared<const Released<ArmSums>>(Wire::MakeArmSums(std::move(sums)));
  }
  absl::Status OnMessage(Context&, const Message& message) override { return spreading_.OnMessage(message); }
  std::span<const Pull> Act(Context&) override { return {}; }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override { return absl::OkStatus(); }
  absl::Status EndTick(Context& context) override {
    if (tick_ == clock_.Slots(epoch_) * 3) {
      BANDANA_CHECK(epoch_ == 0 || spreading_.have().size() == clock_.graph().nodes());
      if (++epoch_ > rounds_) return absl::OkStatus();
      spreading_.Begin(epoch_, own_);
      tick_ = 0;
    }
    spreading_.EndTick(context, tick_++, epoch_);
    return absl::OkStatus();
  }
  void OnSilence(Context&) override { epoch_ = rounds_ + 1; }
  bool finished() const override { return epoch_ > rounds_; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

 private:
  const DisseminationClock& clock_;
  Dissemination spreading_;
  ReleasedArms own_;
  Epoch rounds_;
  Epoch epoch_ = 0;
  int tick_ = 0;
};

Graph Of(int shape, Count nodes) {
  if (shape == 0) return RingGraph(nodes).value();
  if (shape == 1) return GridGraph(nodes).value();
  if (shape == 2) return CompleteGraph(nodes).value();
  PhiloxSource bits({.seed = 1});
  CoinGen coin(bits);
  return RegularGraph(nodes, 10, coin).value();
}

void Gis(benchmark::State& state) {
  static const char* const kNames[] = {"ring", "grid", "complete", "10-regular"};
  const Graph graph = Of(static_cast<int>(state.range(0)), state.range(1));
  state.SetLabel(kNames[state.range(0)]);
  const DisseminationClock clock(graph, Protocol::kGis, 0, 1);
  const auto problem = std::make_shared<const ArmProblem>(ArmProblem::Alike({0.5}, graph.nodes()).value());
  ArmWorld world = ArmWorld::Create({.problem = problem}).value();
  Count messages = 0;
  Count reals = 0;
  for (auto _ : state) {
    std::vector<std::unique_ptr<GisPeer>> peers;
    std::vector<NetworkPlayer*> players;
    for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
      peers.push_back(std::make_unique<GisPeer>(clock, NodeId{i}, 3));
      players.push_back(peers.back().get());
    }
    RoundRecorder recorder(graph.nodes(), {1});
    Traffic traffic(graph);
    BANDANA_CHECK(sim::RunNetwork({}, graph, nullptr, players, world, recorder, traffic).ok());
    messages += traffic.total().messages;
    reals += traffic.total().reals;
  }
  state.counters["messages"] = benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
  state.counters["tallies"] =
      benchmark::Counter(static_cast<double>(reals) / kArms, benchmark::Counter::kIsRate);
}
BENCHMARK(Gis)
    ->Args({0, 50})
    ->Args({0, 500})
    ->Args({1, 400})
    ->Args({2, 50})
    ->Args({3, 200})
    ->Args({3, 2000})
    ->Unit(benchmark::kMillisecond);

// The setting of the project's issue: 2000 agents on a random graph, 100 arms, 10^6 slots.
void DdpMab(benchmark::State& state) {
  const auto spec = lab::ParseSpec(R"(horizon = 1_000_000
environment = { kind = "mab", actions = 100 }
algorithm.name = "ddp-mab"
federation = { agents = 2000, topology = "regular", degree = 10 }
privacy = { model = "peer", epsilon = 1.0 }
)",
                                   "bench.toml", {});
  const std::atomic<bool> stop = false;
  for (auto _ : state) benchmark::DoNotOptimize(lab::RunReplicate(spec->points.front().settings, 0, stop));
}
BENCHMARK(DdpMab)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace bandana
