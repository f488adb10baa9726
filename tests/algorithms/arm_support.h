#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bandana/algorithms/arms/ddp_mab.h"
#include "bandana/algorithms/arms/hdp_mab.h"
#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/sim/network_simulator.h"
#include "gtest/gtest.h"

namespace bandana::test {

/// A setting of P4's algorithms. Without an epsilon there is no noise.
struct ArmSetting {
  Count horizon = 20'000;
  Count agents = 6;
  std::vector<double> means = {0.9, 0.1, 0.5, 0.7, 0.2};
  std::optional<double> epsilon;
  std::optional<double> failure;
  Width width = Width::kExact;
  std::optional<Count> rounds;
  std::optional<double> gap;
  Overrun overrun = Overrun::kBest;
  std::uint64_t seed = 3;
  std::vector<Failure> failures;
  double dropout = 0;
};

/// Writes down what an agent pulls and is told.
template <class Watched>
class WatchedRole final : public NetworkPlayer {
 public:
  template <class... Arguments>
  explicit WatchedRole(Arguments&&... arguments) : role(std::forward<Arguments>(arguments)...) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    messages.push_back(message);
    return role.OnMessage(context, message);
  }
  std::span<const Pull> Act(Context& context) override {
    const auto next = role.Act(context);
    pulls.insert(pulls.end(), next.begin(), next.end());
    return next;
  }
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    return role.Observe(context, rewards);
  }
  absl::Status EndTick(Context& context) override { return role.EndTick(context); }
  void OnSilence(Context& context) override { role.OnSilence(context); }
  bool finished() const override { return role.finished(); }
  bool waiting() const override { return role.waiting(); }
  std::string Save() const override { return role.Save(); }
  absl::Status Restore(std::string_view saved) override { return role.Restore(saved); }

  Watched role;
  std::vector<Pull> pulls;
  std::vector<Message> messages;
};

/// Joins consecutive pulls of the same arm into one.
inline std::vector<Pull> Runs(const std::vector<Pull>& pulls) {
  std::vector<Pull> runs;
  for (const Pull& pull : pulls) {
    if (!runs.empty() && runs.back().arm == pull.arm) {
      runs.back().count += pull.count;
    } else {
      runs.push_back(pull);
    }
  }
  return runs;
}

/// One run of P4's algorithms and its results.
class ArmRun {
 public:
  using Peer = WatchedRole<DdpMabPeer>;
  using Worker = WatchedRole<HdpMabAgent>;

  ArmRun(const ArmSetting& setting, Graph network)
      : setting_(setting),
        graph(std::move(network)),
        traffic(graph),
        problem_(
            std::make_shared<const ArmProblem>(ArmProblem::Alike(setting.means, setting.agents).value())),
        privatizer_(MakePrivatizer(setting)),
        recorder(setting.agents, {setting.horizon}) {}

  ArmRun(const ArmRun&) = delete;
  ArmRun& operator=(const ArmRun&) = delete;

  /// Runs peers, by default with GIS. Each reports alone if the graph has no edges.
  void RunPeers(Protocol protocol = Protocol::kGis, int slack = 0) {
    schedule_ = MakeSchedule(graph.edges() == 0 ? 1 : setting_.agents);
    clock_.emplace(graph, protocol, slack, setting_.seed);
    std::vector<NetworkPlayer*> players;
    for (std::uint32_t i = 1; i <= setting_.agents; ++i) {
      peers.push_back(std::make_unique<Peer>(NodeId{i}, *schedule_, *clock_, privatizer_));
      players.push_back(peers.back().get());
    }
    Run(nullptr, players);
  }

  /// Runs a server and its agents. `participants` components report in a sync.
  void RunServer(Aggregation aggregation = Aggregation::kWeighted,
                 std::optional<Count> participants = std::nullopt) {
    std::vector<Count> sizes;
    for (const auto& component : Components(graph)) sizes.push_back(static_cast<Count>(component.size()));
    std::sort(sizes.begin(), sizes.end());
    const Count drawn = participants.value_or(static_cast<Count>(sizes.size()));
    schedule_ = MakeSchedule(std::accumulate(sizes.begin(), sizes.begin() + drawn, Count{0}));
    server = std::make_unique<HdpMabServer>(HdpMabServerParams{aggregation, drawn}, *schedule_, graph);
    std::vector<NetworkPlayer*> players;
    for (std::uint32_t i = 1; i <= setting_.agents; ++i) {
      workers.push_back(std::make_unique<Worker>(NodeId{i}, setting_.agents, problem_->arms(),
                                                 setting_.horizon, privatizer_));
      players.push_back(workers.back().get());
    }
    Run(server.get(), players);
  }

  std::vector<std::vector<Pull>> pulls() const {
    std::vector<std::vector<Pull>> all;
    for (const auto& peer : peers) all.push_back(Runs(peer->pulls));
    for (const auto& worker : workers) all.push_back(Runs(worker->pulls));
    return all;
  }
  double regret() const { return recorder.Checkpoints().back().regret; }
  const DisseminationClock& clock() const { return *clock_; }
  const ArmSchedule& schedule() const { return *schedule_; }

 private:
  static SiloArmSums MakePrivatizer(const ArmSetting& setting) {
    if (!setting.epsilon.has_value()) return SiloArmSums::CreateBare({0, 1}, Declassify("a test")).value();
    return SiloArmSums::Create({.epsilon = *setting.epsilon,
                                .calibration = Calibration::kTight,
                                .sampler = Sampler::kFast,
                                .rewards = {0, 1},
                                .reporting = setting.agents})
        .value();
  }

  ArmSchedule MakeSchedule(Count reporting) const {
    return ArmSchedule::Create({.horizon = setting_.horizon,
                                .arms = problem_->arms(),
                                .reporting = reporting,
                                .noise_scale = privatizer_.noise_scale(),
                                .width = setting_.width,
                                .failure = setting_.failure,
                                .rounds = setting_.rounds,
                                .gap = setting_.gap,
                                .overrun = setting_.overrun})
        .value();
  }

  void Run(NetworkPlayer* top, const std::vector<NetworkPlayer*>& players) {
    ArmWorld world = ArmWorld::Create({.problem = problem_, .seed = setting_.seed}).value();
    const auto outcome = sim::RunNetwork({.seed = setting_.seed,
                                          .budget_per_agent = privatizer_.guarantee(),
                                          .failures = setting_.failures,
                                          .dropout = setting_.dropout},
                                         graph, top, players, world, recorder, traffic);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    losses = *outcome;
  }

  ArmSetting setting_;

 public:
  Graph graph;
  Traffic traffic;
  sim::NetworkRun losses;
  std::unique_ptr<HdpMabServer> server;
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<std::unique_ptr<Worker>> workers;

 private:
  std::shared_ptr<const ArmProblem> problem_;
  SiloArmSums privatizer_;
  std::optional<ArmSchedule> schedule_;
  std::optional<DisseminationClock> clock_;

 public:
  RoundRecorder recorder;
};

}  // namespace bandana::test
