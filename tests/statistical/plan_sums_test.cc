#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/privacy/mean_privatizers.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/sim/simulator.h"
#include "tests/support.h"

// The simulator answers a plan with one draw per sum. These tests show that it has the same distribution as
// single pulls, for whole plans and for whole runs. Seeds are fixed. Kolmogorov-Smirnov tests are at 1e-6,
// correlations at five standard deviations, and planted deviations must be seen.
namespace bandana {
namespace {

using Path = LinearPopulation::Path;

std::shared_ptr<const LinearProblem> Problem(ActionLaw law) {
  auto problem = LinearProblem::Draw({.dimension = 3, .actions = 8, .law = law, .theta_norm = 0.6}, 1, 1);
  EXPECT_TRUE(problem.ok());
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

struct Law {
  const char* name;
  RewardModel reward;
  double client_sd;
  ActionLaw actions = ActionLaw::kSphere;
};

const std::vector<Law>& Laws() {
  static const std::vector<Law> laws = {
      {"gaussian", {RewardKind::kGaussian, 0.8}, 0.3},
      {"gaussian, alike", {RewardKind::kGaussian, 0.8}, 0},
      {"rademacher", {RewardKind::kRademacher}, 0.03},
      {"uniform", {RewardKind::kUniform}, 0.03},
      {"bernoulli", {RewardKind::kBernoulli}, 0, ActionLaw::kOrthant},
  };
  return laws;
}

const std::vector<Pull> kPlan = {{0, 1}, {1, 4}, {3, 25}, {6, 60}};
constexpr std::uint32_t kClients = 20'000;

// Returns one sample per coordinate, with one entry per client.
std::vector<std::vector<double>> Answers(const Law& law, Path path, std::uint64_t seed) {
  auto population = LinearPopulation::Create({.problem = Problem(law.actions),
                                              .reward = law.reward,
                                              .client_sd = law.client_sd,
                                              .size = kClients,
                                              .seed = seed,
                                              .path = path});
  EXPECT_TRUE(population.ok()) << population.status();
  std::vector<std::vector<double>> samples(kPlan.size(), std::vector<double>(kClients));
  std::vector<RewardSum> rewards(kPlan.size());
  for (std::uint32_t client = 0; client < kClients; ++client) {
    EXPECT_TRUE(population->Answer(NodeId{client + 1}, 1, kPlan, rewards).ok());
    for (std::size_t i = 0; i < kPlan.size(); ++i) {
      samples[i][client] = std::nearbyint(rewards[i].sum * 0x1p30) * 0x1p-30;
    }
  }
  return samples;
}

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const test::Moments of_a = test::MomentsOf(a), of_b = test::MomentsOf(b);
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += (a[i] - of_a.mean) * (b[i] - of_b.mean);
  return product / static_cast<double>(a.size()) / std::sqrt(of_a.variance * of_b.variance);
}

TEST(PlanSumsTest, WholePlansHaveTheLawOfSinglePulls) {
  std::uint64_t seed = 10;
  for (const Law& law : Laws()) {
    const auto sums = Answers(law, Path::kSums, ++seed);
    const auto pulls = Answers(law, Path::kPulls, ++seed);
    for (std::size_t i = 0; i < kPlan.size(); ++i) {
      EXPECT_TRUE(test::SameLaw(sums[i], pulls[i])) << law.name << " " << i;
      // The client's own parameter correlates its coordinates, equally on both paths.
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_NEAR(Correlation(sums[i], sums[j]), Correlation(pulls[i], pulls[j]),
                    5 * std::sqrt(2. / kClients))
            << law.name << " " << i << " " << j;
      }
    }
  }
}

TEST(PlanSumsTest, AClientsParameterIsSeenInTheCorrelations) {
  const auto spread = Answers(Laws()[0], Path::kSums, 50);
  const auto alike = Answers(Laws()[1], Path::kSums, 51);
  EXPECT_GT(std::abs(Correlation(spread[2], spread[3])), 0.1);
  EXPECT_LT(std::abs(Correlation(alike[2], alike[3])), 5 / std::sqrt(double{kClients}));
}

TEST(PlanSumsTest, OtherLawsAreSeen) {
  const auto base = Answers(Laws()[0], Path::kPulls, 60);
  Law other = Laws()[0];
  other.reward.sd = 1;
  EXPECT_FALSE(test::SameLaw(base[1], Answers(other, Path::kSums, 61)[1]));
  other = Laws()[0];
  other.client_sd = 0.4;
  EXPECT_FALSE(test::SameLaw(base[3], Answers(other, Path::kSums, 62)[3]));
  const auto uniform = Answers(Laws()[3], Path::kPulls, 63);
  EXPECT_FALSE(test::SameLaw(uniform[2], Answers(Laws()[2], Path::kSums, 64)[2]));
}

std::vector<double> Regrets(const Law& law, Path path, std::uint64_t seed, int runs) {
  const auto problem = Problem(law.actions);
  const NoPrivacyMean none(Declassify("test"));
  using Server = EliminationServer<NoPrivacyMean>;
  const DpDpeCase params{
      .horizon = 400,
      .alpha = 0.8,
      .beta = 0.2,
      .population = 1000,
      .clip = {.reward = law.reward, .client_sd = law.client_sd, .fixed_bound = std::nullopt}};
  std::vector<double> regrets;
  for (int run = 0; run < runs; ++run) {
    const auto replicate = static_cast<std::uint32_t>(run);
    auto population = LinearPopulation::Create({.problem = problem,
                                                .reward = law.reward,
                                                .client_sd = law.client_sd,
                                                .size = params.population,
                                                .seed = seed,
                                                .replicate = replicate,
                                                .path = path});
    EXPECT_TRUE(population.ok());
    auto server = Server::Create(DpDpeRules(params, problem->actions()),
                                 std::shared_ptr<const ActionMatrix>(problem, &problem->actions()), none);
    EXPECT_TRUE(server.ok());
    Recorder recorder(*problem, {});
    const sim::SimParams sim{.seed = seed,
                             .replicate = replicate,
                             .topology = Topology::Star(params.population),
                             .budget_per_client = {}};
    const absl::Status status = sim::Simulator<Server, EliminationClient<NoPrivacyMean>>::Run(
        sim, *server, none, *population, recorder);
    EXPECT_TRUE(status.ok()) << status;
    regrets.push_back(recorder.now().regret);
  }
  return regrets;
}

TEST(PlanSumsTest, WholeRunsHaveTheSameLawOfRegret) {
  constexpr int kRuns = 600;
  std::uint64_t seed = 70;
  for (const Law& law : Laws()) {
    const std::vector<double> sums = Regrets(law, Path::kSums, ++seed, kRuns);
    EXPECT_GT(test::MomentsOf(sums).variance, 0) << law.name;
    EXPECT_TRUE(test::SameLaw(sums, Regrets(law, Path::kPulls, ++seed, kRuns))) << law.name;
  }
  Law noisier = Laws()[1];
  noisier.reward.sd = 1.2;
  EXPECT_FALSE(
      test::SameLaw(Regrets(Laws()[1], Path::kSums, 90, kRuns), Regrets(noisier, Path::kPulls, 91, kRuns)));
}

}  // namespace
}  // namespace bandana
