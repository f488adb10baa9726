#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "tests/algorithms/elimination_cases.h"
#include "tests/algorithms/elimination_support.h"
#include "tests/support.h"

// Rounds that are dealt client by client and groups that are drawn at once must have the same law. Seeds are
// fixed; each Kolmogorov-Smirnov test has a false-alarm rate of 1e-6.
namespace bandana {
namespace {

using test::Outcome;
using test::ProblemPtr;

constexpr Count kHorizon = 150;
constexpr std::uint32_t kSeeds = 250;

absl::StatusOr<EliminationRules> Rules(const ProblemPtr& problem, RewardKind kind) {
  return PrivateEliminationRules({.horizon = kHorizon,
                                  .beta = 0.1,
                                  .population = kHorizon,
                                  .clip = {.reward = {kind}, .client_sd = 0, .fixed_bound = std::nullopt}},
                                 problem->actions());
}

ProblemPtr Problem() {
  ActionMatrix actions(3, 2);
  actions << 0.9, 0, 0.5, 0.7, -0.6, 0.3;
  return test::Shared(LinearProblem::Create(actions, (Vector(2) << 0.7, 0.3).finished()));
}

struct Samples {
  std::vector<double> first_average;  // in the first batch
  std::vector<double> last_average;
  std::vector<double> regret;
};

template <class P>
Samples Sampled(const ProblemPtr& problem, RewardKind kind, const P& privatizer, bool groups,
                std::uint64_t seed) {
  Samples samples;
  const auto rules = Rules(problem, kind);
  for (std::uint32_t replicate = 0; replicate < kSeeds; ++replicate) {
    const Outcome run =
        test::Simulate(problem, rules, privatizer, {.seed = seed, .replicate = replicate, .groups = groups});
    EXPECT_TRUE(run.status.ok()) << run.status;
    if (!run.status.ok()) break;
    EXPECT_EQ(run.end.t, kHorizon);
    EXPECT_EQ(run.end.clients, run.end.reals);
    samples.first_average.push_back(run.history.front().averages.front());
    samples.last_average.push_back(run.history.back().averages.back());
    samples.regret.push_back(run.end.regret);
  }
  return samples;
}

template <class P>
class DealtRoundsTest : public ::testing::Test {};
using Privatizers = ::testing::Types<NoPrivacyMean, CentralLaplaceMean, LocalLaplaceMean, LocalGaussianMean,
                                     ShuffleSumMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(DealtRoundsTest, Privatizers);

TYPED_TEST(DealtRoundsTest, GroupsHaveTheLawOfTheirClients) {
  const ProblemPtr problem = Problem();
  const auto privatizer = test::MadePrivate<TypeParam>({2, 1e-4});
  const Samples clients = Sampled(problem, RewardKind::kRademacher, privatizer, false, 1);
  const Samples groups = Sampled(problem, RewardKind::kRademacher, privatizer, true, 2);
  EXPECT_TRUE(test::SameLaw(clients.first_average, groups.first_average));
  EXPECT_TRUE(test::SameLaw(clients.last_average, groups.last_average));
  EXPECT_TRUE(test::SameLaw(clients.regret, groups.regret));
  // Means are compared at five standard errors, and variances too, for tails no heavier than Laplace's. The
  // tails of regret are heavier.
  const auto mean_differs = [](const test::Moments& one, const test::Moments& other) {
    return std::abs(one.mean - other.mean) > 5 * std::sqrt((one.variance + other.variance) / kSeeds);
  };
  const test::Moments one = test::MomentsOf(clients.first_average);
  const test::Moments other = test::MomentsOf(groups.first_average);
  EXPECT_FALSE(mean_differs(one, other));
  EXPECT_NEAR(one.variance / other.variance, 1, 5 * std::sqrt(2 * 5.0 / kSeeds));
  EXPECT_FALSE(mean_differs(test::MomentsOf(clients.regret), test::MomentsOf(groups.regret)));
  EXPECT_NE(clients.first_average, groups.first_average);
}

// The tests must see a change of a tenth in every average.
TYPED_TEST(DealtRoundsTest, AnotherLawIsSeen) {
  const ProblemPtr problem = Problem();
  ActionMatrix actions = problem->actions();
  const ProblemPtr other = test::Shared(LinearProblem::Create(actions, (Vector(2) << 0.1, 0.3).finished()));
  const auto privatizer = test::MadePrivate<TypeParam>({8, 1e-4});
  const Samples a = Sampled(problem, RewardKind::kRademacher, privatizer, true, 3);
  const Samples b = Sampled(other, RewardKind::kRademacher, privatizer, true, 4);
  EXPECT_FALSE(test::SameLaw(a.regret, b.regret) && test::SameLaw(a.last_average, b.last_average) &&
               test::SameLaw(a.first_average, b.first_average));
}

// Uniform rewards are rounded one by one in a shuffle sum. The group is then asked client by client, with the
// same law.
TEST(DealtRoundsFallbackTest, AGroupThatCannotBeAddedUpIsAskedOneByOne) {
  const ProblemPtr problem = Problem();
  const auto sum = test::MadePrivate<ShuffleSumMean>({2, 1e-4});
  const Samples clients = Sampled(problem, RewardKind::kUniform, sum, false, 5);
  const Samples groups = Sampled(problem, RewardKind::kUniform, sum, true, 6);
  EXPECT_TRUE(test::SameLaw(clients.first_average, groups.first_average));
  EXPECT_TRUE(test::SameLaw(clients.regret, groups.regret));
}

TYPED_TEST(DealtRoundsTest, IsAFunctionOfSeedAndReplicateAndPaysNoMoreThanItsClaim) {
  const ProblemPtr problem = Problem();
  const auto rules = Rules(problem, RewardKind::kRademacher);
  const auto privatizer = test::MadePrivate<TypeParam>({2, 1e-4});
  for (const bool groups : {true, false}) {
    const test::RunOptions options{
        .seed = 7, .replicate = 3, .groups = groups, .budget = privatizer.guarantee()};
    const Outcome first = test::Simulate(problem, rules, privatizer, options);
    const Outcome again = test::Simulate(problem, rules, privatizer, options);
    ASSERT_TRUE(first.status.ok()) << first.status;
    EXPECT_EQ(first.end.regret, again.end.regret);
    EXPECT_EQ(first.history.back().averages, again.history.back().averages);
    if (privatizer.claims().empty()) continue;
    test::RunOptions poor = options;
    poor.budget.epsilon *= 0.999;
    EXPECT_EQ(test::Simulate(problem, rules, privatizer, poor).status.code(),
              absl::StatusCode::kResourceExhausted);
  }
}

// Counts messages: without groups every round is a message to a client of its own.
class CountingPopulation final : public SlotWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  explicit CountingPopulation(LinearPopulation population) : population_(std::move(population)) {}
  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    EXPECT_EQ(pulls.size(), 1u);
    EXPECT_EQ(pulls[0].count, 1);
    EXPECT_TRUE(clients.insert(client).second) << "asked twice";
    return population_.Answer(client, epoch, pulls, rewards);
  }
  std::set<NodeId> clients;

 private:
  LinearPopulation population_;
};

TYPED_TEST(DealtRoundsTest, AsksEveryRoundsClientOnceAndForOnePull) {
  const ProblemPtr problem = Problem();
  const auto rules = Rules(problem, RewardKind::kRademacher);
  const auto privatizer = test::MadePrivate<TypeParam>({2, 1e-4});
  CountingPopulation population(*LinearPopulation::Create(
      {.problem = problem, .reward = rules->clip.reward, .client_sd = 0, .size = kHorizon, .seed = 1}));
  auto server = *EliminationServer<TypeParam>::Create(rules, test::ActionsOf(problem), privatizer);
  Recorder recorder(*problem, {});
  const sim::SimParams params{
      .seed = 1, .topology = TopologyFor<TypeParam>(kHorizon), .budget_per_client = {1e30, 1}};
  using Simulator = sim::Simulator<EliminationServer<TypeParam>, EliminationClient<TypeParam>>;
  ASSERT_TRUE(Simulator::Run(params, server, privatizer, population, recorder).ok());
  EXPECT_EQ(static_cast<Count>(population.clients.size()), recorder.now().clients);
  EXPECT_EQ(population.clients.begin()->value, 1u);
  EXPECT_EQ(population.clients.rbegin()->value, population.clients.size()) << "in order, none left out";
}

}  // namespace
}  // namespace bandana
