#include "bandana/federation/dissemination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "bandana/federation/graph_shapes.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/graph_support.h"

namespace bandana {
namespace {

using testing::HasSubstr;

// All peers of a graph; it delivers their messages tick by tick.
class Peers {
 public:
  Peers(const Graph& graph, Protocol protocol, int slack = 0)
      : graph_(graph), clock(graph, protocol, slack, 1) {
    for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
      nodes.emplace_back(clock, NodeId{i});
      contexts_.emplace_back(graph, NodeId{i});
      nodes.back().Begin(1, Own(i));
    }
  }

  static ReleasedArms Own(std::uint32_t node) {
    return std::make_shared<const Released<ArmSums>>(
        Wire::MakeArmSums({.pulls = 1, .arms = {0}, .units = {node}}));
  }

  void Tick(int tick) {
    std::vector<std::pair<NodeId, Message>> mail;
    for (std::uint32_t i = 1; i <= graph_.nodes(); ++i) {
      Sent& context = contexts_[i - 1];
      nodes[i - 1].EndTick(context, tick, 0);
      for (auto& [to, payload] : context.sent) {
        if (lost && lost(NodeId{i}, to)) continue;
        ++messages;
        mail.emplace_back(to, Message{NodeId{i}, NodeId{i}, 0, 0, std::move(payload)});
      }
      context.sent.clear();
    }
    for (const auto& [to, message] : mail) {
      if (const auto* data = std::get_if<Tallies>(&message.body))
        sums += static_cast<Count>(data->tallies.size());
      ASSERT_TRUE(nodes[to.value - 1].OnMessage(message).ok());
    }
  }

  bool done() const {
    for (const Dissemination& node : nodes) {
      if (node.have().size() != graph_.nodes()) return false;
    }
    return true;
  }

  /// Runs until every peer is done, and returns the number of slots that it took.
  int Run() {
    int slots = 0;
    while (!done() && slots < clock.Slots(1)) {
      for (int i = 0; i < clock.ticks_a_slot(); ++i) Tick(slots * clock.ticks_a_slot() + i);
      ++slots;
    }
    return slots;
  }

 private:
  struct Sent final : Context {
    Sent(const Graph& graph, NodeId self) : view{.self = self} {
      const auto neighbours = graph.neighbours(self);
      view.peers.assign(neighbours.begin(), neighbours.end());
    }
    const Links& links() const override { return view; }
    void Send(NodeId to, Payload payload) override { sent.emplace_back(to, std::move(payload)); }
    void Play(std::span<const Pull>) override {}
    CoinGen& coin(Epoch) override { std::abort(); }
    absl::StatusOr<Report> ReleaseOnce(const ReleaseKey&, const Charge&,
                                       absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)>) override {
      return absl::UnimplementedError("");
    }
    Links view;
    std::vector<std::pair<NodeId, Payload>> sent;
  };

  const Graph& graph_;
  std::deque<Sent> contexts_;

 public:
  DisseminationClock clock;
  std::deque<Dissemination> nodes;
  std::function<bool(NodeId, NodeId)> lost;
  Count messages = 0;
  Count sums = 0;
};

Graph AnyConnected(Count most) {
  const Count nodes = *rc::gen::inRange<Count>(2, most + 1);
  std::vector<Edge> edges;
  for (std::uint32_t b = 2; b <= nodes; ++b)
    edges.push_back({NodeId{*rc::gen::inRange<std::uint32_t>(1, b)}, NodeId{b}});
  const int more = *rc::gen::inRange(0, 60);
  for (std::uint32_t a = 1; a <= nodes; ++a) {
    for (std::uint32_t b = a + 1; b <= nodes; ++b) {
      const Edge edge{{a}, {b}};
      if (*rc::gen::inRange(0, 100) < more && std::find(edges.begin(), edges.end(), edge) == edges.end())
        edges.push_back(edge);
    }
  }
  return Graph::Create(nodes, edges).value();
}

RC_GTEST_PROP(DisseminationTest, GisTakesTheDiameterAndSendsEachTallyToEachPeerOnce, ()) {
  const Graph graph = AnyConnected(14);
  Peers peers(graph, Protocol::kGis);
  RC_ASSERT(peers.clock.Slots(1) == graph.diameter());
  RC_ASSERT(peers.Run() == graph.diameter());
  RC_ASSERT(peers.done());
  RC_ASSERT(peers.sums == graph.nodes() * (graph.nodes() - 1));
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
    for (std::uint32_t j = 1; j <= graph.nodes(); ++j) {
      RC_ASSERT(peers.nodes[i - 1].SumsOf(NodeId{j})->value().units.front() == j);
    }
  }
}

RC_GTEST_PROP(DisseminationTest, FloodingIsAsFastAndSendsNoLess, ()) {
  const Graph graph = AnyConnected(14);
  Peers peers(graph, Protocol::kFlooding);
  RC_ASSERT(peers.Run() == graph.diameter());
  RC_ASSERT(peers.sums >= graph.nodes() * (graph.nodes() - 1));
}

RC_GTEST_PROP(DisseminationTest, GossipTakesAsLongAsItsPublicCoinsSay, ()) {
  const Graph graph = AnyConnected(10);
  Peers peers(graph, Protocol::kGossip);
  const int slots = peers.clock.Slots(1);
  RC_ASSERT(slots >= graph.diameter());
  RC_ASSERT(peers.Run() == slots);
  RC_ASSERT(peers.done());
}

TEST(DisseminationTest, AStarAndARingOfFifty) {
  const Graph star = StarGraph(50).value();
  EXPECT_EQ(Peers(star, Protocol::kGis).Run(), 2);
  const Graph ring = RingGraph(50).value();
  EXPECT_EQ(Peers(ring, Protocol::kGis).Run(), 25);
  EXPECT_GT(Peers(ring, Protocol::kGossip).Run(), 25);
}

TEST(DisseminationTest, WhatDidNotComeIsAskedOfAnother) {
  // Peers 2 and 3 offer 1's tally to peer 4 at once. Peer 4 asks 2, and then the link between 2 and 4 is cut.
  const Graph square =
      Graph::Create(4, std::vector<Edge>{{{1}, {2}}, {{1}, {3}}, {{2}, {4}}, {{3}, {4}}}).value();
  Peers peers(square, Protocol::kGis, 1);
  int tick = 0;
  peers.lost = [&](NodeId from, NodeId to) { return tick >= 5 && from == NodeId{2} && to == NodeId{4}; };
  for (; tick < 9; ++tick) peers.Tick(tick);
  EXPECT_TRUE(peers.nodes[3].have().Contains(NodeId{1}));
}

TEST(DisseminationTest, OtherRoundsAndRepeatsAreDroppedAndNonsenseIsNamed) {
  const Graph line = LineGraph(3).value();
  const DisseminationClock clock(line, Protocol::kGis, 0, 1);
  Dissemination peer(clock, NodeId{1});
  peer.Begin(4, Peers::Own(1));
  const auto from2 = [](Payload body) { return Message{NodeId{2}, NodeId{2}, 0, 0, std::move(body)}; };
  EXPECT_TRUE(peer.OnMessage(from2(Tallies{3, 0, {{NodeId{2}, Peers::Own(2)}}})).ok());
  EXPECT_FALSE(peer.have().Contains(NodeId{2}));
  EXPECT_TRUE(
      peer.OnMessage(from2(Tallies{4, 0, {{NodeId{2}, Peers::Own(2)}, {NodeId{2}, Peers::Own(9)}}})).ok());
  EXPECT_EQ(peer.SumsOf(NodeId{2})->value().units.front(), 2);
  EXPECT_THAT(peer.OnMessage(from2(Tallies{4, 0, {{NodeId{4}, Peers::Own(4)}}})).message(),
              HasSubstr("node 4"));
  EXPECT_THAT(peer.OnMessage(from2(Tallies{4, 0, {{NodeId{3}, nullptr}}})).message(), HasSubstr("node 3"));
  EXPECT_THAT(peer.OnMessage(from2(Request{4, NodeSet(2)})).message(), HasSubstr("other nodes"));
  EXPECT_THAT(peer.OnMessage(from2(Advert{4, 0, std::make_shared<const NodeSet>(7)})).message(),
              HasSubstr("other nodes"));
  EXPECT_THAT(peer.OnMessage(from2(Share{})).message(), HasSubstr("adverts, requests and tallies"));
}

}  // namespace
}  // namespace bandana
