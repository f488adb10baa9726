#include "bandana/service/roster.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bandana::service {
namespace {

std::shared_ptr<AgentLink> Link(std::uint32_t first, std::uint32_t last) {
  auto link = std::make_shared<AgentLink>();
  link->first = NodeId{first};
  link->last = NodeId{last};
  return link;
}

TEST(Roster, KnowsWhoSpeaksForWhom) {
  Roster roster(10);
  const auto low = Link(1, 3);
  const auto high = Link(5, 10);
  ASSERT_TRUE(roster.Add(high).ok());
  ASSERT_TRUE(roster.Add(low).ok());
  EXPECT_EQ(roster.Find(NodeId{1}), low.get());
  EXPECT_EQ(roster.Find(NodeId{3}), low.get());
  EXPECT_EQ(roster.Find(NodeId{4}), nullptr);
  EXPECT_EQ(roster.Find(NodeId{5}), high.get());
  EXPECT_EQ(roster.Find(NodeId{11}), nullptr);
  EXPECT_EQ(roster.Find(kServerNode), nullptr);
  EXPECT_EQ(roster.Gaps(), "4-4");
  EXPECT_FALSE(roster.complete());
  ASSERT_TRUE(roster.Add(Link(4, 4)).ok());
  EXPECT_TRUE(roster.complete());
  EXPECT_EQ(roster.Gaps(), "");
  roster.Remove(*high);
  EXPECT_EQ(roster.covered(), 4);
  EXPECT_EQ(roster.Gaps(), "5-10");
}

TEST(Roster, RefusesOverlapsAndRangesOutside) {
  Roster roster(10);
  ASSERT_TRUE(roster.Add(Link(4, 6)).ok());
  for (const auto& link : {Link(1, 4), Link(6, 10), Link(5, 5), Link(1, 10), Link(4, 6)}) {
    EXPECT_EQ(roster.Add(link).code(), absl::StatusCode::kAlreadyExists);
  }
  for (const auto& link : {Link(0, 3), Link(7, 11), Link(3, 2)}) {
    EXPECT_EQ(roster.Add(link).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(roster.covered(), 3);
  EXPECT_TRUE(roster.Add(Link(1, 3)).ok());
  EXPECT_TRUE(roster.Add(Link(7, 10)).ok());
}

v1::ToAgent Stop(const std::string& reason) {
  v1::ToAgent message;
  message.mutable_stop()->set_reason(reason);
  return message;
}

TEST(Outbox, KeepsOrderAndEndsWhenClosed) {
  Outbox outbox;
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) outbox.Push(Stop(std::to_string(i)));
    outbox.Close();
    outbox.Push(Stop("late"));
  });
  for (int i = 0; i < 1000; ++i) {
    const auto next = outbox.Pop();
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->stop().reason(), std::to_string(i));
  }
  EXPECT_FALSE(outbox.Pop().has_value());
  producer.join();
  EXPECT_FALSE(outbox.Pop().has_value());
}

TEST(Outbox, DiscardDropsWhatIsQueued) {
  Outbox outbox;
  outbox.Push(Stop("queued"));
  outbox.Discard();
  EXPECT_FALSE(outbox.Pop().has_value());
}

}  // namespace
}  // namespace bandana::service
