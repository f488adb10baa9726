#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bandana/algorithms/elimination/phase_regression.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/sim/simulator.h"
#include "tests/support.h"

// Every elimination promises that one phase loses the best of k actions with probability at most (k - 1)
// level. Whole phases are run, with population and mechanism, at a level so large that a width that is too
// narrow would show. Seeds are fixed; a rate is compared at five standard deviations, a false-alarm rate of
// 3e-7 each. Widths that understate one part of the error by a factor of three must be caught.
namespace bandana {
namespace {

constexpr double kLevel = 0.1;
constexpr int kRuns = 2500;

// Three actions of which the first is best by almost nothing, which makes it the hardest to keep.
std::shared_ptr<const LinearProblem> NearTie() {
  ActionMatrix actions(3, 2);
  actions << 1.0, 0.0, 0.6, 0.8, 0.6, -0.8;
  auto problem = LinearProblem::Create(actions, (Vector(2) << 1e-9, 0).finished());
  EXPECT_TRUE(problem.ok());
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

struct Case {
  const char* name;
  ClipRule truth;           // the rule by which clients really behave
  ClipRule believed;        // the rule from which the width is computed
  double noise_factor = 1;  // stated privacy noise divided by the noise that was used
  double epsilon = 1e6;
  Count clients = 8;
};

template <class P>
double LossRate(const Case& setting, std::uint64_t seed, const P& mean) {
  const auto problem = NearTie();
  std::vector<ArmId> active(3);
  std::iota(active.begin(), active.end(), 0);
  const auto design = NearOptimalDesign(problem->actions(), active);
  EXPECT_TRUE(design.ok());
  std::vector<Pull> pulls;
  MeanQuery query{{}, setting.clients};
  for (std::size_t i = 0; i < design->support.size(); ++i) {
    pulls.push_back({design->support[i], static_cast<Count>(std::ceil(8 * design->weights[i]))});
    query.bounds.push_back(setting.truth.BoundsFor(pulls.back().count));
  }
  const PhaseRegression regression(problem->actions(), *design, pulls);
  test::Noise noise(seed);
  std::vector<RewardSum> rewards(pulls.size());
  int lost = 0;
  for (int run = 0; run < kRuns; ++run) {
    auto population = LinearPopulation::Create({.problem = problem,
                                                .reward = setting.truth.reward,
                                                .client_sd = setting.truth.client_sd,
                                                .size = setting.clients,
                                                .seed = seed,
                                                .replicate = static_cast<std::uint32_t>(run)});
    EXPECT_TRUE(population.ok());
    ReportSum sum;
    for (std::uint32_t client = 1; client <= setting.clients; ++client) {
      EXPECT_TRUE(population->Answer(NodeId{client}, 1, pulls, rewards).ok());
      const auto report = mean.Randomize(query, Raw<RewardSums>(rewards), noise.gen);
      EXPECT_TRUE(mean.Add(query, Wire::FromUnits(NodeId{client}, Wire::Units(*report)), sum).ok());
    }
    const auto averages = mean.Open(query, *mean.Seal(sum, noise.gen));
    EXPECT_TRUE(averages.ok());
    PhaseErrors errors{.clients = std::vector<Count>(pulls.size(), setting.clients),
                       .privacy = averages->noise(),
                       .rule = setting.believed};
    for (NoiseLaw& law : errors.privacy) {
      law.proxy *= setting.noise_factor;
      law.laplace_scale *= setting.noise_factor;
    }
    const auto survivors =
        regression.EliminateExactly(regression.Estimate(averages->value().entries), active, errors, kLevel);
    lost += std::find(survivors.active.begin(), survivors.active.end(), problem->best()) ==
            survivors.active.end();
  }
  return static_cast<double>(lost) / kRuns;
}

double LossRate(const Case& setting, std::uint64_t seed) {
  return LossRate(
      setting, seed,
      *CentralGaussianMean::Create({{setting.epsilon, 0.1}, Calibration::kTight, Sampler::kFast}));
}

ClipRule Gaussian(double reward_sd, double client_sd, std::optional<double> bound = std::nullopt) {
  return {.reward = {RewardKind::kGaussian, reward_sd}, .client_sd = client_sd, .fixed_bound = bound};
}

ClipRule Bounded(RewardKind kind, double client_sd) {
  return {.reward = {kind}, .client_sd = client_sd, .fixed_bound = std::nullopt};
}

constexpr double kMost = 2 * kLevel;  // the union bound over two rivals

TEST(EliminationTest, TheBestActionIsLostNoMoreOftenThanPromised) {
  const std::vector<Case> cases = {
      {"rewards", Gaussian(0.5, 0), Gaussian(0.5, 0)},
      {"clients", Gaussian(0, 0.3), Gaussian(0, 0.3)},
      {"both", Gaussian(0.5, 0.3), Gaussian(0.5, 0.3)},
      {"one client", Gaussian(0.5, 0.3), Gaussian(0.5, 0.3), 1, 1e6, 1},
      {"privacy", Gaussian(0.05, 0), Gaussian(0.05, 0), 1, 1},
      {"all three", Gaussian(0.5, 0.3), Gaussian(0.5, 0.3), 1, 5},
      {"clipped at one", Gaussian(1.5, 0.3, 1.0), Gaussian(1.5, 0.3, 1.0)},
      {"rademacher", Bounded(RewardKind::kRademacher, 0), Bounded(RewardKind::kRademacher, 0)},
      {"rademacher, private", Bounded(RewardKind::kRademacher, 0.05), Bounded(RewardKind::kRademacher, 0.05),
       1, 3},
      {"uniform", Bounded(RewardKind::kUniform, 0), Bounded(RewardKind::kUniform, 0)},
  };
  std::uint64_t seed = 1;
  for (const Case& setting : cases) {
    const double rate = LossRate(setting, ++seed);
    EXPECT_LE(rate, kMost + 5 * std::sqrt(kMost * (1 - kMost) / kRuns)) << setting.name;
    // The width covers the worst that clipping at 1 can do, which does not happen here, so nothing is lost.
    if (!setting.truth.fixed_bound) {
      EXPECT_GT(rate, 0) << setting.name << ": nothing is ever lost, the test sees nothing";
    }
  }
}

// Laplace noise has widths by Chernoff's bound, which is not sharp: the best action is lost less often than
// promised, but not never.
TEST(EliminationTest, LaplaceNoiseLosesNoMoreEither) {
  constexpr LaplaceParams kPrivate{0.5, Calibration::kTight, Sampler::kFast};
  const auto central = *CentralLaplaceMean::Create(kPrivate);
  const auto local = *LocalLaplaceMean::Create(kPrivate);
  const Case honest{"privacy", Gaussian(0.05, 0), Gaussian(0.05, 0)};
  const Case mixed{"all three", Gaussian(0.5, 0.3), Gaussian(0.5, 0.3)};
  const Case understated{"understated", Gaussian(0.05, 0), Gaussian(0.05, 0), 0.25};
  const double most = kMost + 5 * std::sqrt(kMost * (1 - kMost) / kRuns);
  for (const Case& setting : {honest, mixed}) {
    EXPECT_LE(LossRate(setting, 60, central), most) << setting.name;
    EXPECT_LE(LossRate(setting, 61, local), most) << setting.name;
    EXPECT_GT(LossRate(setting, 62, central), 0) << setting.name;
  }
  EXPECT_GT(LossRate(understated, 63, central), most);
  EXPECT_GT(LossRate(understated, 64, local), most);
}

TEST(EliminationTest, WidthsThatUnderstateAPartAreCaught) {
  const std::vector<Case> cases = {
      {"rewards", Gaussian(0.9, 0), Gaussian(0.3, 0)},
      {"clients", Gaussian(0, 0.9), Gaussian(0, 0.3)},
      {"privacy", Gaussian(0.05, 0), Gaussian(0.05, 0), 1. / 3, 1},
      // The reward is Rademacher, the width uses the proxy of a Bernoulli one, and the privacy noise is
      // understated too.
      {"rademacher", Bounded(RewardKind::kRademacher, 0), Bounded(RewardKind::kBernoulli, 0), 1. / 3, 3},
  };
  std::uint64_t seed = 100;
  for (const Case& setting : cases) {
    EXPECT_GT(LossRate(setting, ++seed), kMost + 5 * std::sqrt(kMost * (1 - kMost) / kRuns)) << setting.name;
  }
}

// --- whole runs: privacy costs regret, and the less trust, the more regret

template <Privatizer P>
double Regret(const P& privatizer, std::uint32_t replicate) {
  auto drawn = LinearProblem::Draw({.dimension = 4, .actions = 50}, 11, replicate);
  EXPECT_TRUE(drawn.ok());
  const auto problem = std::make_shared<const LinearProblem>(*std::move(drawn));
  const DpDpeCase params{.horizon = 200'000,
                         .alpha = 0.8,
                         .beta = std::nullopt,
                         .population = 100'000,
                         .clip = Gaussian(1, 0.1)};
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = params.clip.reward,
                                              .client_sd = params.clip.client_sd,
                                              .size = params.population,
                                              .seed = 11,
                                              .replicate = replicate});
  EXPECT_TRUE(population.ok());
  auto server = EliminationServer<P>::Create(
      DpDpeRules(params, *std::shared_ptr<const ActionMatrix>(problem, &problem->actions())),
      std::shared_ptr<const ActionMatrix>(problem, &problem->actions()), privatizer);
  EXPECT_TRUE(server.ok());
  Recorder recorder(*problem, {});
  const sim::SimParams sim{.seed = 11,
                           .replicate = replicate,
                           .topology = Topology::Star(params.population),
                           .budget_per_client = {10, 0.1}};
  const absl::Status status = sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      sim, *server, privatizer, *population, recorder);
  EXPECT_TRUE(status.ok()) << status;
  return recorder.now().regret;
}

TEST(PriceOfPrivacyTest, NoneCentralLocalInThisOrder) {
  constexpr int kReplicates = 5;
  const GaussianParams budget{{1, 0.1}, Calibration::kTight, Sampler::kFast};
  double none = 0, central = 0, local = 0;
  for (std::uint32_t replicate = 0; replicate < kReplicates; ++replicate) {
    none += Regret(NoPrivacyMean(Declassify("test")), replicate) / kReplicates;
    central += Regret(*CentralGaussianMean::Create(budget), replicate) / kReplicates;
    local += Regret(*LocalGaussianMean::Create(budget), replicate) / kReplicates;
  }
  EXPECT_GT(none, 0);
  EXPECT_LT(none, central);
  EXPECT_LT(central, local);
  EXPECT_LT(local, 200'000 * 0.5) << "nothing was learned";
  RecordProperty("none", std::to_string(none));
  RecordProperty("central", std::to_string(central));
  RecordProperty("local", std::to_string(local));
}

}  // namespace
}  // namespace bandana
