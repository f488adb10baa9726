#include "bandana/bandit/worlds/linear_population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "tests/support.h"

// Seeds are fixed. Laws are compared with the Kolmogorov-Smirnov test at 1e-6, moments at five standard
// deviations (6e-7). The same comparisons must see the planted deviations.
namespace bandana {
namespace {

using Path = LinearPopulation::Path;

std::shared_ptr<const LinearProblem> Problem(double theta_norm = 0.5, ActionLaw law = ActionLaw::kSphere) {
  auto problem =
      LinearProblem::Draw({.dimension = 3, .actions = 6, .law = law, .theta_norm = theta_norm}, 1, 1);
  EXPECT_TRUE(problem.ok());
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

LinearPopulation::Params Params(RewardModel reward = {RewardKind::kGaussian, 1}, double client_sd = 0.2) {
  return {.problem = Problem(),
          .reward = reward,
          .client_sd = client_sd,
          .size = 100'000,
          .seed = 3,
          .replicate = 4};
}

LinearPopulation Made(const LinearPopulation::Params& params) {
  auto population = LinearPopulation::Create(params);
  EXPECT_TRUE(population.ok()) << population.status();
  return *std::move(population);
}

std::vector<double> Answer(LinearPopulation& population, std::uint32_t client, Epoch epoch,
                           const std::vector<Pull>& pulls) {
  std::vector<RewardSum> rewards(pulls.size());
  const absl::Status status = population.Answer(NodeId{client}, epoch, pulls, rewards);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<double> sums;
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    EXPECT_EQ(rewards[i].count, pulls[i].count);
    sums.push_back(rewards[i].sum);
  }
  return sums;
}

const std::vector<Pull> kPulls = {{0, 3}, {2, 10}, {5, 1}};

TEST(LinearPopulationTest, AnswersDoNotDependOnTheOrderOfCalls) {
  LinearPopulation forwards = Made(Params());
  LinearPopulation backwards = Made(Params());
  std::vector<std::vector<double>> there, back;
  for (std::uint32_t client = 1; client <= 10; ++client) there.push_back(Answer(forwards, client, 2, kPulls));
  for (std::uint32_t client = 10; client >= 1; --client) {
    Answer(backwards, client + 20, 1, kPulls);
    back.insert(back.begin(), Answer(backwards, client, 2, kPulls));
  }
  EXPECT_EQ(there, back);
}

TEST(LinearPopulationTest, ClientEpochSeedAndReplicateEachGiveOtherAnswers) {
  LinearPopulation::Params params = Params();
  LinearPopulation population = Made(params);
  const std::vector<double> answer = Answer(population, 1, 1, kPulls);
  EXPECT_EQ(answer, Answer(population, 1, 1, kPulls));
  EXPECT_NE(answer, Answer(population, 2, 1, kPulls));
  EXPECT_NE(answer, Answer(population, 1, 2, kPulls));
  params.seed = 5;
  LinearPopulation reseeded = Made(params);
  EXPECT_NE(answer, Answer(reseeded, 1, 1, kPulls));
  params = Params();
  params.replicate = 5;
  LinearPopulation replicated = Made(params);
  EXPECT_NE(answer, Answer(replicated, 1, 1, kPulls));
}

// Without reward noise an average is the client's own mean reward.
TEST(LinearPopulationTest, AClientsParameterIsItsOwnForLife) {
  LinearPopulation population = Made(Params({RewardKind::kGaussian, 0}, 0.2));
  const std::vector<Pull> once = {{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  EXPECT_EQ(Answer(population, 1, 1, once), Answer(population, 1, 9, once));
  EXPECT_NE(Answer(population, 1, 1, once), Answer(population, 2, 1, once));
}

TEST(LinearPopulationTest, ParametersSpreadAroundTheta) {
  constexpr double kSd = 0.2;
  constexpr int kClients = 20'000;
  const auto problem = Problem();
  LinearPopulation population = Made(Params({RewardKind::kGaussian, 0}, kSd));
  const std::vector<Pull> once = {{0, 1}, {1, 1}};
  std::vector<double> first, second, sum;
  for (std::uint32_t client = 1; client <= kClients; ++client) {
    const std::vector<double> means = Answer(population, client, 1, once);
    first.push_back(means[0] - problem->means()[0]);
    second.push_back(means[1] - problem->means()[1]);
    sum.push_back(first.back() + second.back());
  }
  // <xi, x> has variance sd^2 |x|^2, and |x| = 1. Its correlations are those of the actions.
  const double joint = (problem->actions().row(0) + problem->actions().row(1)).squaredNorm();
  for (const auto& [sample, variance] : {std::pair(first, 1.0), {second, 1.0}, {sum, joint}}) {
    const test::Moments moments = test::MomentsOf(sample);
    EXPECT_NEAR(moments.mean, 0, 5 * kSd * std::sqrt(variance / kClients));
    EXPECT_NEAR(moments.variance / (kSd * kSd * variance), 1, 5 * std::sqrt(2. / kClients));
  }
}

TEST(LinearPopulationTest, WithoutSpreadAllClientsAreAlike) {
  LinearPopulation population = Made(Params({RewardKind::kGaussian, 0}, 0));
  const auto problem = Problem();
  for (std::uint32_t client = 1; client <= 50; ++client) {
    const std::vector<double> means = Answer(population, client, 1, {{4, 2}});
    EXPECT_DOUBLE_EQ(means[0], 2 * problem->means()[4]);
  }
}

std::vector<double> SumsOf(LinearPopulation::Params params, Path path, std::uint64_t seed,
                           std::size_t coordinate) {
  params.path = path;
  params.seed = seed;
  LinearPopulation population = Made(params);
  std::vector<double> sums;
  for (std::uint32_t client = 1; client <= 20'000; ++client) {
    sums.push_back(std::nearbyint(Answer(population, client, 1, kPulls)[coordinate] * 0x1p30) * 0x1p-30);
  }
  return sums;
}

TEST(LinearPopulationTest, SumsHaveTheLawOfSinglePulls) {
  std::vector<LinearPopulation::Params> laws = {Params({RewardKind::kGaussian, 1}, 0.2),
                                                Params({RewardKind::kRademacher}, 0.02),
                                                Params({RewardKind::kUniform}, 0.02)};
  laws.push_back(Params({RewardKind::kBernoulli}, 0));
  laws.back().problem = Problem(0.9, ActionLaw::kOrthant);
  std::uint64_t seed = 10;
  for (const LinearPopulation::Params& law : laws) {
    for (const std::size_t coordinate : {0, 1, 2}) {
      const std::vector<double> sums = SumsOf(law, Path::kSums, ++seed, coordinate);
      EXPECT_TRUE(test::SameLaw(sums, SumsOf(law, Path::kPulls, ++seed, coordinate)))
          << static_cast<int>(law.reward.kind) << " " << coordinate;
    }
  }
  LinearPopulation::Params wider = laws[0];
  wider.reward.sd = 1.2;
  EXPECT_FALSE(test::SameLaw(SumsOf(laws[0], Path::kSums, 50, 1), SumsOf(wider, Path::kPulls, 51, 1)));
  wider = laws[0];
  wider.client_sd = 0.4;
  EXPECT_FALSE(test::SameLaw(SumsOf(laws[0], Path::kSums, 50, 1), SumsOf(wider, Path::kPulls, 51, 1)));
}

// Drawn pull by pull, this would take 10^15 draws.
TEST(LinearPopulationTest, TheCostDoesNotDependOnTheCounts) {
  for (const RewardModel reward : {RewardModel{RewardKind::kGaussian, 1},
                                   RewardModel{RewardKind::kRademacher}, RewardModel{RewardKind::kUniform}}) {
    LinearPopulation::Params params = Params(reward, 0);
    LinearPopulation population = Made(params);
    for (std::uint32_t client = 1; client <= 1000; ++client) {
      const double average = Answer(population, client, 1, {{1, 1'000'000'000'000}})[0] / 1e12;
      ASSERT_NEAR(average, params.problem->means()[1], 6e-6);  // six standard deviations: 2e-9 per client
    }
  }
}

TEST(LinearPopulationTest, MeansOutsideTheRewardsRangeAreRefusedAtOnce) {
  LinearPopulation::Params params = Params({RewardKind::kBernoulli}, 0);  // the sphere has negative means
  const auto population = LinearPopulation::Create(params);
  ASSERT_FALSE(population.ok());
  EXPECT_EQ(InputErrorOf(population.status())->key, "reward");
  EXPECT_THAT(std::string(population.status().message()), ::testing::HasSubstr("the population"));
  params.problem = Problem(0.5, ActionLaw::kOrthant);
  EXPECT_TRUE(LinearPopulation::Create(params).ok());
}

TEST(LinearPopulationTest, AClientsMeanOutsideTheRangeIsAnErrorThatNamesIt) {
  LinearPopulation population = Made(Params({RewardKind::kRademacher}, 1.0));
  std::vector<RewardSum> rewards(kPulls.size());
  int refused = 0;
  for (std::uint32_t client = 1; client <= 100; ++client) {
    const absl::Status status = population.Answer(NodeId{client}, 1, kPulls, rewards);
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(InputErrorOf(status)->key, "reward");
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("client " + std::to_string(client)));
  }
  EXPECT_GT(refused, 20);
  EXPECT_LT(refused, 100);
}

TEST(LinearPopulationTest, BadParametersAreRefusedByName) {
  const auto key = [](auto change) {
    LinearPopulation::Params params = Params();
    change(params);
    const auto population = LinearPopulation::Create(params);
    return population.ok() ? "accepted" : InputErrorOf(population.status()).value_or(InputError{}).key;
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-0.1, kNan, kInfinity}) {
    EXPECT_EQ(key([&](auto& params) { params.client_sd = bad; }), "client_sd") << bad;
    EXPECT_EQ(key([&](auto& params) { params.reward.sd = bad; }), "reward_sd") << bad;
  }
  for (const Count bad : {0, -1}) {
    EXPECT_EQ(key([&](auto& params) { params.size = bad; }), "population") << bad;
  }
  EXPECT_EQ(key([](auto&) {}), "accepted");
}

TEST(LinearPopulationDeathTest, ClientsThatDoNotExistEndTheProgram) {
  LinearPopulation population = Made(Params());
  std::vector<RewardSum> rewards(kPulls.size());
  EXPECT_DEATH((void)population.Answer(NodeId{0}, 1, kPulls, rewards), "client.value");
  EXPECT_DEATH((void)population.Answer(NodeId{100'001}, 1, kPulls, rewards), "client.value");
}

}  // namespace
}  // namespace bandana
