#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandana/privacy/grid_mean.h"
#include "fmt/format.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/algorithms/elimination_support.h"

// Without privacy noise, and without its share of the width, every private elimination equals its non-private
// twin. There is no switch for that, and there must be none. Instead epsilon is so large that the noise has
// its least scale, one unit of the grid, 2^-30. The twins then have
//   equal plans, clients, active sets and regret,
//   released averages that differ by at most kUnits units per report, which is what noise of one unit causes,
//   estimates and widths that differ by no more than these averages cause.
// A shuffle sum has no such limit: its epsilon is at most 100, and it rounds rewards to its levels. Its
// averages must be within six of the standard deviations that it states. If the best action leads clearly,
// only that action must be left, some phases later than in the twin.
namespace bandana {
namespace {

using test::Bare;
using test::Outcome;
using test::ProblemPtr;

constexpr double kUnits = 60;  // noise of scale 1 exceeds this with probability exp(-60)

struct Case {
  std::string name;
  absl::StatusOr<EliminationRules> rules;
};

ClipRule Rewards(RewardKind kind, double client_sd = 0) {
  return {.reward = {kind, 0.5}, .client_sd = client_sd, .fixed_bound = std::nullopt};
}

std::vector<Case> Cases(const ProblemPtr& problem) {
  const ActionMatrix& actions = problem->actions();
  std::vector<Case> cases;
  for (const Width width : {Width::kExact, Width::kPaper}) {
    for (const RewardKind kind : {RewardKind::kRademacher, RewardKind::kUniform}) {
      const std::string which = std::string(width == Width::kExact ? " exact" : " paper") +
                                (kind == RewardKind::kRademacher ? " rademacher" : " uniform");
      const ClipRule clip = Rewards(kind);
      cases.push_back({"dp-dpe" + which, DpDpeRules({.horizon = 5000,
                                                     .alpha = 0.8,
                                                     .beta = std::nullopt,
                                                     .width = width,
                                                     .population = 10'000,
                                                     .clip = clip},
                                                    actions)});
      // A shuffle sum gets uniform rewards client by client, which is slow.
      const Count horizon = kind == RewardKind::kUniform ? 3000 : 300'000;
      cases.push_back({"pe" + which, PeRules({.horizon = horizon,
                                              .beta = std::nullopt,
                                              .width = width,
                                              .population = horizon,
                                              .clip = clip},
                                             actions)});
      for (const bool core_set : {true, false}) {
        cases.push_back({"private-elimination" + which + (core_set ? "" : " no core set"),
                         PrivateEliminationRules({.horizon = horizon,
                                                  .beta = std::nullopt,
                                                  .width = width,
                                                  .core_set = core_set,
                                                  .population = horizon,
                                                  .clip = clip},
                                                 actions)});
      }
    }
  }
  return cases;
}

// Rewards are Gaussian and clients differ, so that a group cannot be drawn at once.
std::vector<Case> ClippedCases(const ProblemPtr& problem) {
  const ClipRule clip = Rewards(RewardKind::kGaussian, 0.05);
  return {
      {"dp-dpe gaussian",
       DpDpeRules({.horizon = 5000, .alpha = 0.8, .beta = std::nullopt, .population = 10'000, .clip = clip},
                  problem->actions())},
      {"pe gaussian", PeRules({.horizon = 3000, .beta = std::nullopt, .population = 3000, .clip = clip},
                              problem->actions())},
      {"private-elimination gaussian",
       PrivateEliminationRules({.horizon = 3000, .beta = std::nullopt, .population = 3000, .clip = clip},
                               problem->actions())}};
}

template <class P>
class NoiseFreeTest : public ::testing::Test {
 protected:
  static constexpr bool kShuffled = ShufflePrivatizer<P>;

  // The tolerance for averages of n reports: noise of one unit is drawn once, or n times.
  static double Tolerance(Count clients) {
    const double n = static_cast<double>(clients);
    return kUnits * GridMean::kUnit * (P::kChargesClient ? 1 / std::sqrt(n) + 1 / kUnits : 1 / n);
  }

  static void ExpectTwins(const Case& each, const Outcome& noisy, const Outcome& none) {
    ASSERT_TRUE(noisy.status.ok() && none.status.ok()) << each.name << noisy.status << none.status;
    ASSERT_EQ(noisy.history.size(), none.history.size()) << each.name;
    ASSERT_FALSE(none.history.empty()) << each.name;
    for (std::size_t i = 0; i < none.history.size(); ++i) {
      const PhaseRecord& a = noisy.history[i];
      const PhaseRecord& b = none.history[i];
      EXPECT_EQ(a.pulls, b.pulls) << each.name;
      EXPECT_EQ(a.clients, b.clients) << each.name;
      EXPECT_EQ(a.active, b.active) << each.name;
      ASSERT_EQ(a.averages.size(), b.averages.size());
      const bool dealt = a.clients == a.rounds;
      for (std::size_t j = 0; j < a.averages.size(); ++j) {
        EXPECT_NEAR(a.averages[j], b.averages[j], Tolerance(dealt ? a.pulls[j].count : a.clients))
            << each.name << " phase " << a.epoch;
      }
      EXPECT_LT((a.estimate - b.estimate).norm(), 1e-5) << each.name;
      EXPECT_NEAR(a.width, b.width, 1e-5 * (1 + b.width)) << each.name;
    }
    EXPECT_EQ(noisy.active, none.active) << each.name;
    EXPECT_EQ(noisy.end.t, none.end.t);
    EXPECT_EQ(noisy.end.clients, none.end.clients);
    // A shuffler deals rounds out in a secret order, so regret is added up in another order.
    EXPECT_NEAR(noisy.end.regret, none.end.regret, kShuffled ? 1e-9 * none.end.regret : 0) << each.name;
  }
};
using Privatizers = ::testing::Types<CentralGaussianMean, CentralLaplaceMean, LocalGaussianMean,
                                     LocalLaplaceMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(NoiseFreeTest, Privatizers);

constexpr DpGuarantee kNoiseless{1e22, 0.1};

TYPED_TEST(NoiseFreeTest, IsTheNonPrivateTwin) {
  const auto privatizer = test::MadePrivate<TypeParam>(kNoiseless);
  for (std::uint32_t replicate = 0; replicate < 2; ++replicate) {
    const ProblemPtr problem = test::DrawnProblem(3, 15, replicate);
    for (const Case& each : Cases(problem)) {
      this->ExpectTwins(each, test::Simulate(problem, each.rules, privatizer),
                        test::Simulate(problem, each.rules, Bare()));
    }
  }
}

// Without shufflers: a shuffler would deal the rounds to other clients, and clients differ here.
template <class P>
class UnshuffledNoiseFreeTest : public NoiseFreeTest<P> {};
using Unshuffled =
    ::testing::Types<CentralGaussianMean, CentralLaplaceMean, LocalGaussianMean, LocalLaplaceMean>;
TYPED_TEST_SUITE(UnshuffledNoiseFreeTest, Unshuffled);

TYPED_TEST(UnshuffledNoiseFreeTest, IsTheNonPrivateTwinForClippedRewardsToo) {
  const auto privatizer = test::MadePrivate<TypeParam>(kNoiseless);
  const ProblemPtr problem = test::DrawnProblem(3, 15);
  for (const Case& each : ClippedCases(problem)) {
    this->ExpectTwins(each, test::Simulate(problem, each.rules, privatizer),
                      test::Simulate(problem, each.rules, Bare()));
  }
}

TYPED_TEST(NoiseFreeTest, RealNoiseIsSeen) {
  const auto privatizer = test::MadePrivate<TypeParam>({0.5, 1e-5});
  const ProblemPtr problem = test::DrawnProblem(3, 15);
  for (const Case& each : Cases(problem)) {
    if (each.rules->width == Width::kPaper) continue;
    const Outcome noisy = test::Simulate(problem, each.rules, privatizer);
    const Outcome none = test::Simulate(problem, each.rules, Bare());
    ASSERT_TRUE(noisy.status.ok()) << each.name << noisy.status;
    EXPECT_GT(std::abs(noisy.history[0].averages[0] - none.history[0].averages[0]), 1e-4) << each.name;
    EXPECT_GT(noisy.history[0].width, 1.01 * none.history[0].width) << each.name;
  }
}

// Four actions with gaps of at least 0.5.
ProblemPtr ClearProblem() {
  ActionMatrix actions(4, 2);
  actions << 0.9, 0, 0, 0.9, -0.9, 0, 0, -0.9;
  return test::Shared(LinearProblem::Create(actions, (Vector(2) << 0.9, 0.2).finished()));
}

TEST(NoiseFreeShuffleSumTest, ComesAsNearToItsTwinAsItSays) {
  const auto sum = test::MadePrivate<ShuffleSumMean>({100, 0.5}, Calibration::kTight, 0);
  const auto coarse = test::MadePrivate<ShuffleSumMean>({1, 1e-5});
  const ProblemPtr problem = ClearProblem();
  double at_most_budget = 0, at_one = 0;
  for (const Case& each : Cases(problem)) {
    // A dealt uniform reward would come from other clients than in the twin.
    if (each.rules->clip.reward.kind == RewardKind::kUniform && each.rules->clients == nullptr) continue;
    const Outcome noisy = test::Simulate(problem, each.rules, sum);
    const Outcome none = test::Simulate(problem, each.rules, Bare());
    ASSERT_TRUE(noisy.status.ok() && none.status.ok()) << each.name << noisy.status;
    ASSERT_EQ(noisy.history[0].pulls, none.history[0].pulls) << each.name;
    for (std::size_t j = 0; j < none.history[0].averages.size(); ++j) {
      EXPECT_NEAR(noisy.history[0].averages[j], none.history[0].averages[j],
                  6 * noisy.history[0].privacy_stddev)
          << each.name;
    }
    EXPECT_LT(noisy.history[0].privacy_stddev, 1) << each.name << ": the bound says nothing";
    EXPECT_EQ(noisy.active, none.active) << each.name;
    EXPECT_EQ(noisy.end.t, none.end.t);
    RecordProperty(each.name,
                   fmt::format("noise {:.3g}, regret {:.4g} against {:.4g}", noisy.history[0].privacy_stddev,
                               noisy.end.regret, none.end.regret));
    at_most_budget += noisy.end.regret;
    at_one += test::Simulate(problem, each.rules, coarse).end.regret;
  }
  EXPECT_LT(at_most_budget, at_one) << "a hundred times the budget is worth nothing";
}

// When epsilon grows step by step, the estimates come closer to the twin's, and the regret becomes equal.
TYPED_TEST(NoiseFreeTest, LargerBudgetsComeNearer) {
  constexpr std::uint32_t kReplicates = 6;
  double last = std::numeric_limits<double>::infinity();
  for (const double epsilon : {1.0, 10.0, 100.0, 1e4, 1e8, 1e22}) {
    const auto privatizer = test::MadePrivate<TypeParam>({epsilon, 1e-5});
    double distance = 0;
    for (std::uint32_t replicate = 0; replicate < kReplicates; ++replicate) {
      const ProblemPtr problem = test::DrawnProblem(3, 15, replicate);
      for (const absl::StatusOr<EliminationRules>& rules :
           {DpDpeRules({.horizon = 5000,
                        .alpha = 0.8,
                        .beta = std::nullopt,
                        .population = 10'000,
                        .clip = Rewards(RewardKind::kRademacher)},
                       problem->actions()),
            PrivateEliminationRules({.horizon = 100'000,
                                     .beta = std::nullopt,
                                     .population = 100'000,
                                     .clip = Rewards(RewardKind::kRademacher)},
                                    problem->actions())}) {
        const Outcome noisy = test::Simulate(problem, rules, privatizer);
        const Outcome none = test::Simulate(problem, rules, Bare());
        ASSERT_TRUE(noisy.status.ok()) << noisy.status;
        distance += std::abs(noisy.end.regret - none.end.regret) / none.end.regret;
      }
    }
    EXPECT_LE(distance, last * 1.05 + 1e-9) << epsilon;
    last = distance;
  }
  EXPECT_LT(last, 1e-9);
}

}  // namespace
}  // namespace bandana
