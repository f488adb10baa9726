#include "bandana/algorithms/users/user_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/algorithms/user_support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

UserModelShape Multi() {
  return {.horizon = 100, .dimension = 1, .arms = 3, .multi = true, .warm_up = 2, .elimination_gap = 0.5};
}

test::WrittenRounds OneRound(double x) { return {{{ActionMatrix::Constant(1, 1, x), {0, 0, 0}}}, true}; }

TEST(UserModelShapeTest, RefusesWhatCannotBeAndNamesTheField) {
  const auto error = [](UserModelShape shape) { return std::string(shape.Check().message()); };
  UserModelShape shape = Multi();
  EXPECT_TRUE(shape.Check().ok());
  shape.warm_up = 34;  // 3 x 34 rounds
  EXPECT_THAT(error(shape), HasSubstr("warm_up"));
  shape = Multi();
  shape.warm_up = 0;
  EXPECT_THAT(error(shape), HasSubstr("warm_up"));
  for (const double gap : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    shape = Multi();
    shape.elimination_gap = gap;
    EXPECT_THAT(error(shape), HasSubstr("elimination_gap"));
  }
  shape = Multi();
  shape.arms = 0;
  EXPECT_THAT(error(shape), HasSubstr("actions"));
  shape = Multi();
  shape.dimension = 0;
  EXPECT_THAT(error(shape), HasSubstr("dimension"));
  shape = Multi();
  shape.horizon = 0;
  EXPECT_THAT(error(shape), HasSubstr("horizon"));
}

TEST(UserPolicyTest, TheWarmUpGoesRoundTheArmsWhateverTheContext) {
  UserPolicy policy(Multi());
  std::vector<double> scores;
  Count eliminated = 0;
  policy.theta(1)[0] = 1;
  for (Count t = 0; t < 6; ++t) {
    auto world = OneRound(1);
    world.Next();
    ASSERT_TRUE(policy.warming_up());
    EXPECT_EQ(policy.Choose(world, scores, eliminated), t % 3);
    policy.Advance(1);
  }
  EXPECT_FALSE(policy.warming_up());
  EXPECT_EQ(eliminated, 0);
}

// Equation (7): an arm that is more than h/2 below the best by the estimates at the end of the warm-up is
// ruled out, whatever later estimates say.
TEST(UserPolicyTest, ArmsThatTheWarmUpRuledOutAreNotPlayed) {
  UserPolicy policy(Multi());
  std::vector<double> scores;
  Count eliminated = 0;
  policy.theta(0)[0] = 1;
  policy.theta(1)[0] = 0.8;  // within 0.25
  policy.theta(2)[0] = 0.7;  // further away than 0.25
  policy.Advance(6);
  policy.theta(0)[0] = 0;
  policy.theta(1)[0] = 0.1;
  policy.theta(2)[0] = 5;
  auto world = OneRound(1);
  world.Next();
  EXPECT_EQ(policy.Choose(world, scores, eliminated), 1);
  EXPECT_EQ(eliminated, 1);
  // If the context reverses the order of the arms, another arm is ruled out.
  auto other = OneRound(-1);
  other.Next();
  EXPECT_EQ(policy.Choose(other, scores, eliminated), 1);  // the scores were -1, -0.8, -0.7 at the end of the
                                                           // warm-up and are 0, -0.1, -5 now
  EXPECT_EQ(eliminated, 2);
}

TEST(UserPolicyTest, WithoutAWarmUpTheLargestScoreWinsAndTiesGoToTheFirst) {
  UserPolicy policy({.horizon = 10, .dimension = 2, .arms = 3});
  ActionMatrix contexts(3, 2);
  contexts << 0, 1, 1, 0, 1, 0;
  test::WrittenRounds world({{contexts, {0, 0, 0}}}, false);
  world.Next();
  std::vector<double> scores;
  Count eliminated = 0;
  EXPECT_EQ(policy.Choose(world, scores, eliminated), 0);  // all scores are 0
  policy.theta(0)[0] = 1;
  EXPECT_EQ(policy.Choose(world, scores, eliminated), 1);
}

}  // namespace
}  // namespace bandana
