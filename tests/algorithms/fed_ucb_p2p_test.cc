#include "bandana/algorithms/fed_ucb/fed_ucb_p2p.h"

#include <map>
#include <set>
#include <tuple>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/federation/clique_cover.h"
#include "bandana/federation/graph_shapes.h"
#include "gmock/gmock.h"
#include "tests/algorithms/fed_ucb_support.h"
#include "tests/federation/hand_context.h"

namespace bandana {
namespace {

using Peer = Spy<FedUcbPeer<RegressionPrefixSum, double>>;

struct PeerRun {
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<Checkpoint> checkpoints;
  Cliques cliques;
  // The peers hold references to these.
  std::unique_ptr<RegressionPrefixSum> privatizer;
  std::unique_ptr<SyncSchedule> schedule;
  std::vector<std::unique_ptr<FedUcbWidth>> widths;

  std::vector<std::vector<ArmId>> arms() const {
    std::vector<std::vector<ArmId>> arms;
    for (const auto& peer : peers) arms.push_back(peer->arms);
    return arms;
  }
};

PeerRun RunOnGraph(const FedSetting& setting, const Graph& graph, const std::vector<Failure>& failures = {}) {
  PeerRun run{.cliques = CliqueCover(graph.Power(setting.gamma)),
              .privatizer = std::make_unique<RegressionPrefixSum>(PrivatizerOf(setting)),
              .schedule = std::make_unique<SyncSchedule>(ScheduleOf(setting))};
  run.peers.resize(static_cast<std::size_t>(graph.nodes()));
  for (const auto& clique : run.cliques) {
    const auto silos = static_cast<Count>(clique.size());
    run.widths.push_back(std::make_unique<FedUcbWidth>(WidthOf(setting, silos)));
    for (const NodeId node : clique) {
      run.peers[node.value - 1] = std::make_unique<Peer>(
          FedUcbPeerParams{.horizon = setting.horizon,
                           .clique = clique,
                           .gamma = setting.gamma,
                           .first_noise = run.privatizer->noise() * std::sqrt(static_cast<double>(silos))},
          *run.schedule, *run.widths.back(), *run.privatizer);
    }
  }
  RoundContexts contexts = ContextsOf(setting);
  const Federation federation{.roles = RoundRoles{.agent = Lend(run.peers)},
                              .topology = Topology::Peers(graph),
                              .budget = BudgetOf(setting)};
  run.checkpoints = Simulate(federation, contexts, {.seed = 11, .failures = failures})->checkpoints;
  return run;
}

TEST(FedUcbPeerTest, OnACompleteGraphItIsCentralizedBarOneRoundOfDelay) {
  FedSetting setting{.horizon = 150, .agents = 4, .schedule = {.sync = Sync::kBatch, .batch = 9}};
  const PeerRun run = RunOnGraph(setting, CompleteGraph(4).value());
  // Sums that are released after round s arrive in round s + 1 and are used from round s + 2 on.
  const auto expected =
      PooledLinUcb(setting, run.arms(), [](Count t) { return t < 3 ? 0 : (t - 2) / 9 * 9; });
  EXPECT_EQ(Differences(run.arms(), expected), 0);
}

TEST(FedUcbPeerTest, WithNoiseCliqueMembersDecideByTheSameSums) {
  FedSetting setting{
      .horizon = 150, .agents = 4, .schedule = {.sync = Sync::kBatch, .batch = 9}, .epsilon = 3};
  const PeerRun run = RunOnGraph(setting, CompleteGraph(4).value());
  for (const auto& peer : run.peers) {
    EXPECT_EQ(peer->role().policy(0).regression().theta(),
              run.peers[0]->role().policy(0).regression().theta());
    EXPECT_EQ(peer->role().policy(0).regression().gram(), run.peers[0]->role().policy(0).regression().gram());
  }
}

TEST(FedUcbPeerTest, MessagesArriveAfterTheirDistanceAndNoFurtherThanGamma) {
  FedSetting setting{.horizon = 60, .agents = 9, .schedule = {.sync = Sync::kBatch, .batch = 4}, .gamma = 3};
  for (const Graph& graph : {RingGraph(9).value(), LineGraph(9).value(), GridGraph(9).value()}) {
    const PeerRun run = RunOnGraph(setting, graph);
    for (std::uint32_t i = 1; i <= 9; ++i) {
      // The round of the first arrival of each bulletin.
      std::map<std::tuple<NodeId, int, std::int64_t>, Count> first;
      for (const Peer::Arrival& arrival : run.peers[i - 1]->arrivals) {
        const auto& bulletin = std::get<Bulletin>(arrival.message.body);
        first.try_emplace({bulletin.origin, bulletin.group, bulletin.sums->value().step}, arrival.round);
      }
      std::size_t expected = 0;
      for (std::uint32_t j = 1; j <= 9; ++j) {
        const int distance = graph.distance(NodeId{i}, NodeId{j});
        if (i == j || distance > setting.gamma) continue;
        for (int group = 0; group < setting.gamma; ++group) {
          for (std::int64_t step = 1; step <= 4; ++step) {  // the last step may still be on its way at the
                                                            // end
            // Group g plays in rounds g + 1, g + 1 + gamma, ...; it releases its step k after its 4 k-th
            // round.
            const Count released = group + 1 + setting.gamma * (4 * step - 1);
            const auto it = first.find({NodeId{j}, group, step});
            ASSERT_NE(it, first.end()) << i << " hears of " << j;
            EXPECT_EQ(it->second, released + distance);
            ++expected;
          }
        }
      }
      std::size_t early = 0;
      for (const auto& [key, round] : first) early += std::get<2>(key) <= 4 ? 1 : 0;
      EXPECT_EQ(early, expected) << "nothing travels further than gamma, nothing comes back to its origin";
    }
  }
}

TEST(FedUcbPeerTest, WhatComesTwiceIsDropped) {
  FedSetting setting{.horizon = 60, .agents = 3, .schedule = {.sync = Sync::kBatch, .batch = 4}};
  const PeerRun run = RunOnGraph(setting, LineGraph(3).value());
  const RegressionPrefixSum& privatizer = *run.privatizer;
  FedUcbPeer<RegressionPrefixSum, double> peer({.horizon = 60, .clique = {NodeId{1}, NodeId{2}}, .gamma = 1},
                                               *run.schedule, *run.widths.front(), privatizer);
  test::HandContext context(Topology::Star(3), NodeId{1});
  Bulletin bulletin;
  for (const Peer::Arrival& arrival : run.peers[0]->arrivals) {
    const auto& each = std::get<Bulletin>(arrival.message.body);
    if (each.sums->value().step == 1) bulletin = each;
  }
  ASSERT_NE(bulletin.sums, nullptr);
  ASSERT_TRUE(peer.OnMessage(context, {.from = NodeId{2}, .body = bulletin}).ok());
  ASSERT_TRUE(peer.EndRound(context, 1).ok());
  const Matrix once = peer.policy(0).regression().gram();
  EXPECT_GT((once - Matrix::Identity(4, 4)).norm(), 0.5);
  ASSERT_TRUE(peer.OnMessage(context, {.from = NodeId{3}, .body = bulletin}).ok());
  ASSERT_TRUE(peer.EndRound(context, 2).ok());
  EXPECT_EQ(peer.policy(0).regression().gram(), once);
}

TEST(FedUcbPeerTest, RefusesGroupsThatThereAreNot) {
  FedSetting setting;
  const RegressionPrefixSum privatizer = PrivatizerOf(setting);
  const SyncSchedule schedule = ScheduleOf(setting);
  const FedUcbWidth width = WidthOf(setting, 2);
  FedUcbPeer<RegressionPrefixSum, double> peer({.horizon = 60, .clique = {NodeId{1}, NodeId{2}}, .gamma = 2},
                                               schedule, width, privatizer);
  test::HandContext context(Topology::Star(3), NodeId{1});
  for (const int group : {-1, 2}) {
    EXPECT_FALSE(
        peer.OnMessage(context, {.from = NodeId{2}, .body = SyncRequest{NodeId{2}, group, 1, 1}}).ok());
    EXPECT_FALSE(
        peer.OnMessage(context, {.from = NodeId{2}, .body = Bulletin{NodeId{2}, group, 1, nullptr}}).ok());
  }
}

TEST(FedUcbPeerTest, RefusesSumsOfAnotherDimension) {
  FedSetting setting{.horizon = 60, .agents = 2, .schedule = {.sync = Sync::kBatch, .batch = 4}};
  FedSetting other = setting;
  other.dimension = 3;
  const PeerRun run = RunOnGraph(other, LineGraph(2).value());
  const RegressionPrefixSum privatizer = PrivatizerOf(setting);
  const SyncSchedule schedule = ScheduleOf(setting);
  const FedUcbWidth width = WidthOf(setting, 2);
  FedUcbPeer<RegressionPrefixSum, double> peer({.horizon = 60, .clique = {NodeId{1}, NodeId{2}}}, schedule,
                                               width, privatizer);
  test::HandContext context(Topology::Star(2), NodeId{1});
  EXPECT_EQ(peer.OnMessage(context, run.peers[0]->arrivals.front().message).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(peer.OnMessage(context, {.from = NodeId{2}, .body = Bulletin{NodeId{2}, 0, 1, nullptr}}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FedUcbPeerTest, APeerThatDiesLeavesTheOthersWorking) {
  FedSetting setting{.horizon = 600, .agents = 5, .schedule = {.sync = Sync::kBatch, .batch = 20}};
  const Graph ring = RingGraph(5).value();
  const PeerRun run = RunOnGraph(setting, ring, {{.a = NodeId{2}, .round = 100}});
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(run.peers[i]->arms.size(), i == 1 ? 100u : 600u);
  }
  for (const Peer::Arrival& arrival : run.peers[0]->arrivals) {
    if (arrival.message.from == NodeId{2}) EXPECT_LE(arrival.round, 101);
  }
}

// With the paper's trigger any group may release first, and requests of several groups are under way at once.
TEST(FedUcbPeerTest, TheDeterminantTriggerWorksWithSeveralGroups) {
  for (const GraphShape shape : {GraphShape::kRing, GraphShape::kLine, GraphShape::kStar}) {
    for (const TrustModel model : {TrustModel::kNone, TrustModel::kPeer}) {
      for (const Count gamma : {2, 3}) {
        FedUcbP2pParams params;
        params.sync = Sync::kDeterminant;
        params.topology = shape;
        params.gamma = gamma;
        RoundContexts contexts = ContextsOf({.horizon = 900, .agents = 5, .dimension = 2, .arms = 4});
        const Privacy privacy = model == TrustModel::kNone
                                    ? Privacy{.model = model, .none_because = "a test"}
                                    : Privacy{.model = model, .epsilon = 1, .delta = 0.1};
        const Federation federation = CreateFedUcbP2p(params, privacy, contexts.facts()).value();
        const auto outcome = Simulate(federation, contexts, {.seed = 11});
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        EXPECT_GE(outcome->checkpoints.back().rounds, 1);
        EXPECT_EQ(federation.claims.size(), 0u);
      }
    }
  }
}

TEST(FedUcbPeerTest, EachOfSeveralStreamsHasTheWholeBudgetAndItIsPaidOnce) {
  FedSetting setting{
      .horizon = 90, .agents = 3, .schedule = {.sync = Sync::kBatch, .batch = 5}, .epsilon = 1, .gamma = 3};
  RunOnGraph(setting, RingGraph(3).value());  // otherwise it would exceed the budget of epsilon = 1 and abort
}

}  // namespace
}  // namespace bandana
