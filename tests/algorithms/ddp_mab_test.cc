#include "bandana/algorithms/arms/ddp_mab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "bandana/federation/graph_shapes.h"
#include "tests/algorithms/arm_support.h"
#include "tests/federation/graph_support.h"

namespace bandana {
namespace {

using test::ArmRun;
using test::ArmSetting;
using testing::ElementsAre;

Count RoundsOf(const ArmRun& run) { return static_cast<Count>(run.peers.front()->role.history().size()); }

// Expects that every peer has everybody's sums in every communication round, and the same active arms.
void ExpectAgreement(const ArmRun& run) {
  const auto& first = run.peers.front()->role.history();
  ASSERT_FALSE(first.empty());
  for (const auto& peer : run.peers) {
    const auto& own = peer->role.history();
    ASSERT_EQ(own.size(), first.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].agents, run.graph.nodes());
      EXPECT_EQ(own[i].arms, first[i].arms);
      EXPECT_EQ(own[i].clock, first[i].clock);
    }
  }
}

TEST(DdpMabTest, FindsTheBestArmTogether) {
  const ArmSetting setting{.epsilon = 1};
  ArmRun run(setting, RingGraph(6).value());
  run.RunPeers();
  ExpectAgreement(run);
  EXPECT_THAT(run.peers.front()->role.history().back().arms, ElementsAre(0));
  for (const auto& peer : run.peers) {
    EXPECT_EQ(peer->role.agent().clock(), setting.horizon);
    EXPECT_EQ(peer->pulls.back().arm, 0);
  }
}

TEST(DdpMabTest, LinksOfAStarAndARingOfFifty) {
  const ArmSetting setting{.agents = 50};
  ArmRun star(setting, StarGraph(50).value());
  star.RunPeers();
  EXPECT_EQ(star.traffic.total().links_peer, 98 * RoundsOf(star));
  EXPECT_EQ(star.traffic.total().slots, 2 * RoundsOf(star));
  ArmRun ring(setting, RingGraph(50).value());
  ring.RunPeers();
  EXPECT_EQ(ring.traffic.total().links_peer, 1250 * RoundsOf(ring));
  EXPECT_EQ(ring.traffic.total().slots, 25 * RoundsOf(ring));
  ArmRun complete(setting, CompleteGraph(50).value());
  complete.RunPeers();
  EXPECT_EQ(complete.traffic.total().links_peer, 1225 * RoundsOf(complete));
  EXPECT_EQ(complete.traffic.total().links_server, 0);
  EXPECT_EQ(complete.traffic.total().rounds, RoundsOf(complete));
}

RC_GTEST_PROP(DdpMabTest, WaitsForADiameterLessOneAndAgrees, ()) {
  Graph graph = test::AnyGraph(9);
  RC_PRE(graph.connected() && graph.nodes() > 1);
  const int diameter = graph.diameter();
  ArmSetting setting{.horizon = 4000, .agents = graph.nodes(), .means = {0.2, 0.9, 0.5}, .epsilon = 2.0};
  setting.seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  ArmRun run(setting, std::move(graph));
  run.RunPeers();
  const auto& first = run.peers.front()->role.history();
  for (const auto& peer : run.peers) {
    RC_ASSERT(peer->role.agent().waited() == (diameter - 1) * RoundsOf(run));
    const auto& own = peer->role.history();
    RC_ASSERT(own.size() == first.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      RC_ASSERT(own[i].agents == run.graph.nodes());
      RC_ASSERT(own[i].arms == first[i].arms);
    }
  }
  RC_ASSERT(run.traffic.total().slots == diameter * RoundsOf(run));
}

// A release counts explored pulls only: S(r) for each agent, no matter how long the agent waited.
TEST(DdpMabTest, WaitingPullsNeverEnterAReleasedMean) {
  const ArmSetting setting{.agents = 7};
  ArmRun run(setting, LineGraph(7).value());
  run.RunPeers();
  ASSERT_GT(run.peers.front()->role.agent().waited(), 0);
  Epoch last = 0;
  Count pulled = 0;
  for (const Message& message : run.peers.front()->messages) {
    const auto* data = std::get_if<Tallies>(&message.body);
    if (data == nullptr) continue;
    if (data->epoch > last) {
      const auto& history = run.peers.front()->role.history();
      const auto active =
          last == 0 ? Count{5} : static_cast<Count>(history[static_cast<std::size_t>(last - 1)].arms.size());
      pulled = std::max(pulled + 1, run.schedule().Pulls(data->epoch, active));
      last = data->epoch;
    }
    for (const Tally& tally : data->tallies) {
      EXPECT_EQ(tally.sums->value().pulls, pulled);
      EXPECT_EQ(tally.sums->value().agents, 1);
    }
  }
  EXPECT_EQ(last, RoundsOf(run));
}

TEST(DdpMabTest, ProtocolsDecideAlikeAndCostDifferently) {
  const ArmSetting setting{.agents = 12, .epsilon = 1};
  const Graph graph = GridGraph(12).value();
  ArmRun gis(setting, graph);
  gis.RunPeers();
  ArmRun flooding(setting, graph);
  flooding.RunPeers(Protocol::kFlooding);
  ExpectAgreement(gis);
  ExpectAgreement(flooding);
  EXPECT_EQ(gis.pulls(), flooding.pulls()) << "the same data at the same time";
  EXPECT_LT(gis.traffic.total().reals, flooding.traffic.total().reals);
  ArmRun gossip(setting, graph);
  gossip.RunPeers(Protocol::kGossip);
  ExpectAgreement(gossip);
  EXPECT_GT(gossip.traffic.total().slots, gis.traffic.total().slots);
}

TEST(DdpMabTest, AnAgentAloneTalksToNobody) {
  const ArmSetting setting{.agents = 3, .epsilon = 1};
  ArmRun run(setting, Graph::Create(3, {}).value());
  run.RunPeers();
  EXPECT_EQ(run.traffic.total().messages, 0);
  for (const auto& peer : run.peers) {
    EXPECT_EQ(peer->role.agent().waited(), 0);
    for (const ArmRound& round : peer->role.history()) EXPECT_EQ(round.agents, 1);
  }
}

TEST(DdpMabTest, ALostAgentIsLeftOutAndTheOthersAgree) {
  ArmSetting setting{.agents = 8, .means = {0.52, 0.5, 0.48, 0.1}, .epsilon = 1};
  setting.failures = {{Failure::Kind::kAgent, NodeId{3}, {}, 1}};
  ArmRun run(setting, CompleteGraph(8).value());
  run.RunPeers();
  EXPECT_THAT(run.losses.lost_agents, ElementsAre(NodeId{3}));
  const auto& first = run.peers.front()->role.history();
  ASSERT_GT(first.size(), 2u);
  for (std::uint32_t i = 1; i <= 8; ++i) {
    const auto& peer = run.peers[i - 1]->role;
    if (i == 3) {
      EXPECT_LT(peer.agent().clock(), setting.horizon);
      continue;
    }
    EXPECT_EQ(peer.agent().clock(), setting.horizon);
    ASSERT_EQ(peer.history().size(), first.size());
    for (std::size_t r = 0; r < first.size(); ++r) {
      EXPECT_EQ(peer.history()[r].agents, r == 0 ? 8 : 7);
      EXPECT_EQ(peer.history()[r].arms, first[r].arms);
    }
  }
}

TEST(DdpMabTest, WhoMissesARoundIsBackInTheNextWithAllItHas) {
  ArmSetting setting{.agents = 6, .means = {0.52, 0.5, 0.48, 0.1}, .epsilon = 1};
  setting.failures = {{Failure::Kind::kMiss, NodeId{2}, {}, 1}};
  ArmRun run(setting, CompleteGraph(6).value());
  run.RunPeers();
  const auto& first = run.peers.front()->role.history();
  ASSERT_GT(first.size(), 2u);
  EXPECT_EQ(first[0].agents, 5);
  EXPECT_EQ(first[1].agents, 6);
  EXPECT_EQ(run.peers[1]->role.history()[0].agents, 1) << "nobody heard what it asked for";
  for (const auto& peer : run.peers) {
    ASSERT_EQ(peer->role.history().size(), first.size());
    for (std::size_t r = 1; r < first.size(); ++r) EXPECT_EQ(peer->role.history()[r].arms, first[r].arms);
  }
}

TEST(DdpMabTest, ACutLinkIsGoneAroundWithinTheSlack) {
  ArmSetting setting{.agents = 6, .means = {0.52, 0.5, 0.48, 0.1}};
  setting.failures = {{Failure::Kind::kLink, NodeId{1}, NodeId{2}, 0}};
  ArmRun without(setting, RingGraph(6).value());
  without.RunPeers();
  EXPECT_THAT(without.losses.lost_links, ElementsAre(Edge{NodeId{1}, NodeId{2}}));
  EXPECT_LT(without.peers.front()->role.history().front().agents, 6) << "three slots reach half way around";
  ArmRun with(setting, RingGraph(6).value());
  with.RunPeers(Protocol::kGis, 2);
  ExpectAgreement(with);
  for (const auto& peer : without.peers)
    EXPECT_EQ(peer->role.agent().clock(), setting.horizon) << "it ends, anyhow";
}

// Agents that eliminated arms on different data drop every arm that any of them has dropped, as soon as they
// hear of it.
TEST(DdpMabTest, ActiveSetsMeetAgain) {
  ArmSetting setting{
      .horizon = 400'000, .agents = 6, .means = {0.55, 0.5, 0.52, 0.3, 0.4, 0.2}, .epsilon = 0.5};
  setting.dropout = 0.1;
  ArmRun run(setting, CompleteGraph(6).value());
  run.RunPeers();
  EXPECT_GT(run.losses.lost_messages, 0);
  EXPECT_LE(run.traffic.total().links_peer, run.graph.edges() * run.traffic.total().slots);
  int complete = 0;
  bool differed = false;
  for (std::size_t r = 0; r < run.peers.front()->role.history().size(); ++r) {
    bool all = true;
    bool same = true;
    for (const auto& peer : run.peers) {
      const auto& history = peer->role.history();
      all = all && r < history.size() && history[r].agents == 6;
      same = same && r < history.size() && history[r].arms == run.peers.front()->role.history()[r].arms;
    }
    if (all) {
      ++complete;
      EXPECT_TRUE(same) << "round " << r + 1;
    }
    differed = differed || !same;
  }
  EXPECT_GT(complete, 0);
  EXPECT_TRUE(differed) << "or there was nothing to meet again";
  for (const auto& peer : run.peers) {
    ASSERT_FALSE(peer->role.history().empty());
    EXPECT_EQ(peer->role.history().back().best, 0);
    EXPECT_EQ(peer->role.agent().clock(), setting.horizon);
  }
}

}  // namespace
}  // namespace bandana
