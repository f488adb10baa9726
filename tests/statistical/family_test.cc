#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "bandana/audit/clopper_pearson.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/judge/statistics.h"
#include "bandana/lab/spec.h"
#include "fmt/format.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/algorithms/elimination_support.h"

// Tests of the whole elimination family: what trust is worth under each algorithm, whether the best action
// survives as often as promised, and how regret grows. Seeds are fixed and nothing is retried.
namespace bandana::lab {
namespace {

using Keys = std::vector<std::string>;

Sample Regrets(const std::string& text, const Keys& set, std::uint32_t replicates) {
  const absl::StatusOr<Spec> spec = ParseSpec(text, "x.toml", set);
  EXPECT_TRUE(spec.ok()) << spec.status();
  const std::atomic<bool> stop = false;
  Sample regrets;
  for (std::uint32_t replicate = 0; spec.ok() && replicate < replicates; ++replicate) {
    const absl::StatusOr<Outcome> outcome = RunReplicate(spec->points[0].settings, replicate, stop);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    regrets.push_back(outcome.ok() ? outcome->checkpoints.back().regret : 0);
  }
  return regrets;
}

// --- what trust is worth, on paired instances: differences of kClear standard errors

TEST(FamilyOrderTest, DpDpe) {
  constexpr char kSpec[] = R"(horizon = 30_000
seed = 8
environment = { dimension = 3, actions = 30, client_sd = 0.1, population = 50_000 }
algorithm.name = "dp-dpe"
privacy = { model = "central", epsilon = 1.0, delta = 1e-3 }
)";
  constexpr std::uint32_t kReplicates = 16;
  const Sample none = Regrets(kSpec, {"privacy.model=none"}, kReplicates);
  const Sample central = Regrets(kSpec, {}, kReplicates);
  const Sample local = Regrets(kSpec, {"privacy.model=local"}, kReplicates);
  const Sample shuffle = Regrets(kSpec, {"privacy.model=shuffle", "privacy.loss=0.01"}, kReplicates);
  EXPECT_EQ(Compare(none, central), Order::kBelow) << Figure(MeanOf(none)) << " " << Figure(MeanOf(central));
  EXPECT_EQ(Compare(central, local), Order::kBelow)
      << Figure(MeanOf(central)) << " " << Figure(MeanOf(local));
  const Estimate ratio = PairedRatio(shuffle, central);
  // The ratio is 1.12 +- 0.02 over 80 replicates at this small setting; p1-fig2a allows 10 % at P1's own
  // setting.
  EXPECT_NEAR(ratio.value, 1, 0.2) << Figure(ratio);
}

TEST(FamilyOrderTest, PrivateElimination) {
  constexpr char kSpec[] = R"(horizon = 1_000_000
seed = 8
environment = { dimension = 3, actions = 20, reward = "rademacher", client_sd = 0.0 }
algorithm.name = "private-elimination"
privacy = { model = "central", epsilon = 0.2, delta = 1e-6, noise = "laplace" }
)";
  constexpr std::uint32_t kReplicates = 20;
  const Sample none = Regrets(kSpec, {"privacy.model=none"}, kReplicates);
  const Sample central = Regrets(kSpec, {}, kReplicates);
  const Sample sum = Regrets(kSpec, {"privacy.model=shuffle", "privacy.shuffle=sum"}, kReplicates);
  const Sample local = Regrets(kSpec, {"privacy.model=local"}, kReplicates);
  EXPECT_NE(Compare(none, central), Order::kAbove) << Figure(MeanOf(none)) << " " << Figure(MeanOf(central));
  EXPECT_LT(MeanOf(none).value, MeanOf(central).value);
  EXPECT_NE(Compare(central, sum), Order::kAbove) << Figure(MeanOf(central)) << " " << Figure(MeanOf(sum));
  EXPECT_LT(MeanOf(central).value, MeanOf(sum).value);
  EXPECT_EQ(Compare(sum, local), Order::kBelow) << Figure(MeanOf(sum)) << " " << Figure(MeanOf(local));
  EXPECT_EQ(Compare(central, local), Order::kBelow);
}

// --- the best action survives

// Three actions of which the first is best by almost nothing, which makes it the hardest to keep.
test::ProblemPtr NearTie() {
  ActionMatrix actions(3, 2);
  actions << 1.0, 0.0, 0.6, 0.8, 0.6, -0.8;
  return test::Shared(LinearProblem::Create(actions, (Vector(2) << 1e-9, 0).finished()));
}

constexpr double kBeta = 0.03;
constexpr std::uint32_t kRuns = 500;

struct Losses {
  std::int64_t lost = 0;
  double phases = 0;  // the largest number of phases of a run
};

template <class P>
Losses CountLosses(const absl::StatusOr<EliminationRules>& rules, const P& privatizer) {
  const test::ProblemPtr problem = NearTie();
  Losses losses;
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    const test::Outcome outcome = test::Simulate(problem, rules, privatizer, {.seed = 21, .replicate = run});
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    losses.lost += !std::binary_search(outcome.active.begin(), outcome.active.end(), problem->best());
    losses.phases = std::max(losses.phases, static_cast<double>(outcome.history.size()));
  }
  return losses;
}

// Returns a lower confidence limit, at level 1e-6, for the probability that a run loses the best action. The
// promise is at most beta k L, for k actions and L phases.
double LeastLossRate(const Losses& losses) { return audit::LowerLimit(losses.lost, kRuns, 1e-6); }

class SurvivalTest : public ::testing::Test {
 protected:
  static constexpr Count kHorizon = 400;
  const ClipRule clip_{.reward = {RewardKind::kRademacher}, .client_sd = 0, .fixed_bound = std::nullopt};

  absl::StatusOr<EliminationRules> Pe(double beta) const {
    return PeRules({.horizon = kHorizon, .beta = beta, .population = kHorizon, .clip = clip_},
                   NearTie()->actions());
  }
  absl::StatusOr<EliminationRules> PrivateElimination(double beta, bool core_set = true) const {
    return PrivateEliminationRules(
        {.horizon = kHorizon, .beta = beta, .core_set = core_set, .population = kHorizon, .clip = clip_},
        NearTie()->actions());
  }

  template <class P>
  void ExpectSurvives(const absl::StatusOr<EliminationRules>& rules, const P& privatizer,
                      const std::string& name) {
    const Losses losses = CountLosses(rules, privatizer);
    EXPECT_LE(LeastLossRate(losses), kBeta * 3 * losses.phases)
        << name << ": lost " << losses.lost << " of " << kRuns;
    RecordProperty(name, fmt::format("{} of {}", losses.lost, kRuns));
  }
};

TEST_F(SurvivalTest, OfTheBestActionIsAsPromised) {
  const auto central = test::MadePrivate<CentralLaplaceMean>({0.5, 0});
  const auto local = test::MadePrivate<LocalLaplaceMean>({0.5, 0});
  const auto sum = test::MadePrivate<ShuffleSumMean>({0.5, 1e-4});
  ExpectSurvives(PrivateElimination(kBeta), test::Bare(), "private-elimination");
  ExpectSurvives(PrivateElimination(kBeta), central, "private-elimination, central");
  ExpectSurvives(PrivateElimination(kBeta), sum, "private-elimination, shuffle sum");
  ExpectSurvives(PrivateElimination(kBeta, false), test::Bare(), "no core set");
  ExpectSurvives(PrivateElimination(kBeta, false), central, "no core set, central");
  ExpectSurvives(Pe(kBeta), test::Bare(), "pe");
  ExpectSurvives(Pe(kBeta), central, "pe, central");
  ExpectSurvives(Pe(kBeta), local, "pe, local");
}

// Confidence bounds at beta = 0.9 lose the best action more often than promised for kBeta, and the test must
// see it.
TEST_F(SurvivalTest, BoundsThatDoNotHoldAreSeen) {
  const Losses batched = CountLosses(PrivateElimination(0.9), test::Bare());
  EXPECT_GT(LeastLossRate(batched), kBeta * 3 * batched.phases);
  const Losses doubling = CountLosses(Pe(0.9), test::Bare());
  EXPECT_GT(LeastLossRate(doubling), kBeta * 3 * doubling.phases);
}

// --- how regret grows

// P1, Table I: regret grows as T^(1 - alpha/2) up to logarithms, without privacy and, with a term of lower
// order, in the central model. This is an upper bound, so the slope may be smaller. The test allows three
// standard errors by the jackknife, and what a logarithm of T adds over these horizons: d ln ln T / d ln T is
// 1/ln T, below 0.09 from 1e5 on.
TEST(SlowFamilyTest, RegretGrowsNoFasterThanTableOne) {
  constexpr char kSpec[] = R"(horizon = 10_000
seed = 8
environment = { dimension = 4, actions = 50, client_sd = 0.1, population = 200_000 }
algorithm = { name = "dp-dpe", alpha = 0.8 }
privacy = { model = "none", epsilon = 1.0, delta = 0.1 }
)";
  constexpr std::uint32_t kReplicates = 10;
  for (const char* model : {"none", "central"}) {
    Line line;
    for (const double horizon : {1e4, 1e5, 1e6}) {
      line.x.push_back(horizon);
      line.y.push_back(
          Regrets(kSpec, {fmt::format("privacy.model={}", model), fmt::format("horizon={:.0f}", horizon)},
                  kReplicates));
    }
    const Estimate slope = LogLogSlope(line);
    RecordProperty(model, Figure(slope));
    EXPECT_LE(slope.value, 0.6 + 3 * slope.se + 0.09) << model << " " << Figure(slope);
    EXPECT_LT(slope.value + 3 * slope.se, 1) << model << ": linear regret would do";
  }
}

}  // namespace
}  // namespace bandana::lab
