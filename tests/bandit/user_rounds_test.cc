#include "bandana/bandit/worlds/user_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "bandana/bandit/context_coordinates.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "tests/support.h"

// Each Kolmogorov-Smirnov test has a false-alarm rate of 1e-6; moments may be off by five or more standard
// errors.
namespace bandana {
namespace {

std::shared_ptr<const GlmProblem> Problem(const GlmProblemParams& params, std::uint64_t seed = 1) {
  auto problem = GlmProblem::Draw(params, seed, 0);
  EXPECT_TRUE(problem.ok()) << problem.status();
  return std::make_shared<const GlmProblem>(*std::move(problem));
}

GlmProblemParams Linear(Count dimension, Count arms, UserContexts contexts = UserContexts::kSphere) {
  return {.dimension = dimension, .arms = arms, .contexts = contexts, .reward = {.sd = 0.1}};
}

ArmId Largest(const std::vector<double>& scores) {
  return static_cast<ArmId>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

Vector ToVector(std::span<const double> x) {
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// Statistics of a run of rounds about the arm that an estimate picks.
struct Seen {
  std::vector<double> scores, gaps, rewards, coordinates, along, norms;
  Matrix squares;
  double largest_error = 0;  // the largest |score - <context, estimate>|
};

/// Runs rounds; `other` is the direction of the recorded coordinates, neither the estimate nor the truth.
template <class World>
Seen RunRounds(World& world, const Vector& estimate, const Vector& other, int rounds) {
  Seen seen;
  const auto d = static_cast<Eigen::Index>(world.dimension());
  seen.squares = Matrix::Zero(d, d);
  std::vector<double> scores(static_cast<std::size_t>(world.arms()));
  const Vector truth = world.problem().thetas().row(0);
  for (int t = 0; t < rounds; ++t) {
    EXPECT_TRUE(world.Next());
    world.Scores({estimate.data(), static_cast<std::size_t>(d)}, scores);
    const ArmId arm = Largest(scores);
    const Vector x = ToVector(world.Context(arm));
    seen.scores.push_back(scores[static_cast<std::size_t>(arm)]);
    seen.scores.push_back(scores[0]);
    seen.gaps.push_back(world.Gap(arm));
    seen.rewards.push_back(*world.Reward(arm));
    seen.coordinates.push_back(x.dot(other));
    seen.along.push_back(x.dot(truth));
    seen.norms.push_back(x.norm());
    seen.squares += x * x.transpose() / rounds;
    seen.largest_error =
        std::max(seen.largest_error, std::abs(x.dot(estimate) - scores[static_cast<std::size_t>(arm)]));
  }
  return seen;
}

struct Setting {
  Count dimension;
  Count arms;
  UserContexts contexts;
  double overlap;  ///< cosine of estimate and truth
};

Vector Estimate(const Vector& truth, double overlap) {
  Vector across = Vector::Random(truth.size());
  across -= across.dot(truth) / truth.squaredNorm() * truth;
  return 0.7 * (overlap * truth.normalized() + std::sqrt(1 - overlap * overlap) * across.normalized());
}

TEST(ProjectedRoundsTest, HasTheLawOfDrawnRounds) {
  const UserContexts sphere = UserContexts::kSphere;
  const UserContexts gaussian = UserContexts::kGaussian;
  constexpr int kRounds = 10'000;
  int number = 0;
  for (const Setting& c :
       {Setting{2, 10, sphere, 0.3}, Setting{2, 3, gaussian, -0.5}, Setting{3, 4, sphere, 0.9},
        Setting{4, 2, sphere, -1}, Setting{20, 20, sphere, 0.6}, Setting{20, 2, gaussian, 0.2},
        Setting{7, 5, sphere, 1}, Setting{5, 3, gaussian, 1 - 1e-9}}) {
    const auto problem =
        Problem(Linear(c.dimension, c.arms, c.contexts), static_cast<std::uint64_t>(++number));
    std::srand(static_cast<unsigned>(number));  // the seed of Eigen's Random
    const Vector truth = problem->thetas().row(0);
    const Vector estimate = Estimate(truth, c.overlap);
    const Vector other = Vector::Random(c.dimension).normalized();
    DrawnRounds drawn(problem, 100, 0);
    ProjectedRounds projected(problem, 200, 0);
    const Seen a = RunRounds(drawn, estimate, other, kRounds);
    const Seen b = RunRounds(projected, estimate, other, kRounds);
    EXPECT_TRUE(test::SameLaw(a.scores, b.scores)) << number;
    EXPECT_TRUE(test::SameLaw(a.gaps, b.gaps)) << number;
    EXPECT_TRUE(test::SameLaw(a.rewards, b.rewards)) << number;
    EXPECT_TRUE(test::SameLaw(a.coordinates, b.coordinates)) << number;
    EXPECT_TRUE(test::SameLaw(a.along, b.along)) << number;
    if (c.contexts == gaussian) {
      EXPECT_TRUE(test::SameLaw(a.norms, b.norms)) << number;
    }
    // Entries of x x' have a standard deviation below 1 on the sphere, and about 3/d otherwise.
    EXPECT_LE((a.squares - b.squares).cwiseAbs().maxCoeff(), 6 * std::sqrt(2.0 / kRounds)) << number;
    EXPECT_LE(a.largest_error, 1e-14) << number;
    EXPECT_LE(b.largest_error, 1e-14) << number;
  }
}

// A planted violation: with another estimate the laws differ, and the comparison must see it.
TEST(ProjectedRoundsTest, TheComparisonSeesADifferentEstimate) {
  const auto problem = Problem(Linear(5, 4));
  const Vector truth = problem->thetas().row(0);
  DrawnRounds drawn(problem, 100, 0);
  ProjectedRounds projected(problem, 200, 0);
  const Seen a = RunRounds(drawn, truth, truth, 10'000);
  const Seen b = RunRounds(projected, Estimate(truth, 0.9), truth, 10'000);
  EXPECT_FALSE(test::SameLaw(a.along, b.along));
  EXPECT_FALSE(test::SameLaw(a.gaps, b.gaps));
}

// Given theta_hat, E x x' of the chosen arm is E u^2 along theta_hat and (1 - E u^2) / (d - 1) across it, by
// symmetry.
TEST(ProjectedRoundsTest, SecondMomentsOfTheChosenArm) {
  constexpr int kRounds = 40'000;
  for (const Count d : {2, 6}) {
    const auto problem = Problem(Linear(d, 8));
    const Vector estimate = Estimate(problem->thetas().row(0), 0.5);
    ProjectedRounds world(problem, 7, 0);
    const Seen seen = RunRounds(world, estimate, estimate.normalized(), kRounds);
    double square = 0;
    for (const double u : seen.coordinates) square += u * u / kRounds;
    const Vector e = estimate.normalized();
    const double across = (1 - square) / static_cast<double>(d - 1);
    const Matrix expected =
        square * e * e.transpose() + across * (Matrix::Identity(d, d) - e * e.transpose());
    EXPECT_LE((seen.squares - expected).cwiseAbs().maxCoeff(), 6 / std::sqrt(kRounds));
    double mean = 0;
    for (const double u : seen.coordinates) mean += u / kRounds;
    EXPECT_NEAR(mean, MeanLargestSphereCoordinate(d, 8), 5 / std::sqrt(kRounds));
  }
}

TEST(ProjectedRoundsTest, NoNormExceedsOne) {
  for (const Count d : {2, 3, 4, 5, 20, 100}) {
    const auto problem = Problem(Linear(d, 3));
    ProjectedRounds projected(problem, 3, 0);
    DrawnRounds drawn(problem, 3, 0);
    const Vector truth = problem->thetas().row(0);
    for (const double overlap : {-1., 0., 0.999999, 1.}) {
      const Vector estimate = Estimate(truth, overlap);
      const Seen a = RunRounds(projected, estimate, truth, 2000);
      EXPECT_LE(*std::max_element(a.norms.begin(), a.norms.end()), 1);
      EXPECT_GE(*std::min_element(a.norms.begin(), a.norms.end()), 1 - 1e-12);
    }
    const Seen b = RunRounds(drawn, truth, truth, 2000);
    EXPECT_LE(*std::max_element(b.norms.begin(), b.norms.end()), 1);
  }
}

TEST(ProjectedRoundsTest, NoEstimateMeansNoScores) {
  for (const Count d : {2, 5}) {
    const auto problem = Problem(Linear(d, 3));
    ProjectedRounds world(problem, 3, 0);
    const std::vector<double> zero(static_cast<std::size_t>(d), 0.0);
    std::vector<double> scores(3, 1);
    double mean = 0;
    constexpr int kRounds = 20'000;
    for (int t = 0; t < kRounds; ++t) {
      world.Next();
      world.Scores(zero, scores);
      ASSERT_EQ(scores, (std::vector<double>{0, 0, 0}));
      mean += ToVector(world.Context(1)).dot(problem->thetas().row(0).transpose()) / kRounds;
      ASSERT_GE(world.Gap(1), 0);
    }
    EXPECT_NEAR(mean, 0, 5 / std::sqrt(kRounds));
  }
}

TEST(ProjectedRoundsTest, AnswersAreTheSameWithinARound) {
  for (const Count d : {2, 9}) {
    const auto problem = Problem(Linear(d, 4));
    ProjectedRounds world(problem, 3, 0);
    ProjectedRounds again(problem, 3, 0);
    const std::vector<double> theta(static_cast<std::size_t>(d), 0.1);
    std::vector<double> scores(4), others(4);
    for (int t = 0; t < 1000; ++t) {
      world.Next();
      world.Scores(theta, scores);
      again.Next();
      again.Scores(theta, others);
      ASSERT_EQ(scores, others);
      const ArmId arm = t % 4;
      const Vector x = ToVector(world.Context(arm));
      const auto reward = world.Reward(arm);
      ASSERT_EQ(x, ToVector(world.Context(arm)));
      ASSERT_EQ(reward, world.Reward(arm));
      ASSERT_EQ(reward, again.Reward(arm));
      ASSERT_EQ(x, ToVector(again.Context(arm)));
    }
  }
}

TEST(ProjectedRoundsTest, AcceptsWhatItCanDo) {
  EXPECT_TRUE(ProjectedRounds::Accepts(*Problem(Linear(2, 3))));
  EXPECT_TRUE(ProjectedRounds::Accepts(*Problem(Linear(3, 3, UserContexts::kGaussian))));
  EXPECT_FALSE(ProjectedRounds::Accepts(*Problem(Linear(1, 3))));
  GlmProblemParams multi = Linear(3, 3);
  multi.parameters = ParameterKind::kMulti;
  EXPECT_FALSE(ProjectedRounds::Accepts(*Problem(multi)));
  GlmProblemParams margin = Linear(3, 2, UserContexts::kMargin);
  margin.margin = 1;
  EXPECT_FALSE(ProjectedRounds::Accepts(*Problem(margin)));
  EXPECT_DEATH(ProjectedRounds(Problem(multi), 1, 0), "Accepts");
}

template <class World>
void ExpectGapsThroughTheLink(Link link, Count bound) {
  GlmProblemParams params = Linear(4, 6);
  params.mean = *MeanFunction::Create(link, bound);
  params.theta_norm = 1.5;
  if (link != Link::kIdentity) params.reward = {.kind = RewardKind::kBernoulli};
  const auto problem = Problem(params);
  World world(problem, 5, 0);
  const Vector truth = problem->thetas().row(0);
  std::vector<double> scores(6);
  for (int t = 0; t < 500; ++t) {
    world.Next();
    world.Scores({truth.data(), 4}, scores);  // the estimate is the truth, so scores are predictors
    const ArmId best = Largest(scores);
    EXPECT_NEAR(world.Gap(best), 0, 1e-14);
    const ArmId arm = t % 6;
    EXPECT_NEAR(world.Gap(arm),
                problem->mean()(scores[static_cast<std::size_t>(best)]) -
                    problem->mean()(scores[static_cast<std::size_t>(arm)]),
                1e-12);
  }
}

TEST(UserRoundsTest, GapsGoThroughTheLink) {
  for (const Link link : {Link::kIdentity, Link::kLogistic, Link::kProbit, Link::kPoisson}) {
    const Count bound = link == Link::kPoisson ? 5 : 0;
    ExpectGapsThroughTheLink<DrawnRounds>(link, bound);
    ExpectGapsThroughTheLink<ProjectedRounds>(link, bound);
  }
}

TEST(DrawnRoundsTest, MultiHasOneContextAndManyThetas) {
  GlmProblemParams params = Linear(6, 3);
  params.parameters = ParameterKind::kMulti;
  params.mean = MeanFunction(Link::kLogistic);
  params.reward = {.kind = RewardKind::kBernoulli};
  const auto problem = Problem(params);
  DrawnRounds world(problem, 9, 0);
  EXPECT_TRUE(world.multi());
  const ActionMatrix& thetas = problem->thetas();
  std::vector<double> scores(3);
  double surplus = 0;
  constexpr int kRounds = 50'000;
  for (int t = 0; t < kRounds; ++t) {
    world.Next();
    ASSERT_EQ(world.Contexts().rows(), 1);
    world.Scores({thetas.data(), 18}, scores);
    for (int a = 0; a < 3; ++a) {
      ASSERT_NEAR(scores[static_cast<std::size_t>(a)], world.Contexts().row(0).dot(thetas.row(a)), 1e-14);
    }
    const ArmId arm = t % 3;
    ASSERT_EQ(world.Context(arm).data(), world.Contexts().data());
    const double mean = problem->mean()(scores[static_cast<std::size_t>(arm)]);
    surplus += *world.Reward(arm) - mean;
    ASSERT_NEAR(world.Gap(arm), problem->mean()(*std::max_element(scores.begin(), scores.end())) - mean,
                1e-13);
  }
  EXPECT_LE(std::abs(surplus), 6 * 0.5 * std::sqrt(kRounds));
}

TEST(DrawnRoundsTest, UsersDoNotDependOnWhatIsPlayed) {
  const auto problem = Problem(Linear(3, 4));
  DrawnRounds a(problem, 3, 1), b(problem, 3, 1), c(problem, 3, 2);
  for (int t = 0; t < 50; ++t) {
    a.Next();
    b.Next();
    c.Next();
    EXPECT_EQ(a.Contexts(), b.Contexts());
    EXPECT_NE(a.Contexts(), c.Contexts());
    a.Reward(0);
  }
}

TEST(DrawnRoundsTest, CoordinatesHaveTheirLaws) {
  constexpr int kRounds = 10'000;
  for (const Count d : {1, 2, 5}) {
    DrawnRounds sphere(Problem(Linear(d, 2)), 3, 0);
    DrawnRounds gaussian(Problem(Linear(d, 2, UserContexts::kGaussian)), 3, 0);
    test::Coins coins(8);
    std::vector<double> on_sphere, normal, expected_sphere, expected_normal;
    for (int t = 0; t < kRounds; ++t) {
      sphere.Next();
      gaussian.Next();
      on_sphere.push_back(sphere.Contexts()(1, 0));
      normal.push_back(gaussian.Contexts()(1, d - 1));
      Vector z(d);
      for (double& entry : z) entry = StandardNormal(coins.gen);
      expected_sphere.push_back(z.normalized()[0]);
      expected_normal.push_back(z[0] / std::sqrt(static_cast<double>(d)));
    }
    if (d > 1) {
      EXPECT_TRUE(test::SameLaw(on_sphere, expected_sphere));
    }
    EXPECT_TRUE(test::SameLaw(normal, expected_normal));
  }
}

TEST(DrawnRoundsTest, MarginsHaveTheirLaw) {
  constexpr int kRounds = 20'000;
  for (const double beta : {0.3, 1.0, 2.5}) {
    GlmProblemParams params = Linear(4, 2, UserContexts::kMargin);
    params.margin = beta;
    params.theta_norm = 0.8;
    const auto problem = Problem(params);
    const Vector truth = problem->thetas().row(0);
    DrawnRounds world(problem, 4, 0);
    std::vector<double> uniforms;
    double first_wins = 0;
    Matrix squares = Matrix::Zero(4, 4);
    for (int t = 0; t < kRounds; ++t) {
      world.Next();
      const Vector x = ToVector(world.Context(0));
      const double gap = world.Gap(0) + world.Gap(1);  // one of the two gaps is 0
      ASSERT_NEAR(gap, std::abs(2 * x.dot(truth)), 1e-13);
      ASSERT_LE(x.norm(), 1);
      ASSERT_EQ(ToVector(world.Context(1)), -x);
      const double along = x.dot(truth) / 0.8;
      ASSERT_NEAR(x.squaredNorm() - along * along, 0.5, 1e-12);
      uniforms.push_back(std::pow(gap / (0.8 * kMarginGap), beta));
      first_wins += world.Gap(0) == 0 ? 1 : 0;
      squares += x * x.transpose() / kRounds;
    }
    // (gap / G)^beta is uniform; the other sample is a grid.
    std::vector<double> grid(200'000);
    for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = (static_cast<double>(i) + 0.5) / 200'000;
    EXPECT_TRUE(test::SameLaw(uniforms, grid)) << beta;
    for (double& u : uniforms) u = std::sqrt(u);
    EXPECT_FALSE(test::SameLaw(uniforms, grid)) << "the test sees nothing";
    EXPECT_NEAR(first_wins / kRounds, 0.5, 2.5 / std::sqrt(kRounds));
    // E g^2 = G^2 beta / (beta + 2), and the remaining 1/2 is spread over three directions across theta.
    const Vector t = truth / 0.8;
    const Matrix expected =
        0.5 * beta / (beta + 2) * t * t.transpose() + 0.5 / 3 * (Matrix::Identity(4, 4) - t * t.transpose());
    EXPECT_LE((squares - expected).cwiseAbs().maxCoeff(), 5 * 0.5 / std::sqrt(kRounds));
  }
}

// With several thetas two arms have the margin, and the others are worse by |theta| / sqrt2 at least.
TEST(DrawnRoundsTest, MarginsOfSeveralThetasHaveTheirLaw) {
  constexpr int kRounds = 20'000;
  for (const double beta : {0.5, 1.0}) {
    GlmProblemParams params = Linear(4, 5, UserContexts::kMargin);
    params.parameters = ParameterKind::kMulti;
    params.margin = beta;
    params.theta_norm = 0.8;
    const auto problem = Problem(params);
    for (int i = 0; i < 5; ++i) ASSERT_NEAR(problem->thetas().row(i).norm(), 0.8, 1e-13);
    DrawnRounds world(problem, 4, 0);
    std::vector<double> uniforms;
    double first_wins = 0;
    for (int t = 0; t < kRounds; ++t) {
      world.Next();
      const Vector x = ToVector(world.Context(0));
      ASSERT_LE(x.norm(), 1);
      ASSERT_NEAR(x.norm(), 1, 1e-12);
      const double gap = world.Gap(0) + world.Gap(1);  // one of the two gaps is 0
      uniforms.push_back(std::pow(gap / (0.8 * std::numbers::sqrt2), beta));
      for (ArmId inferior = 2; inferior < 5; ++inferior) {
        ASSERT_GE(world.Gap(inferior), 0.8 / std::numbers::sqrt2 - 1e-12);
      }
      first_wins += world.Gap(0) == 0 ? 1 : 0;
    }
    std::vector<double> grid(200'000);
    for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = (static_cast<double>(i) + 0.5) / 200'000;
    EXPECT_TRUE(test::SameLaw(uniforms, grid)) << beta;
    for (double& u : uniforms) u = std::sqrt(u);
    EXPECT_FALSE(test::SameLaw(uniforms, grid)) << "the test sees nothing";
    EXPECT_NEAR(first_wins / kRounds, 0.5, 2.5 / std::sqrt(kRounds));
  }
}

// Learners know theta_bound, and the world has theta_norm.
TEST(GlmUsersTest, ThetaBoundIsPublicAndAtLeastTheLength) {
  GlmUsersParams params{
      .dimension = 2, .actions = 2, .link = Link::kIdentity, .theta_norm = 0.25, .reward_sd = 0};
  const WorldDraw draw{.horizon = 10};
  EXPECT_EQ((*MakeGlmUsers(params, draw))->facts().theta_norm, 0.25);
  params.theta_bound = 1;
  const auto world = MakeGlmUsers(params, draw);
  EXPECT_EQ((*world)->facts().theta_norm, 1);
  EXPECT_EQ((*world)->facts().rewards, (Interval{-1, 1}));
  EXPECT_NEAR((*world)->EstimationError(std::vector<double>{0, 0}), 0.25, 1e-14);
  params.theta_bound = 0.2;
  EXPECT_FALSE(MakeGlmUsers(params, draw).ok());
}

}  // namespace
}  // namespace bandana
