#include "bandana/algorithms/arms/successive_elimination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bandana/bandit/worlds/arm_problem.h"
#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/support.h"

// Seeds are fixed.
namespace bandana {
namespace {

using ::testing::ElementsAre;

SuccessiveElimination Made(Count arms, Count horizon, Count block = 1) {
  return SuccessiveElimination::Create({.arms = arms, .horizon = horizon, .block = block}).value();
}

double Width(Count arms, Count horizon, double n) {
  return std::sqrt(std::log(4. * static_cast<double>(arms) * n * n * static_cast<double>(horizon)) / (2 * n));
}

// Compares with the definition, in means, on rewards that were all drawn in advance.
RC_GTEST_PROP(SuccessiveEliminationProperty, DropsWhatTheDefinitionDrops, ()) {
  const Count arms = *rc::gen::inRange<Count>(1, 9);
  const Count horizon = *rc::gen::inRange<Count>(10, 3000);
  const Count block = *rc::gen::inRange<Count>(1, 8);
  test::Coins coins(*rc::gen::arbitrary<std::uint64_t>());
  SuccessiveElimination policy = Made(arms, horizon, block);
  std::vector<double> sums(static_cast<std::size_t>(arms));
  std::vector<Count> pulls(static_cast<std::size_t>(arms));
  std::vector<bool> dropped(static_cast<std::size_t>(arms));
  for (Count sweep = 1; sweep <= 150; ++sweep) {
    std::vector<ArmId> expected;
    for (ArmId arm = 0; arm < arms; ++arm) {
      if (!dropped[static_cast<std::size_t>(arm)]) expected.push_back(arm);
    }
    RC_ASSERT(policy.active() == expected);
    if (expected.size() == 1) {
      RC_ASSERT(policy.Due() == std::numeric_limits<Count>::max());
      policy.Learn(policy.Choose(), 5, 1000);
      RC_ASSERT(policy.active() == expected);
      return;
    }
    for (const ArmId arm : expected) {
      const auto at = static_cast<std::size_t>(arm);
      for (Count left = block; left > 0;) {
        RC_ASSERT(policy.Choose() == arm);
        RC_ASSERT(policy.Due() == left);
        const Count count = 1 + static_cast<Count>(UniformBelow(static_cast<std::uint64_t>(left), coins.gen));
        const double mean = static_cast<double>(arm + 1) / static_cast<double>(arms);
        const auto sum = static_cast<double>(Binomial(count, mean, coins.gen));
        policy.Learn(arm, sum, count);
        sums[at] += sum;
        pulls[at] += count;
        left -= count;
      }
    }
    const auto n = static_cast<double>(sweep * block);
    double best = 0;
    for (const ArmId arm : expected) best = std::max(best, sums[static_cast<std::size_t>(arm)] / n);
    for (const ArmId arm : expected) {
      const auto at = static_cast<std::size_t>(arm);
      RC_ASSERT(pulls[at] == sweep * block);
      const double lead = best - sums[at] / n;
      RC_PRE(std::abs(lead - 2 * Width(arms, horizon, n)) > 1e-12);  // skips cases that rounding decides
      if (lead >= 2 * Width(arms, horizon, n)) dropped[at] = true;
    }
  }
}

// With rewards that equal their means, an arm is dropped in the first sweep in which 2 c_n is at most its
// gap.
TEST(SuccessiveEliminationTest, DropsAnArmAtItsTime) {
  constexpr Count kHorizon = 10'000;
  const std::vector<double> means = {0.25, 1, 0.5};
  SuccessiveElimination policy = Made(3, kHorizon);
  const auto due = [&](double gap) {
    Count n = 1;
    while (2 * Width(3, kHorizon, static_cast<double>(n)) > gap) ++n;
    return n;
  };
  std::vector<Count> left(3);
  while (policy.active().size() > 1) {
    const ArmId arm = policy.Choose();
    ++left[static_cast<std::size_t>(arm)];
    policy.Learn(arm, means[static_cast<std::size_t>(arm)], 1);
  }
  EXPECT_THAT(policy.active(), ElementsAre(1));
  EXPECT_THAT(left, ElementsAre(due(0.75), due(0.5), due(0.5)));
  EXPECT_EQ(policy.sweeps(), due(0.5));
}

TEST(SuccessiveEliminationTest, OfEqualsAllStay) {
  SuccessiveElimination policy = Made(4, 1000);
  for (int i = 0; i < 4000; ++i) policy.Learn(policy.Choose(), 1, 1);
  EXPECT_THAT(policy.active(), ElementsAre(0, 1, 2, 3));
}

// The best arm is lost with probability at most 1/T, so 0.04 losses are expected in 400 runs. An arm is
// dropped by the time that 4 c_n equals its gap.
TEST(SuccessiveEliminationTest, KeepsTheBestAndDropsTheOthersInTime) {
  constexpr Count kHorizon = 10'000;
  constexpr Count kRuns = 400;
  const auto problem = std::make_shared<const ArmProblem>(ArmProblem::Alike({0.4, 0.9, 0.2}, kRuns).value());
  ArmWorld world = ArmWorld::Create({.problem = problem, .seed = 1}).value();
  Count latest = 1;
  while (4 * Width(3, kHorizon, static_cast<double>(latest)) > 0.5) ++latest;
  for (std::uint32_t run = 1; run <= kRuns; ++run) {
    SuccessiveElimination policy = Made(3, kHorizon);
    std::vector<RewardSum> reward(1);
    while (policy.active().size() > 1) {
      const std::vector<Pull> pull = {{policy.Choose(), 1}};
      ASSERT_TRUE(world.Answer(NodeId{run}, 1, pull, reward).ok());
      policy.Learn(pull[0].arm, reward[0].sum, 1);
    }
    EXPECT_THAT(policy.active(), ElementsAre(1));
    EXPECT_LE(policy.sweeps(), latest);
  }
}

TEST(SuccessiveEliminationTest, DropsSoonerWithASmallerBonus) {
  const auto sweeps = [](double bonus) {
    SuccessiveElimination policy =
        SuccessiveElimination::Create({.arms = 2, .horizon = 1'000'000, .bonus = bonus}).value();
    while (policy.active().size() > 1) {
      const ArmId arm = policy.Choose();
      policy.Learn(arm, arm == 0 ? 0.75 : 0.25, 1);
    }
    return policy.sweeps();
  };
  EXPECT_LT(3 * sweeps(0.5), sweeps(1)) << "the number of pulls grows with the square";
  EXPECT_LT(sweeps(1), sweeps(2));
}

TEST(SuccessiveEliminationTest, NamesWhatIsWrong) {
  const auto key = [](const SuccessiveEliminationParams& params) {
    return InputErrorOf(SuccessiveElimination::Create(params).status()).value_or(InputError{}).key;
  };
  for (const Count bad : {Count{0}, Count{-1}, std::numeric_limits<Count>::min()}) {
    EXPECT_EQ(key({.arms = bad, .horizon = 10}), "arms");
    EXPECT_EQ(key({.arms = 2, .horizon = bad}), "horizon");
    EXPECT_EQ(key({.arms = 2, .horizon = 10, .block = bad}), "block");
  }
  EXPECT_EQ(key({.arms = (1 << 20) + 1, .horizon = 10}), "arms");
  EXPECT_EQ(key({.arms = 2, .horizon = 10, .block = 11}), "block");
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(key({.arms = 2, .horizon = 10, .bonus = bad}), "bonus");
  SuccessiveElimination policy = Made(2, 10);
  EXPECT_DEATH(policy.Learn(1, 0, 1), "check failed");
  EXPECT_DEATH(policy.Learn(0, 0, 2), "check failed");
  EXPECT_DEATH(policy.Learn(0, 2, 1), "check failed");
}

}  // namespace
}  // namespace bandana
