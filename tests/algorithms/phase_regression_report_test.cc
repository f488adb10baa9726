#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "bandana/algorithms/elimination/phase_regression.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/sim/simulator.h"
#include "tests/support.h"

namespace bandana {
namespace {

// A phase whose actions lie in a subspace and whose intervals are all different.
struct Phase {
  Phase(Eigen::Index dimension, Eigen::Index rank, std::uint64_t seed) {
    test::Coins coins(seed);
    const auto normal = [&](Eigen::Index rows, Eigen::Index cols) -> Matrix {
      return Matrix::NullaryExpr(rows, cols, [&] { return StandardNormal(coins.gen); });
    };
    actions = normal(100, rank) * normal(rank, dimension);
    actions.rowwise().normalize();
    std::vector<ArmId> all(100);
    std::iota(all.begin(), all.end(), 0);
    auto made = NearOptimalDesign(actions, all);
    EXPECT_TRUE(made.ok()) << made.status();
    design = *std::move(made);
    Count total = 0;
    for (std::size_t i = 0; i < design.support.size(); ++i) {
      pulls.push_back({design.support[i], static_cast<Count>(std::ceil(300 * design.weights[i]))});
      total += pulls.back().count;
      const double low = StandardNormal(coins.gen);
      bounds.push_back({low, low + 1 + 0.1 * static_cast<double>(i)});
    }
    rounds = static_cast<double>(total);
    gram = Matrix::Zero(dimension, dimension);
    for (const Pull& pull : pulls) {
      const Vector x = actions.row(pull.arm).transpose();
      gram += static_cast<double>(pull.count) * x * x.transpose();
    }
  }

  PhaseRegression Regression() const { return PhaseRegression(actions, design, pulls); }

  Matrix Map() const {
    const std::vector<double> entries = Regression().Report(bounds).entries;
    const auto columns = static_cast<Eigen::Index>(pulls.size());
    return Eigen::Map<const ActionMatrix>(entries.data(), static_cast<Eigen::Index>(entries.size()) / columns,
                                          columns);
  }

  ActionMatrix actions;
  Design design;
  std::vector<Pull> pulls;
  std::vector<Interval> bounds;
  double rounds = 0;
  Matrix gram;
};

TEST(EstimateReportTest, HasAsManyNumbersAsTheRank) {
  EXPECT_EQ(Phase(6, 6, 1).Map().rows(), 6);
  EXPECT_EQ(Phase(6, 3, 1).Map().rows(), 3);
}

// The radius rests on M'M <= diag(shares): no honest report has to be moved into the ball.
TEST(EstimateReportTest, TheRadiusHoldsEveryHonestReport) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Phase phase(6, seed % 2 == 0 ? 6 : 4, seed);
    const Matrix map = phase.Map();
    Matrix gap = -map.transpose() * map;
    double squares = 0;
    for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      const double share = static_cast<double>(phase.pulls[i].count) / phase.rounds;
      gap(at, at) += share;
      squares += share * std::pow(phase.bounds[i].high - phase.bounds[i].low, 2) / 4;
    }
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(gap).eigenvalues().minCoeff(), -1e-12);
    EXPECT_NEAR(phase.Regression().Report(phase.bounds).radius / std::sqrt(squares), 1, 1e-8);
  }
}

TEST(EstimateReportTest, GivesTheEstimateOfTheAverages) {
  for (const Eigen::Index rank : {2, 5}) {
    const Phase phase(5, rank, 7);
    std::vector<double> averages;
    Vector around(static_cast<Eigen::Index>(phase.pulls.size()));
    for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
      averages.push_back(std::sin(static_cast<double>(i)));
      around[static_cast<Eigen::Index>(i)] = averages[i] - (phase.bounds[i].low + phase.bounds[i].high) / 2;
    }
    const Vector sent = phase.Map() * around;
    const Vector estimate =
        phase.Regression().EstimateFrom({sent.data(), static_cast<std::size_t>(sent.size())}, phase.bounds);
    EXPECT_LT((estimate - phase.Regression().Estimate(averages)).norm(), 1e-10);
  }
}

// Rewards have proxy 1, and all numbers that are sent have noise of one scale. In the direction v the square
// of the error's scale is |v|^2 (1 / clients + rounds scale^2), in the norm of V^-1.
TEST(EstimateReportTest, WidthsAreTheOnesOfTheDefinition) {
  constexpr double kLevel = 0.01;
  constexpr double kScale = 0.03;
  const Phase phase(5, 5, 8);
  PhaseErrors errors{.clients = std::vector<Count>(phase.pulls.size(), 50),
                     .privacy = std::vector<NoiseLaw>(5, {.proxy = kScale}),
                     .report = ClientReport::kEstimate};
  errors.rule.reward = {RewardKind::kRademacher, 1};
  const std::vector<ArmId> arms = {3, 40, 77};
  const auto means = phase.Regression().MeanBounds(Vector::Zero(5), arms, errors, kLevel);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Vector v = phase.actions.row(arms[i]).transpose();
    const double squared = v.dot(phase.gram.inverse() * v) * (1. / 50 + phase.rounds * kScale * kScale);
    EXPECT_NEAR(means[i].high / std::sqrt(2 * std::log(1 / kLevel) * squared), 1, 1e-8);
  }
}

constexpr GaussianParams kBudget{{5, 0.1}, Calibration::kTight, Sampler::kFast};

NoPrivacyMean Bare() { return NoPrivacyMean(Declassify("test")); }

std::shared_ptr<const LinearProblem> Problem(std::uint32_t replicate) {
  return std::make_shared<const LinearProblem>(
      *LinearProblem::Draw({.dimension = 3, .actions = 30}, 1, replicate));
}

DpDpeCase Params(ClientReport report) {
  return {.horizon = 100'000,
          .alpha = 0.8,
          .beta = std::nullopt,
          .report = report,
          .population = 100'000,
          .clip = {.reward = {RewardKind::kGaussian, 0.5}, .client_sd = 0.05, .fixed_bound = std::nullopt}};
}

struct Outcome {
  absl::Status status;
  Checkpoint end;
  std::vector<PhaseRecord> history;
  std::vector<ArmId> active;
};

template <Privatizer P>
Outcome Simulate(const std::shared_ptr<const LinearProblem>& problem, const DpDpeCase& params,
                 const P& privatizer) {
  const std::shared_ptr<const ActionMatrix> actions(problem, &problem->actions());
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = params.clip.reward,
                                              .client_sd = params.clip.client_sd,
                                              .size = params.population,
                                              .seed = 1});
  auto server = EliminationServer<P>::Create(DpDpeRules(params, *actions), actions, privatizer);
  if (!server.ok()) return {.status = server.status()};
  Recorder recorder(*problem, {});
  const sim::SimParams sim{
      .seed = 1, .topology = Topology::Star(params.population), .budget_per_client = {1e30, 1}};
  using Simulator = sim::Simulator<EliminationServer<P>, EliminationClient<P>>;
  const absl::Status status = Simulator::Run(sim, *server, privatizer, *population, recorder);
  return {status, recorder.now(), server->policy().history(), server->policy().active()};
}

TEST(EstimateRunTest, WithoutNoiseItIsTheRunOfTheAveragesWithFewerNumbers) {
  for (std::uint32_t replicate = 0; replicate < 3; ++replicate) {
    const Outcome averages = Simulate(Problem(replicate), Params(ClientReport::kAverages), Bare());
    const Outcome estimate = Simulate(Problem(replicate), Params(ClientReport::kEstimate), Bare());
    ASSERT_TRUE(averages.status.ok() && estimate.status.ok()) << estimate.status;
    EXPECT_EQ(averages.end.regret, estimate.end.regret);
    EXPECT_LT(estimate.end.reals, averages.end.reals);
    ASSERT_EQ(averages.history.size(), estimate.history.size());
    for (std::size_t i = 0; i < averages.history.size(); ++i) {
      EXPECT_LT((averages.history[i].estimate - estimate.history[i].estimate).norm(), 1e-6);
      EXPECT_NEAR(averages.history[i].width, estimate.history[i].width, 1e-9);
      EXPECT_EQ(averages.history[i].active, estimate.history[i].active);
    }
  }
}

template <class P>
void KeepsTheBest() {
  const auto problem = Problem(0);
  const Outcome run = Simulate(problem, Params(ClientReport::kEstimate), *P::Create(kBudget));
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_TRUE(std::binary_search(run.active.begin(), run.active.end(), problem->best()));
  for (const PhaseRecord& phase : run.history) {
    EXPECT_LE(phase.averages.size(), 3u);
    EXPECT_GT(phase.privacy_stddev, 0);
  }
  EXPECT_EQ(run.end.reals, std::accumulate(run.history.begin(), run.history.end(), Count{0},
                                           [](Count sum, const PhaseRecord& phase) {
                                             return sum +
                                                    phase.clients * static_cast<Count>(phase.averages.size());
                                           }));
}

TEST(EstimateRunTest, CentralNoiseKeepsTheBestAction) { KeepsTheBest<CentralGaussianMean>(); }
TEST(EstimateRunTest, LocalNoiseKeepsTheBestAction) { KeepsTheBest<LocalGaussianMean>(); }

// The mean square of an estimate's error must equal the variance that the widths assume.
TEST(EstimateRunTest, TheNoiseOfTheEstimateIsTheOneThatWidthsAreMadeFor) {
  const Phase phase(5, 5, 9);
  MeanQuery query{.bounds = phase.bounds, .clients = 3, .map = phase.Regression().Report(phase.bounds)};
  const auto mean = *CentralGaussianMean::Create(kBudget);
  std::vector<RewardSum> rewards;
  std::vector<double> averages;
  for (const Interval& bound : query.bounds) {
    averages.push_back(bound.low + 0.3 * (bound.high - bound.low));
    rewards.push_back({1, averages.back()});
  }
  const Vector truth = phase.Regression().Estimate(averages);
  const Vector v = phase.actions.row(5).transpose();
  test::Noise noise(4);
  double squares = 0;
  double expected = 0;
  constexpr int kRuns = 3000;
  for (int run = 0; run < kRuns; ++run) {
    ReportSum sum;
    for (std::uint32_t client = 1; client <= 3; ++client) {
      const auto report = mean.Randomize(query, Raw<RewardSums>(rewards), noise.gen);
      const Report sent = Wire::FromUnits(NodeId{client}, Wire::Units(*report), report->bits(), 3);
      ASSERT_TRUE(mean.Add(query, sent, sum).ok());
    }
    const auto released = mean.Open(query, *mean.Seal(sum, noise.gen));
    ASSERT_TRUE(released.ok()) << released.status();
    const Vector estimate = phase.Regression().EstimateFrom(released->value().entries, query.bounds);
    squares += std::pow(v.dot(estimate - truth), 2);
    expected = phase.rounds * v.dot(phase.gram.inverse() * v) * std::pow(released->noise_stddev(), 2);
  }
  EXPECT_NEAR(squares / kRuns / expected, 1, 5 * std::sqrt(2. / kRuns));
  const double sensitivity = 2 * query.map.radius;
  EXPECT_NEAR(std::sqrt(expected) / (*TightGaussianMultiplier(kBudget.nominal) * sensitivity / 3 *
                                     std::sqrt(phase.rounds * v.dot(phase.gram.inverse() * v))),
              1, 1e-6);
}

TEST(EstimateRunTest, WhatHasNoProofIsRefusedByName) {
  DpDpeCase params = Params(ClientReport::kEstimate);
  params.width = Width::kPaper;
  const Outcome paper = Simulate(Problem(0), params, Bare());
  EXPECT_EQ(InputErrorOf(paper.status).value_or(InputError{}).key, "report") << paper.status;
}

}  // namespace
}  // namespace bandana
