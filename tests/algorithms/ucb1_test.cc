#include "bandana/algorithms/arms/ucb1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

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

enum class Form { kFused, kTextbook };

/// UCB1 by its definition, with a loop over all arms in every round.
class Naive {
 public:
  Naive(Count arms, Form form)
      : form_(form), pulls_(static_cast<std::size_t>(arms)), sums_(static_cast<std::size_t>(arms)) {}

  ArmId Choose() const {
    double largest = -1;
    std::size_t best = 0;
    for (std::size_t k = 0; k < pulls_.size(); ++k) {
      if (pulls_[k] == 0) return static_cast<ArmId>(k);
      const double index = Index(k);
      if (!(index > largest)) continue;
      largest = index;
      best = k;
    }
    return static_cast<ArmId>(best);
  }

  void Learn(ArmId arm, double sum, Count count) {
    pulls_[static_cast<std::size_t>(arm)] += count;
    sums_[static_cast<std::size_t>(arm)] += sum;
    time_ += count;
  }

 private:
  double Index(std::size_t k) const {
    const auto n = static_cast<double>(pulls_[k]);
    const double two_logs = 2 * std::log(static_cast<double>(time_));
    if (form_ == Form::kTextbook) return sums_[k] / n + std::sqrt(two_logs / n);
    return std::fma(std::sqrt(two_logs), 1 / std::sqrt(n), sums_[k] / n);
  }

  Form form_;
  Count time_ = 0;
  std::vector<Count> pulls_;
  std::vector<double> sums_;
};

RC_GTEST_PROP(Ucb1Property, ChoosesWhatTheDefinitionDoes, ()) {
  const Count arms = *rc::gen::inRange<Count>(1, 70);
  test::Coins coins(*rc::gen::arbitrary<std::uint64_t>());
  const bool batches = *rc::gen::arbitrary<bool>();
  const bool real = *rc::gen::arbitrary<bool>();  // otherwise rewards are 0 or 1, which tie often
  Ucb1 policy = Ucb1::Create(arms).value();
  Naive naive(arms, Form::kFused);
  for (int round = 0; round < 400; ++round) {
    const ArmId arm = policy.Choose();
    RC_ASSERT(arm == naive.Choose());
    const Count count = batches ? static_cast<Count>(UniformBelow(5, coins.gen)) : 1;
    const double sum = real ? UniformUnit(coins.gen) * static_cast<double>(count)
                            : static_cast<double>(Binomial(count, 0.5, coins.gen));
    policy.Learn(arm, sum, count);
    naive.Learn(arm, sum, count);
  }
}

TEST(Ucb1Test, ChoosesWhatTheTextbookDoesOverLongRuns) {
  for (const Count arms : {2, 10, 100}) {
    test::Coins coins(static_cast<std::uint64_t>(arms));
    Ucb1 policy = Ucb1::Create(arms).value();
    Naive fused(arms, Form::kFused);
    Naive textbook(arms, Form::kTextbook);
    for (int round = 0; round < 50'000; ++round) {
      const ArmId arm = policy.Choose();
      ASSERT_EQ(arm, fused.Choose()) << round;
      ASSERT_EQ(arm, textbook.Choose()) << round;
      const double mean = 0.9 * (arm + 1) / static_cast<double>(arms);
      const double reward = UniformUnit(coins.gen) < mean ? 1 : 0;
      policy.Learn(arm, reward, 1);
      fused.Learn(arm, reward, 1);
      textbook.Learn(arm, reward, 1);
    }
    EXPECT_EQ(policy.time(), 50'000);
    EXPECT_GT(policy.pulls(static_cast<ArmId>(arms) - 1), policy.pulls(0));
  }
}

// Theorem 1: E n_k <= 8 ln T/gap^2 + 1 + pi^2/3.
TEST(Ucb1Test, KeepsTheBoundOfItsTheorem) {
  constexpr Count kHorizon = 100'000;
  const auto problem = std::make_shared<const ArmProblem>(ArmProblem::Alike({0.9, 0.7, 0.5, 0.2}, 8).value());
  ArmWorld world = ArmWorld::Create({.problem = problem, .seed = 1}).value();
  for (std::uint32_t agent = 1; agent <= 8; ++agent) {
    Ucb1 policy = Ucb1::Create(4).value();
    std::vector<RewardSum> reward(1);
    for (Count t = 0; t < kHorizon; ++t) {
      const std::vector<Pull> pull = {{policy.Choose(), 1}};
      ASSERT_TRUE(world.Answer(NodeId{agent}, 1, pull, reward).ok());
      policy.Learn(pull[0].arm, reward[0].sum, 1);
    }
    for (ArmId arm = 1; arm < 4; ++arm) {
      const double bound =
          8 * std::log(kHorizon) / std::pow(problem->Gap(arm), 2) + 1 + std::pow(M_PI, 2) / 3;
      EXPECT_LE(static_cast<double>(policy.pulls(arm)), bound);
    }
  }
}

TEST(Ucb1Test, TheBonusScalesTheWidth) {
  const auto pulls_of_worse = [](double bonus) {
    test::Coins coins(7);
    Ucb1 policy = Ucb1::Create(2, bonus).value();
    for (int round = 0; round < 20'000; ++round) {
      const ArmId arm = policy.Choose();
      policy.Learn(arm, UniformUnit(coins.gen) < (arm == 0 ? 0.7 : 0.5) ? 1 : 0, 1);
    }
    return policy.pulls(1);
  };
  EXPECT_LT(4 * pulls_of_worse(0.3), pulls_of_worse(1));
  EXPECT_LT(2 * pulls_of_worse(1), pulls_of_worse(2));
}

TEST(Ucb1Test, NamesWhatIsWrong) {
  for (const double bonus :
       {-0.1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(InputErrorOf(Ucb1::Create(2, bonus).status())->key, "bonus");
  }
  for (const Count arms : {Count{-1}, Count{0}, (Count{1} << 20) + 1}) {
    EXPECT_EQ(InputErrorOf(Ucb1::Create(arms).status())->key, "arms");
  }
  Ucb1 policy = Ucb1::Create(2).value();
  EXPECT_DEATH(policy.Learn(2, 0, 1), "check failed");
  EXPECT_DEATH(policy.Learn(0, 1.5, 1), "check failed");
  EXPECT_DEATH(policy.Learn(0, std::numeric_limits<double>::quiet_NaN(), 1), "check failed");
}

}  // namespace
}  // namespace bandana
