#include "bandana/federation/topology.h"

#include <gtest/gtest.h>

namespace bandana {
namespace {

TEST(TopologyTest, AStarHasAServerAndItsClients) {
  const Topology star = Topology::Star(3);
  EXPECT_EQ(star.clients(), 3);
  for (const std::uint32_t node : {0, 1, 2, 3}) EXPECT_TRUE(star.Contains(NodeId{node})) << node;
  EXPECT_FALSE(star.Contains(NodeId{4}));
  EXPECT_FALSE(star.Contains(NodeId{0xffffffff}));
}

TEST(TopologyTest, ClientsSeeTheServerAndNobodyElse) {
  const Topology star = Topology::Star(3);
  const Links server = star.LinksOf(kServerNode);
  EXPECT_EQ(server.self, kServerNode);
  EXPECT_EQ(server.upstream, std::nullopt);
  EXPECT_TRUE(server.peers.empty());
  for (const std::uint32_t node : {1, 2, 3}) {
    const Links client = star.LinksOf(NodeId{node});
    EXPECT_EQ(client.self, NodeId{node});
    EXPECT_EQ(client.upstream, kServerNode);
    EXPECT_TRUE(client.peers.empty());
  }
}

}  // namespace
}  // namespace bandana
