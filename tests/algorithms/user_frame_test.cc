#include "bandana/algorithms/user_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/algorithms/user_support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

UserFrame Multi() {
  return {.horizon = 100, .dimension = 1, .arms = 3, .multi = true, .warm_up = 2, .elimination_gap = 0.5};
}

test::WrittenRounds OneRound(double x) { return {{{ActionMatrix::Constant(1, 1, x), {0, 0, 0}}}, true}; }

TEST(UserFrameTest, RefusesWhatCannotBeAndNamesTheKey) {
  const auto error = [](UserFrame frame) { return std::string(frame.Check().message()); };
  UserFrame frame = Multi();
  EXPECT_TRUE(frame.Check().ok());
  frame.warm_up = 34;  // 3 x 34 rounds
  EXPECT_THAT(error(frame), HasSubstr("algorithm.warm_up"));
  frame = Multi();
  frame.warm_up = 0;
  EXPECT_THAT(error(frame), HasSubstr("algorithm.warm_up"));
  for (const double gap : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    frame = Multi();
    frame.elimination_gap = gap;
    EXPECT_THAT(error(frame), HasSubstr("algorithm.elimination_gap"));
  }
  frame = Multi();
  frame.arms = 0;
  EXPECT_THAT(error(frame), HasSubstr("environment.actions"));
  frame = Multi();
  frame.dimension = 0;
  EXPECT_THAT(error(frame), HasSubstr("environment.dimension"));
  frame = Multi();
  frame.horizon = 0;
  EXPECT_THAT(error(frame), HasSubstr("horizon"));
}

TEST(UserPolicyTest, TheWarmUpGoesRoundTheArmsWhateverTheContext) {
  UserPolicy policy(Multi());
  std::vector<double> scores;
  policy.theta(1)[0] = 1;
  for (Count t = 0; t < 6; ++t) {
    auto world = OneRound(1);
    world.Next();
    ASSERT_TRUE(policy.warming_up());
    EXPECT_EQ(policy.Choose(world, scores), t % 3);
    policy.Advance(1);
  }
  EXPECT_FALSE(policy.warming_up());
}

// Equation (7): arms more than h/2 below the best by the estimates of the warm-up's end are out, whatever
// estimates say later.
TEST(UserPolicyTest, ArmsThatTheWarmUpRuledOutAreNotPlayed) {
  UserPolicy policy(Multi());
  std::vector<double> scores;
  policy.theta(0)[0] = 1;
  policy.theta(1)[0] = 0.8;  // within 0.25
  policy.theta(2)[0] = 0.7;  // not
  policy.Advance(6);
  policy.theta(0)[0] = 0;
  policy.theta(1)[0] = 0.1;
  policy.theta(2)[0] = 5;
  auto world = OneRound(1);
  world.Next();
  EXPECT_EQ(policy.Choose(world, scores), 1);
  // Where the context turns the order round, another one is ruled out.
  auto other = OneRound(-1);
  other.Next();
  EXPECT_EQ(policy.Choose(other, scores), 1);  // -1, -0.8, -0.7 then; 0, -0.1, -5 now
}

TEST(UserPolicyTest, WithoutAWarmUpTheLargestScoreWinsAndTiesGoToTheFirst) {
  UserPolicy policy({.horizon = 10, .dimension = 2, .arms = 3});
  ActionMatrix contexts(3, 2);
  contexts << 0, 1, 1, 0, 1, 0;
  test::WrittenRounds world({{contexts, {0, 0, 0}}}, false);
  world.Next();
  std::vector<double> scores;
  EXPECT_EQ(policy.Choose(world, scores), 0);  // all 0
  policy.theta(0)[0] = 1;
  EXPECT_EQ(policy.Choose(world, scores), 1);
}

}  // namespace
}  // namespace bandana
