#include "bandana/bandit/round_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace bandana {
namespace {

struct Stretch {
  NodeId agent;
  ArmId arm = 0;
  Count count = 0;
};

// Generates stretches of rounds. Each agent continues after its last round; some agents play less than
// others, or not at all.
std::vector<Stretch> AnyStretches(std::uint32_t agents) {
  std::vector<Stretch> stretches(*rc::gen::inRange<std::size_t>(0, 20));
  for (Stretch& each : stretches) {
    each = {NodeId{*rc::gen::inRange<std::uint32_t>(1, agents + 1)}, *rc::gen::inRange<ArmId>(0, 4),
            *rc::gen::inRange<Count>(0, 15)};
  }
  return stretches;
}

std::vector<Count> AnyTimes() {
  std::vector<Count> times;
  for (Count t = 1; t < 80; ++t) {
    if (*rc::gen::inRange(0, 5) == 0) times.push_back(t);
  }
  times.push_back(80);
  return times;
}

struct Pair {
  RoundRecorder many;
  RoundRecorder one_by_one;
};

Pair Record(const std::vector<double>& gaps) {
  constexpr std::uint32_t kAgents = 3;
  const std::vector<Count> times = AnyTimes();
  Pair recorders{RoundRecorder(kAgents, times, true), RoundRecorder(kAgents, times, true)};
  std::vector<Count> played(kAgents + 1);
  for (const auto& [agent, arm, count] : AnyStretches(kAgents)) {
    const double gap = gaps[static_cast<std::size_t>(arm)];
    recorders.many.PlayMany(agent, played[agent.value] + 1, arm, count, gap);
    for (Count i = 0; i < count; ++i) recorders.one_by_one.Play(agent, ++played[agent.value], arm, gap);
  }
  return recorders;
}

RC_GTEST_PROP(RoundRecorderProperty, ManyPlaysAreThatManyTimesOne, ()) {
  const Pair both = Record({0, 0.5, 0.25, 1});  // sums of these gaps are exact
  const auto many = both.many.Checkpoints();
  const auto expected = both.one_by_one.Checkpoints();
  RC_ASSERT(many.size() == expected.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    RC_ASSERT(many[i].t == expected[i].t);
    RC_ASSERT(many[i].regret == expected[i].regret);
    RC_ASSERT(many[i].best_action_rate == expected[i].best_action_rate);
  }
  RC_ASSERT(both.many.decisions() == both.one_by_one.decisions());
}

RC_GTEST_PROP(RoundRecorderProperty, ManyPlaysAreThatManyTimesOneUpToRounding, ()) {
  const Pair both = Record({0, 0.1, 1. / 3, 0.7});
  const auto many = both.many.Checkpoints();
  const auto expected = both.one_by_one.Checkpoints();
  for (std::size_t i = 0; i < many.size(); ++i) {
    RC_ASSERT(std::abs(many[i].regret - expected[i].regret) <= 1e-12);
  }
}

TEST(RoundRecorderTest, LongStretchesCostNothing) {
  RoundRecorder recorder(2, {1, Count{1} << 40, Count{1} << 41});
  recorder.PlayMany(NodeId{1}, 1, 3, Count{1} << 41, 0.5);
  recorder.PlayMany(NodeId{2}, 1, 0, 1, 0);  // this agent then leaves
  const std::vector<Checkpoint> at = recorder.Checkpoints();
  EXPECT_EQ(at[0].regret, 0.5);
  EXPECT_EQ(at[0].best_action_rate, 0.5);
  EXPECT_EQ(at[1].regret, 0x1p39);
  EXPECT_EQ(at[2].regret, 0x1p40);
  EXPECT_EQ(at[2].best_action_rate, 1 / (0x1p41 + 1));
  EXPECT_TRUE(recorder.decisions().empty());
}

// PlayMany counts rounds beyond the last checkpoint there, as Play does.
TEST(RoundRecorderTest, RoundsBeyondTheLastCheckpointCountThere) {
  RoundRecorder recorder(1, {4}, true);
  recorder.PlayMany(NodeId{1}, 1, 2, 6, 1);
  EXPECT_EQ(recorder.Checkpoints()[0].regret, 6);
  EXPECT_THAT(recorder.decisions()[0], ::testing::ElementsAre(2, 2, 2, 2, 2, 2));
}

}  // namespace
}  // namespace bandana
