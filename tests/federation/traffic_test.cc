#include "bandana/federation/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bandana/federation/graph_shapes.h"
#include "bandana/federation/wire_size.h"
#include "bandana/privacy/wire.h"

namespace bandana {
namespace {

using testing::ElementsAre;

ReleasedArms Sums(std::vector<ArmId> arms) {
  const std::size_t size = arms.size();
  return std::make_shared<const Released<ArmSums>>(
      Wire::MakeArmSums({.pulls = 5, .arms = std::move(arms), .units = std::vector<std::int64_t>(size, 7)}));
}

Payload Ask(Epoch epoch) { return Request{epoch, NodeSet(3)}; }
Payload Send(Epoch epoch) {
  return Tallies{epoch, 0, {{NodeId{1}, Sums({0, 4})}, {NodeId{2}, Sums({0, 4})}}};
}
Payload Up(Epoch epoch) { return Collected{epoch, NodeSet(3), Sums({1, 2, 3})}; }

TEST(TrafficTest, ALinkIsBuiltForASlotInEitherDirection) {
  const Graph line = LineGraph(3).value();
  Traffic traffic(line);
  traffic.Send(NodeId{1}, NodeId{2}, 10, 10, Ask(1));
  traffic.Send(NodeId{2}, NodeId{1}, 10, 10, Send(1));
  traffic.Send(NodeId{2}, NodeId{1}, 10, 10, Send(1));
  traffic.Send(NodeId{2}, NodeId{3}, 10, 10, Ask(1));
  EXPECT_EQ(traffic.total().links_peer, 2);
  EXPECT_EQ(traffic.total().slots, 1);
  traffic.Send(NodeId{1}, NodeId{2}, 11, 11, Ask(1));
  EXPECT_EQ(traffic.total().links_peer, 3);
  EXPECT_EQ(traffic.total().slots, 2);
  EXPECT_EQ(traffic.total().messages, 5);
  EXPECT_EQ(traffic.total().reals, 8);
  EXPECT_EQ(traffic.total().bytes, 3 * WireBytes(Ask(1)) + 2 * WireBytes(Send(1)));
  EXPECT_EQ(traffic.total().rounds, 1);
  EXPECT_EQ(traffic.total().links_server, 0);
  EXPECT_THAT(traffic.over_edges(), ElementsAre(4, 1));
}

TEST(TrafficTest, PlansAreBroadcastAndBuildNoLinks) {
  const Graph apart = Graph::Create(3, {}).value();
  Traffic traffic(apart);
  const Payload plan =
      std::make_shared<const ArmPlan>(ArmPlan{.epoch = 1, .arms = {0}, .upstream = {{0}, {0}, {0}}});
  for (std::uint32_t i = 1; i <= 3; ++i) traffic.Send(kServerNode, NodeId{i}, 0, 0, plan);
  EXPECT_EQ(traffic.total().links_server, 0);
  EXPECT_EQ(traffic.total().slots, 0);
  EXPECT_EQ(traffic.total().rounds, 0);
  EXPECT_EQ(traffic.total().messages, 3);
  EXPECT_EQ(traffic.total().bytes, 3 * WireBytes(plan));
  traffic.Send(NodeId{2}, kServerNode, 50, 50, Up(1));
  traffic.Send(NodeId{2}, kServerNode, 50, 50, Up(1));
  traffic.Send(NodeId{3}, kServerNode, 50, 50, Up(1));
  EXPECT_EQ(traffic.total().links_server, 2);
  EXPECT_EQ(traffic.total().slots, 1);
  EXPECT_EQ(traffic.total().rounds, 1);
  EXPECT_THAT(traffic.over_uplinks(), ElementsAre(1, 3, 2));
}

TEST(TrafficTest, KnowsWhatWasSentWhen) {
  const Graph line = LineGraph(2).value();
  Traffic traffic(line);
  EXPECT_EQ(traffic.Until(100).messages, 0);
  traffic.Send(NodeId{1}, NodeId{2}, 10, 10, Ask(1));
  traffic.Send(NodeId{1}, NodeId{2}, 20, 20, Ask(2));
  traffic.Send(NodeId{2}, NodeId{1}, 20, 20, Ask(2));
  EXPECT_EQ(traffic.Until(9).messages, 0);
  EXPECT_EQ(traffic.Until(10).messages, 1);
  EXPECT_EQ(traffic.Until(19).messages, 1);
  EXPECT_EQ(traffic.Until(20).messages, 3);
  EXPECT_EQ(traffic.Until(1000).rounds, 2);
}

}  // namespace
}  // namespace bandana
