#include "bandana/service/roster.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bandana::service {
namespace {

absl::Status Add(Roster& roster, std::uint32_t first, std::uint64_t last) {
  const absl::StatusOr<Seated> agent = roster.Propose(Roster::LinkOf(NodeId{first}), first, last + 1 - first);
  if (agent.ok()) roster.Add(*agent);
  return agent.status();
}

TEST(Roster, KnowsWhoSpeaksForWhom) {
  Roster roster(10);
  ASSERT_TRUE(Add(roster, 5, 10).ok());
  ASSERT_TRUE(Add(roster, 1, 3).ok());
  for (const std::uint32_t client : {1, 3}) EXPECT_EQ(roster.Find(NodeId{client})->link, "agent/1");
  EXPECT_EQ(roster.Find(NodeId{4}), nullptr);
  EXPECT_EQ(roster.Find(NodeId{5})->link, "agent/5");
  EXPECT_EQ(roster.Find(NodeId{11}), nullptr);
  EXPECT_EQ(roster.Find(kServerNode), nullptr);
  EXPECT_EQ(roster.Find("agent/5"), roster.Find(NodeId{10}));
  for (const char* link : {"agent/6", "agent/4", "agent/", "shuffler", "agent/5x"}) {
    EXPECT_EQ(roster.Find(link), nullptr) << link;
  }
  EXPECT_EQ(roster.Gaps(), "4-4");
  EXPECT_FALSE(roster.complete());
  ASSERT_TRUE(Add(roster, 4, 4).ok());
  EXPECT_TRUE(roster.complete());
  EXPECT_EQ(roster.Gaps(), "");
  roster.Remove("agent/5");
  EXPECT_EQ(roster.covered(), 4);
  EXPECT_EQ(roster.Gaps(), "5-10");
}

TEST(Roster, RefusesOverlapsAndRangesOutside) {
  Roster roster(10);
  ASSERT_TRUE(Add(roster, 4, 6).ok());
  for (const auto& [first, last] : {std::pair(1, 4), {6, 10}, {5, 5}, {1, 10}, {4, 7}, {4, 5}}) {
    EXPECT_EQ(Add(roster, first, last).code(), absl::StatusCode::kAlreadyExists) << first;
  }
  for (const auto& [first, last] : {std::pair(0, 3), {7, 11}, {3, 2}}) {
    EXPECT_EQ(Add(roster, first, last).code(), absl::StatusCode::kInvalidArgument) << first;
  }
  EXPECT_EQ(roster.Propose("agent/1", 2, 2).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(roster.Propose("agent/7", 7, ~std::uint64_t{0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(roster.covered(), 3);
  EXPECT_TRUE(Add(roster, 4, 6).ok()) << "the same agent may say so again";
  EXPECT_EQ(roster.covered(), 3);
  EXPECT_TRUE(Add(roster, 1, 3).ok());
  EXPECT_TRUE(Add(roster, 7, 10).ok());
}

TEST(Roster, AdmitsAgentsOfItsClientsOnly) {
  const Roster roster(10);
  EXPECT_TRUE(roster.Admits("agent/1").ok());
  EXPECT_TRUE(roster.Admits("agent/10").ok());
  for (const char* link : {"agent/0", "agent/11", "agent/-1", "agent/", "peer/1", "server", "", "agent/03",
                           "agent/ 3", "agent/+3", "agent/3 "}) {
    EXPECT_EQ(roster.Admits(link).code(), absl::StatusCode::kPermissionDenied) << link;
  }
}

}  // namespace
}  // namespace bandana::service
