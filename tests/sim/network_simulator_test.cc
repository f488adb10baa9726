#include "bandana/sim/network_simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/federation/graph_shapes.h"

namespace bandana::sim {
namespace {

using testing::ElementsAre;

// Sends a request to all neighbours in each of `ticks` ticks, plays once, and records from whom it hears, and
// when.
class Talker final : public NetworkPlayer {
 public:
  Talker(NodeId self, Epoch ticks, bool waits = false) : self_(self), ticks_(ticks), waits_(waits) {}

  absl::Status OnStart(Context&) override {
    ++starts;
    return absl::OkStatus();
  }
  absl::Status OnMessage(Context&, const Message& message) override {
    heard.emplace_back(tick_, message.from.value);
    EXPECT_EQ(std::get<Request>(message.body).epoch, tick_) << "what was sent in the tick before";
    return absl::OkStatus();
  }
  std::span<const Pull> Act(Context&) override { return pulls_; }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override {
    pulls_.clear();
    return absl::OkStatus();
  }
  absl::Status EndTick(Context& context) override {
    if (tick_ < ticks_) {
      for (const NodeId peer : context.links().peers) context.Send(peer, Request{tick_ + 1, NodeSet(8)});
    }
    ++tick_;
    return absl::OkStatus();
  }
  void OnSilence(Context&) override {
    silence = true;
    waits_ = false;
  }
  bool finished() const override { return tick_ > ticks_ && !waits_; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

  int starts = 0;
  bool silence = false;
  std::vector<std::pair<Epoch, std::uint32_t>> heard;

 private:
  NodeId self_;
  Epoch ticks_;
  bool waits_;
  Epoch tick_ = 0;
  std::vector<Pull> pulls_ = {{0, 2}};
};

struct Talk {
  Talk(const Graph& graph, const NetworkSimParams& params, bool waits = false)
      : traffic(graph), recorder(graph.nodes(), {2}) {
    const auto problem =
        std::make_shared<const ArmProblem>(ArmProblem::Alike({0.5, 0.75}, graph.nodes()).value());
    ArmWorld world = ArmWorld::Create({.problem = problem}).value();
    std::vector<NetworkPlayer*> players;
    for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
      talkers.push_back(std::make_unique<Talker>(NodeId{i}, 3, waits));
      players.push_back(talkers.back().get());
    }
    outcome = RunNetwork(params, graph, nullptr, players, world, recorder, traffic);
  }
  std::vector<std::unique_ptr<Talker>> talkers;
  Traffic traffic;
  RoundRecorder recorder;
  absl::StatusOr<NetworkRun> outcome = absl::UnknownError("");
};

TEST(NetworkSimulatorTest, MessagesTakeATickAndComeInTheOrderOfTheirSenders) {
  const Graph graph = CompleteGraph(3).value();
  const Talk talk(graph, {});
  ASSERT_TRUE(talk.outcome.ok());
  using Heard = std::pair<Epoch, std::uint32_t>;
  EXPECT_THAT(talk.talkers[1]->heard,
              ElementsAre(Heard{1, 1}, Heard{1, 3}, Heard{2, 1}, Heard{2, 3}, Heard{3, 1}, Heard{3, 3}));
  for (const auto& talker : talk.talkers) EXPECT_EQ(talker->starts, 1);
  EXPECT_EQ(talk.traffic.total().messages, 18);
  EXPECT_DOUBLE_EQ(talk.recorder.Checkpoints().back().regret, 3 * 2 * 0.25);
}

TEST(NetworkSimulatorTest, FailuresTakeMessagesAway) {
  const Graph graph = LineGraph(3).value();
  using Heard = std::pair<Epoch, std::uint32_t>;
  const Talk miss(graph, {.failures = {{Failure::Kind::kMiss, NodeId{1}, {}, 2}}});
  EXPECT_THAT(miss.talkers[1]->heard,
              ElementsAre(Heard{1, 1}, Heard{1, 3}, Heard{2, 3}, Heard{3, 1}, Heard{3, 3}));
  EXPECT_EQ(miss.outcome->lost_messages, 1);
  const Talk cut(graph, {.failures = {{Failure::Kind::kLink, NodeId{1}, NodeId{2}, 1}}});
  EXPECT_THAT(cut.talkers[1]->heard, ElementsAre(Heard{1, 1}, Heard{1, 3}, Heard{2, 3}, Heard{3, 3}));
  EXPECT_THAT(cut.talkers[0]->heard, ElementsAre(Heard{1, 2}));
  EXPECT_THAT(cut.outcome->lost_links, ElementsAre(Edge{NodeId{1}, NodeId{2}}));
  const Talk dead(graph, {.failures = {{Failure::Kind::kAgent, NodeId{1}, {}, 1}}});
  EXPECT_THAT(dead.talkers[1]->heard, ElementsAre(Heard{1, 1}, Heard{1, 3}, Heard{2, 3}, Heard{3, 3}));
  EXPECT_THAT(dead.outcome->lost_agents, ElementsAre(NodeId{1}));
  EXPECT_FALSE(dead.talkers[0]->finished());
}

TEST(NetworkSimulatorTest, WhoMissesIsACoinOfItsOwn) {
  const Graph graph = CompleteGraph(8).value();
  const Talk some(graph, {.seed = 1, .dropout = 0.5});
  EXPECT_EQ(some.outcome->lost_messages % 7, 0) << "all or nothing that one sends in a round";
  EXPECT_GT(some.outcome->lost_messages, 0);
  EXPECT_LT(some.outcome->lost_messages, 8 * 7 * 3);
  const Talk same(graph, {.seed = 1, .dropout = 0.5});
  EXPECT_EQ(same.outcome->lost_messages, some.outcome->lost_messages);
}

TEST(NetworkSimulatorTest, WhoWaitsForeverIsToldSo) {
  const Talk talk(LineGraph(2).value(), {}, true);
  ASSERT_TRUE(talk.outcome.ok());
  for (const auto& talker : talk.talkers) EXPECT_TRUE(talker->silence);
}

TEST(NetworkSimulatorTest, CanBeStopped) {
  const std::atomic<bool> stop = true;
  const Talk talk(LineGraph(2).value(), {.stop = &stop});
  EXPECT_EQ(talk.outcome.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace bandana::sim
