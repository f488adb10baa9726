#include "bandana/algorithms/lin_ucb/lin_ucb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/recorder.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/mean_privatizers.h"
#include "tests/sim/simulator.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const LinearProblem> DrawnProblem(Count dimension, Count actions, std::uint32_t replicate = 0,
                                                  ActionLaw law = ActionLaw::kSphere) {
  auto problem = LinearProblem::Draw({.dimension = dimension, .actions = actions, .law = law}, 1, replicate);
  EXPECT_TRUE(problem.ok()) << problem.status();
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

LinUcbSetting Params(Count horizon) {
  return {.horizon = horizon,
          .beta = std::nullopt,
          .population = 200'000,
          .reward = {RewardKind::kGaussian, 0.5},
          .client_sd = 0.1};
}

LinUcbPolicy Policy(const LinUcbSetting& params, const ActionMatrix& actions) {
  auto policy = LinUcbPolicy::Create(params, actions);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return *std::move(policy);
}

// Theorem 2 and the choice by it, recomputed from sums over all rounds without any update formula.
class Naive {
 public:
  Naive(const ActionMatrix& actions, double noise_proxy, double beta)
      : actions_(actions), noise_proxy_(noise_proxy), beta_(beta) {}

  void Learn(ArmId arm, double reward) { seen_.emplace_back(arm, reward); }

  double radius() const {
    return noise_proxy_ * std::sqrt(2 * std::log(std::sqrt(Gram().determinant()) / beta_)) + 1;
  }

  Vector Indices() const {
    Vector moment = Vector::Zero(actions_.cols());
    for (const auto& [arm, reward] : seen_) moment += reward * actions_.row(arm).transpose();
    const Matrix inverse = Gram().fullPivLu().inverse();
    const Vector estimate = inverse * moment;
    const double wide = radius();
    Vector indices(actions_.rows());
    for (Eigen::Index i = 0; i < indices.size(); ++i) {
      const Vector x = actions_.row(i).transpose();
      indices[i] = x.dot(estimate) + wide * std::sqrt(x.dot(inverse * x));
    }
    return indices;
  }

 private:
  Matrix Gram() const {
    Matrix gram = Matrix::Identity(actions_.cols(), actions_.cols());
    for (const auto& [arm, reward] : seen_) {
      gram += actions_.row(arm).transpose() * actions_.row(arm);
    }
    return gram;
  }

  const ActionMatrix& actions_;
  double noise_proxy_;
  double beta_;
  std::vector<std::pair<ArmId, double>> seen_;
};

// Two arms: one has been pulled often and is better by the estimate, the other is unknown.
TEST(LinUcbPolicyTest, TheBonusIsTheFactorOfTheWidth) {
  const ActionMatrix actions = ActionMatrix::Identity(2, 2);
  const auto choice = [&](double bonus) {
    LinUcbSetting params = Params(1000);
    params.bonus = bonus;
    LinUcbPolicy policy = Policy(params, actions);
    for (int i = 0; i < 50; ++i) policy.Learn(0, 0.5);
    // The first arm leads by 0.49, and the second arm's |x|_(V^-1) is larger by 0.86.
    const double tie = 0.5 * 50 / 51 / ((1 - std::sqrt(1. / 51)) * policy.radius());
    return std::pair(policy.ChooseArm(), tie);
  };
  EXPECT_EQ(choice(0).first, 0);
  EXPECT_EQ(choice(1).first, 1);
  const double tie = choice(1).second;
  EXPECT_EQ(choice(0.99 * tie).first, 0);
  EXPECT_EQ(choice(1.01 * tie).first, 1);
  for (const double bad : {-0.1, kNan}) {
    LinUcbSetting params = Params(10);
    params.bonus = bad;
    EXPECT_EQ(InputErrorOf(LinUcbPolicy::Create(params, actions).status())->key, "bonus") << bad;
  }
}

TEST(LinUcbPolicyTest, DecidesAsTheDefinitionDoes) {
  struct Case {
    Count dimension, actions, rounds;
    ActionLaw law;
  };
  for (const auto& [dimension, actions, rounds, law] : {Case{1, 1, 20, ActionLaw::kSphere},
                                                        {2, 7, 1100, ActionLaw::kSphere},
                                                        {5, 40, 600, ActionLaw::kGaussian},
                                                        {8, 60, 300, ActionLaw::kOrthant}}) {
    const auto problem = DrawnProblem(dimension, actions, 3, law);
    const LinUcbSetting params = Params(10'000);
    LinUcbPolicy policy = Policy(params, problem->actions());
    const double longest = problem->actions().rowwise().norm().maxCoeff();
    Naive naive(problem->actions(), std::sqrt(0.25 + 0.01 * longest * longest), 1e-4);
    test::Coins coins(5);
    int clear = 0;
    for (Count round = 0; round < rounds; ++round) {
      const ArmId arm = policy.ChooseArm();
      EXPECT_NEAR(policy.radius(), naive.radius(), 1e-9);
      Vector indices = naive.Indices();
      Eigen::Index best;
      const double largest = indices.maxCoeff(&best);
      ASSERT_GE(indices[arm], largest - 1e-9) << "round " << round;
      indices[best] = -1e300;
      if (actions == 1 || indices.maxCoeff() < largest - 1e-9) {
        ASSERT_EQ(arm, best) << "round " << round;
        ++clear;
      }
      const double reward = problem->means()[arm] + 0.5 * StandardNormal(coins.gen);
      policy.Learn(arm, reward);
      naive.Learn(arm, reward);
    }
    EXPECT_EQ(policy.rounds(), rounds);
    EXPECT_GT(clear, rounds * 9 / 10) << "ties decided most rounds: the test sees little";
  }
}

TEST(LinUcbPolicyTest, TiesGoToTheSmallestIndex) {
  ActionMatrix actions(6, 2);
  actions << 0.5, 0, 1, 0, 0, 1, 1, 0, 0, 1, -1, 0;
  LinUcbPolicy policy = Policy(Params(100), actions);
  EXPECT_EQ(policy.ChooseArm(), 1);
  policy.Learn(1, 0.0);
  EXPECT_EQ(policy.ChooseArm(), 2) << "the first axis is known better now";
  policy.Learn(2, 5.0);
  EXPECT_EQ(policy.ChooseArm(), 2);
}

TEST(LinUcbPolicyTest, ActionsInASubspaceAndAZeroAction) {
  ActionMatrix actions(3, 3);
  actions << 0, 0, 0, 0.6, 0.8, 0, 0.3, 0.4, 0;
  LinUcbPolicy policy = Policy(Params(3000), actions);
  Count other = 0;
  while (!policy.finished()) {
    const ArmId arm = policy.ChooseArm();
    other += arm != 1;
    policy.Learn(arm, actions.row(arm).sum() / 1.4);
  }
  EXPECT_LT(other, 100);
  EXPECT_NEAR(policy.estimate().dot(Eigen::Vector3d(0.6, 0.8, 0)), 1, 1e-2);
}

TEST(LinUcbPolicyTest, RankOneUpdatesDoNotDrift) {
  const auto problem = DrawnProblem(10, 50);
  LinUcbPolicy policy = Policy(Params(10'000), problem->actions());
  Naive naive(problem->actions(), std::sqrt(0.26), 1e-4);
  test::Coins coins(6);
  for (Count round = 0; round < 2 * LinUcbPolicy::kRefresh - 1; ++round) {
    const ArmId arm = policy.ChooseArm();
    const double reward = problem->means()[arm] + 0.5 * StandardNormal(coins.gen);
    policy.Learn(arm, reward);
    naive.Learn(arm, reward);
  }
  EXPECT_NEAR(policy.radius() / naive.radius(), 1, 1e-12) << "as long after a refresh as it can be";
  const Vector indices = naive.Indices();
  EXPECT_NEAR(indices[policy.ChooseArm()], indices.maxCoeff(), 1e-11);
}

// 40 runs at beta = 0.5. If P(theta in all ellipsoids) >= 1/2 holds, more than 36 failures have probability
// below 1e-8. The bound is far from sharp: no failure is expected, and a sixth of the radius must fail.
TEST(LinUcbPolicyTest, TheEllipsoidHoldsThetaInAllRoundsAtOnce) {
  int lost = 0, lost_by_a_sixth = 0;
  for (std::uint32_t run = 0; run < 40; ++run) {
    const auto problem = DrawnProblem(4, 30, run);
    LinUcbSetting params = Params(400);
    params.beta = 0.5;
    LinUcbPolicy policy = Policy(params, problem->actions());
    test::Coins coins(100 + run);
    Matrix gram = Matrix::Identity(4, 4);
    bool outside = false, far_outside = false;
    while (!policy.finished()) {
      const ArmId arm = policy.ChooseArm();
      const Vector x = problem->actions().row(arm).transpose();
      const double deviation = std::hypot(0.5, 0.1) * StandardNormal(coins.gen);
      policy.Learn(arm, problem->means()[arm] + deviation);
      gram += x * x.transpose();
      const Vector error = policy.estimate() - problem->theta();
      const double distance = std::sqrt(error.dot(gram * error));
      outside = outside || distance > policy.radius();
      far_outside = far_outside || distance > policy.radius() / 6;
    }
    lost += outside;
    lost_by_a_sixth += far_outside;
  }
  EXPECT_LE(lost, 36);
  EXPECT_GT(lost_by_a_sixth, 36) << "the test could not see a radius that is too small";
}

// --- the role, in the simulator

struct Ran {
  absl::Status status;
  Checkpoint end;
  bool finished = false;
};

Ran Simulate(const std::shared_ptr<const LinearProblem>& problem, const LinUcbSetting& params,
             std::uint32_t replicate = 0) {
  const NoPrivacyMean bare(Declassify("test"));
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = params.reward,
                                              .client_sd = params.client_sd,
                                              .size = params.population,
                                              .seed = 1,
                                              .replicate = replicate});
  EXPECT_TRUE(population.ok()) << population.status();
  auto server = LinUcbServer<NoPrivacyMean>::Create(params, problem->actions(), bare);
  if (!server.ok()) return {server.status(), {}, false};
  Recorder recorder(*problem, {});
  const sim::SimParams sim{.seed = 1,
                           .replicate = replicate,
                           .topology = Topology::Star(params.population),
                           .budget_per_client = {1, 0.1}};
  using Simulator = sim::Simulator<LinUcbServer<NoPrivacyMean>, EliminationClient<NoPrivacyMean>>;
  const absl::Status status = Simulator::Run(sim, *server, bare, *population, recorder);
  return {status, recorder.now(), server->finished()};
}

TEST(LinUcbServerTest, AsksANewClientEveryRound) {
  const Ran ran = Simulate(DrawnProblem(3, 20), Params(500));
  ASSERT_TRUE(ran.status.ok()) << ran.status;
  EXPECT_TRUE(ran.finished);
  EXPECT_EQ(ran.end.t, 500);
  EXPECT_EQ(ran.end.clients, 500);
  EXPECT_EQ(ran.end.reals, 500);
}

// Theorem 3: with probability 1 - beta the regret is at most
// 4 sqrt(T d ln(1 + T/d)) (1 + s sqrt(2 ln(1/beta) + d ln(1 + T/d))), for all T at once.
TEST(LinUcbServerTest, RegretIsBelowTheTheoremsAndGrowsSlowerThanTime) {
  double early = 0, late = 0;
  for (std::uint32_t replicate = 0; replicate < 3; ++replicate) {
    const auto problem = DrawnProblem(4, 30, replicate);
    const auto regret = [&](double horizon) {
      const Ran ran = Simulate(problem, Params(static_cast<Count>(horizon)), replicate);
      EXPECT_TRUE(ran.status.ok()) << ran.status;
      const double log_term = 4 * std::log(1 + horizon / 4);
      const double bound = 4 * std::sqrt(horizon * log_term) *
                           (1 + std::sqrt(0.26) * std::sqrt(2 * std::log(horizon) + log_term));
      EXPECT_LT(ran.end.regret, bound);
      return ran.end.regret;
    };
    early += regret(1000);
    late += regret(16'000);
  }
  EXPECT_LT(late, 16 * early / 3);
  EXPECT_GT(early, 0);
}

// --- parameters

void ExpectRejected(LinUcbSetting params, const std::string& key) {
  const absl::Status status = ValidateLinUcb(params, ActionMatrix::Identity(2, 2));
  ASSERT_FALSE(status.ok()) << key;
  ASSERT_TRUE(InputErrorOf(status).has_value());
  EXPECT_EQ(InputErrorOf(status)->key, key);
}

TEST(LinUcbParamsTest, BadValuesAreNamed) {
  EXPECT_TRUE(ValidateLinUcb(Params(100), ActionMatrix::Identity(2, 2)).ok());
  for (const Count horizon : {Count{0}, Count{-1}, Count{1} << 40}) {
    LinUcbSetting params = Params(horizon);
    params.population = Count{1} << 31;
    ExpectRejected(params, "horizon");
  }
  for (const double beta : {0.0, 1.0, -0.5, kNan}) {
    LinUcbSetting params = Params(100);
    params.beta = beta;
    ExpectRejected(params, "beta");
  }
  for (const double sd : {-1.0, kNan, std::numeric_limits<double>::infinity()}) {
    LinUcbSetting params = Params(100);
    params.client_sd = sd;
    ExpectRejected(params, "client_sd");
    params = Params(100);
    params.reward.sd = sd;
    ExpectRejected(params, "reward");
  }
  for (const Count population : {Count{0}, Count{99}, Count{1} << 33}) {
    LinUcbSetting params = Params(100);
    params.population = population;
    ExpectRejected(params, "people");
  }
  EXPECT_FALSE(ValidateLinUcb(Params(100), ActionMatrix(0, 2)).ok());
}

}  // namespace
}  // namespace bandana
