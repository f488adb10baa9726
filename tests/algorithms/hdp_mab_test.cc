#include "bandana/algorithms/arms/hdp_mab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "bandana/federation/graph_shapes.h"
#include "tests/algorithms/arm_support.h"
#include "tests/federation/graph_support.h"

namespace bandana {
namespace {

using test::ArmRun;
using test::ArmSetting;
using testing::ElementsAre;
using testing::HasSubstr;

Graph Apart(Count agents) { return Graph::Create(agents, {}).value(); }

Graph Joined(const std::vector<Graph>& graphs) { return JoinComponents(graphs).value(); }

TEST(HdpMabTest, AServerAndItsWorkersFindTheBestArm) {
  const ArmSetting setting{.epsilon = 1};
  ArmRun run(setting, Apart(6));
  run.RunServer();
  EXPECT_THAT(run.server->history().back().arms, ElementsAre(0));
  const auto rounds = static_cast<Count>(run.server->history().size());
  EXPECT_EQ(run.traffic.total().links_server, 6 * rounds);
  EXPECT_EQ(run.traffic.total().links_peer, 0);
  EXPECT_EQ(run.traffic.total().slots, rounds);
  for (const auto& worker : run.workers) {
    EXPECT_EQ(worker->role.agent().waited(), 0);
    EXPECT_EQ(worker->role.agent().clock(), setting.horizon);
    EXPECT_EQ(worker->pulls.back().arm, 0);
  }
}

// The three structures make the same decisions without noise and with it, because all sums are whole numbers.
TEST(HdpMabTest, ThreeStructuresAreOneWhereNothingTakesTime) {
  for (const std::optional<double> epsilon : {std::optional<double>(), std::optional(0.7)}) {
    const ArmSetting setting{.agents = 9, .means = {0.52, 0.1, 0.5, 0.49, 0.2}, .epsilon = epsilon};
    ArmRun cdp(setting, Apart(9));
    cdp.RunServer();
    ArmRun ddp(setting, CompleteGraph(9).value());
    ddp.RunPeers();
    ArmRun hdp(setting, Joined(std::vector<Graph>(9, Apart(1))));
    hdp.RunServer();
    EXPECT_EQ(cdp.pulls(), ddp.pulls());
    EXPECT_EQ(cdp.pulls(), hdp.pulls());
    ArmRun pairs(setting,
                 Joined({CompleteGraph(2).value(), CompleteGraph(4).value(), CompleteGraph(3).value()}));
    pairs.RunServer();
    EXPECT_EQ(cdp.pulls(), pairs.pulls()) << "one hop takes no waiting, and weights are by agents";
    ASSERT_GT(cdp.server->history().size(), 2u);
  }
}

TEST(HdpMabTest, SinksCollectAlongTheShortestWays) {
  const ArmSetting setting{.agents = 12};
  ArmRun run(setting, Joined({LineGraph(5).value(), StarGraph(4).value(), RingGraph(3).value()}));
  run.RunServer();
  EXPECT_THAT(run.server->routes().sinks, ElementsAre(NodeId{3}, NodeId{6}, NodeId{10}));
  EXPECT_EQ(run.server->routes().hops, 2);
  const auto rounds = static_cast<Count>(run.server->history().size());
  for (const ArmRound& round : run.server->history()) EXPECT_EQ(round.agents, 12);
  for (const auto& worker : run.workers)
    EXPECT_EQ(worker->role.agent().waited(), rounds) << "two slots, one of waiting";
  EXPECT_EQ(run.traffic.total().links_server, 3 * rounds);
  // Links per round: the line uses four in the first slot and two in the second, the star 3, the ring 2.
  EXPECT_EQ(run.traffic.total().links_peer, (4 + 2 + 3 + 2) * rounds);
  EXPECT_EQ(run.traffic.total().slots, 2 * rounds);
}

RC_GTEST_PROP(HdpMabTest, WaitsForTheEccentricityLessOne, ()) {
  Graph graph = test::AnyGraph(10);
  ArmSetting setting{.horizon = 4000, .agents = graph.nodes(), .means = {0.2, 0.9, 0.5}, .epsilon = 2.0};
  setting.seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  ArmRun run(setting, std::move(graph));
  run.RunServer();
  const auto rounds = static_cast<Count>(run.server->history().size());
  for (const ArmRound& round : run.server->history()) RC_ASSERT(round.agents == setting.agents);
  for (const auto& worker : run.workers) {
    RC_ASSERT(worker->role.agent().waited() == std::max(0, run.server->routes().hops - 1) * rounds);
    RC_ASSERT(worker->role.agent().clock() == setting.horizon);
  }
}

TEST(HdpMabTest, SomeReportInARoundAndWhoDidNotReportsAllLater) {
  const ArmSetting setting{.horizon = 400'000, .agents = 10, .means = {0.52, 0.51, 0.5, 0.1}, .epsilon = 1};
  ArmRun run(setting, Apart(10));
  run.RunServer(Aggregation::kWeighted, 4);
  const auto rounds = static_cast<Count>(run.server->history().size());
  ASSERT_GT(rounds, 3);
  EXPECT_EQ(run.traffic.total().links_server, 4 * rounds);
  for (const ArmRound& round : run.server->history()) EXPECT_EQ(round.agents, 4);
  EXPECT_EQ(run.server->new_sinks(), 0) << "nobody is missing";
  EXPECT_EQ(run.server->history().back().best, 0);
}

TEST(HdpMabTest, SomeComponentsReportInARound) {
  const ArmSetting setting{.horizon = 400'000, .agents = 9, .means = {0.52, 0.51, 0.5, 0.1}, .epsilon = 1};
  const std::vector<Graph> parts = {LineGraph(2).value(), LineGraph(3).value(), LineGraph(4).value()};
  ArmRun run(setting, Joined(parts));
  run.RunServer(Aggregation::kWeighted, 2);
  const auto rounds = static_cast<Count>(run.server->history().size());
  ASSERT_GT(rounds, 3);
  EXPECT_EQ(run.traffic.total().links_server, 2 * rounds);
  EXPECT_EQ(run.schedule().params().reporting, 5) << "the two smallest";
  std::set<Count> heard;
  for (const ArmRound& round : run.server->history()) heard.insert(round.agents);
  EXPECT_GT(heard.size(), 1u) << "who is drawn changes";
  for (const Count agents : heard) EXPECT_TRUE(agents == 5 || agents == 6 || agents == 7) << agents;
  EXPECT_EQ(run.server->new_sinks(), 0) << "nobody is missing";
  EXPECT_EQ(run.server->history().back().best, 0);
  for (const auto& worker : run.workers) EXPECT_EQ(worker->role.agent().clock(), setting.horizon);
}

TEST(HdpMabTest, AnExplorationThatDoesNotFitIsBegunIfThePaperIsFollowed) {
  ArmSetting setting{.horizon = 1'000, .agents = 3, .means = {0.6, 0.5, 0.5}};
  setting.overrun = Overrun::kExplore;
  for (const bool server : {true, false}) {
    ArmRun run(setting, server ? Apart(3) : CompleteGraph(3).value());
    server ? run.RunServer() : run.RunPeers();
    ASSERT_EQ(
        server ? run.server->history().back().arms.size() : run.peers[0]->role.history().back().arms.size(),
        3u)
        << "nothing can be told apart so soon";
    for (const std::vector<Pull>& pulls : run.pulls()) {
      std::vector<Count> count(3);
      for (const Pull& pull : pulls) count[static_cast<std::size_t>(pull.arm)] += pull.count;
      EXPECT_THAT(count, ElementsAre(334, 333, 333));
    }
    setting.overrun = Overrun::kBest;
    ArmRun best(setting, server ? Apart(3) : CompleteGraph(3).value());
    server ? best.RunServer() : best.RunPeers();
    EXPECT_GT(best.pulls()[0].back().count, 333) << "the best arm so far is pulled to the end";
    EXPECT_EQ(best.traffic.total().rounds, run.traffic.total().rounds) << "no more is released";
    setting.overrun = Overrun::kExplore;
  }
}

TEST(HdpMabTest, AFirstExplorationThatDoesNotFitReleasesNothingIfThePaperIsFollowed) {
  ArmSetting setting{.horizon = 100, .agents = 2, .means = {0.9, 0.1, 0.5}, .width = Width::kPaper};
  setting.overrun = Overrun::kExplore;
  ArmRun run(setting, Apart(2));
  run.RunServer();
  EXPECT_EQ(run.traffic.total().rounds, 0);
  EXPECT_DOUBLE_EQ(run.regret(), 2 * (33 * 0.8 + 33 * 0.4));
}

TEST(HdpMabTest, ADeadSinkIsReplaced) {
  ArmSetting setting{.horizon = 400'000, .agents = 9, .means = {0.52, 0.51, 0.5, 0.1}, .epsilon = 1};
  setting.failures = {{Failure::Kind::kAgent, NodeId{2}, {}, 1}};  // this agent is the sink of the line 1-2-3
  ArmRun run(setting, Joined({LineGraph(3).value(), CompleteGraph(6).value()}));
  run.RunServer();
  const auto& history = run.server->history();
  ASSERT_GT(history.size(), 3u);
  EXPECT_EQ(history[0].agents, 9);
  EXPECT_EQ(history[1].agents, 6) << "the whole line is silent";
  EXPECT_EQ(history[2].agents, 8) << "1 and 3 speak for themselves";
  EXPECT_THAT(run.server->routes().sinks, ElementsAre(NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}));
  EXPECT_GE(run.server->new_sinks(), 1);
  EXPECT_EQ(history.back().best, 0);
  for (std::uint32_t i = 1; i <= 9; ++i) {
    if (i == 2) continue;
    EXPECT_EQ(run.workers[i - 1]->role.agent().clock(), setting.horizon);
  }
}

TEST(HdpMabTest, ACutLinkGetsTheOtherSideASinkOfItsOwn) {
  ArmSetting setting{.horizon = 400'000, .agents = 8, .means = {0.52, 0.51, 0.5, 0.1}, .epsilon = 1};
  setting.failures = {{Failure::Kind::kLink, NodeId{4}, NodeId{5}, 1}};
  ArmRun run(setting, LineGraph(8).value());
  run.RunServer();
  const auto& history = run.server->history();
  ASSERT_GT(history.size(), 5u);
  EXPECT_LT(history[1].agents, 8);
  EXPECT_EQ(history[2].agents, 8) << "two sinks";
  EXPECT_LT(history[3].agents, 8) << "it may have been an accident";
  for (std::size_t r = 4; r < history.size(); ++r) EXPECT_EQ(history[r].agents, 8) << "it was not";
  EXPECT_EQ(run.server->routes().sinks.size(), 2u);
}

TEST(HdpMabTest, AWorkerWithoutItsServerPlaysOnByItself) {
  ArmSetting setting{.agents = 5, .means = {0.52, 0.5, 0.48, 0.1}};
  setting.failures = {{Failure::Kind::kLink, kServerNode, NodeId{2}, 1}};
  ArmRun run(setting, Apart(5));
  run.RunServer();
  for (const auto& worker : run.workers) EXPECT_EQ(worker->role.agent().clock(), setting.horizon);
  ASSERT_GT(run.server->history().size(), 1u);
  EXPECT_EQ(run.server->history()[1].agents, 4);
}

TEST(HdpMabTest, ARoundWithoutAnybodyIsAnotherTry) {
  ArmSetting setting{.agents = 2, .means = {0.9, 0.1}};
  setting.failures = {{Failure::Kind::kMiss, NodeId{1}, {}, 1}, {Failure::Kind::kMiss, NodeId{2}, {}, 1}};
  ArmRun run(setting, Apart(2));
  run.RunServer();
  EXPECT_EQ(run.server->history().front().agents, 0);
  EXPECT_EQ(run.server->history().front().arms.size(), 2u) << "nothing is known";
  EXPECT_EQ(run.server->history()[1].agents, 2);
  EXPECT_EQ(run.server->history().back().best, 0);
}

struct NoContext final : Context {
  const Links& links() const override { return none; }
  void Send(NodeId, Payload) override {}
  void Play(std::span<const Pull>) override {}
  CoinGen& coin(Epoch) override { std::abort(); }
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey&, const Charge&,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)>) override {
    return absl::UnimplementedError("");
  }
  Links none;
};

TEST(HdpMabTest, NonsenseIsNamed) {
  const SiloArmSums bare = SiloArmSums::CreateBare({0, 1}, Declassify("a test")).value();
  const auto told = [&](ArmPlan plan, NodeId from = kServerNode) {
    HdpMabAgent agent(NodeId{1}, 2, 3, 100, bare);
    NoContext context;
    return std::string(
        agent.OnMessage(context, {from, from, 0, 0, std::make_shared<const ArmPlan>(std::move(plan))})
            .message());
  };
  const ArmPlan good{.epoch = 1, .arms = {0, 2}, .pulls = 50, .upstream = {kServerNode, kServerNode}};
  const auto with = [&](auto change) {
    ArmPlan plan = good;
    change(plan);
    return plan;
  };
  EXPECT_EQ(told(good), "");
  {
    HdpMabAgent agent(NodeId{1}, 2, 3, 100, bare);
    NoContext context;
    const auto tell = [&](ArmPlan plan) {
      return agent.OnMessage(
          context, {kServerNode, kServerNode, 0, 0, std::make_shared<const ArmPlan>(std::move(plan))});
    };
    EXPECT_TRUE(tell(good).ok());
    ArmPlan next = good;
    next.epoch = 2;
    next.pulls = 1;
    EXPECT_THAT(std::string(tell(next).message()), HasSubstr("while another one")) << "it is busy";
  }
  EXPECT_THAT(told(good, NodeId{2}), HasSubstr("not from the server"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.arms = {}; })), HasSubstr("arms"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.arms = {0, 3}; })), HasSubstr("arms"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.arms = {2, 0}; })), HasSubstr("arms"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.pulls = 51; })), HasSubstr("51 pulls"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.pulls = -1; })), HasSubstr("-1 pulls"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.hops = -1; })), HasSubstr("malformed"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.clock = 1; })), HasSubstr("at slot 1"));
  EXPECT_THAT(told(with([](ArmPlan& p) { p.upstream.pop_back(); })), HasSubstr("next hop"));
}

}  // namespace
}  // namespace bandana
