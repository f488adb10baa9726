#include "bandana/algorithms/elimination/phase_regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/algorithms/phase_support.h"

namespace bandana {
namespace {
TEST(PhaseRegressionTest, RecoversThetaFromAveragesWithoutNoise) {
  for (const Eigen::Index d : {1, 2, 5, 12}) {
    const Phase phase = SomePhase(30, d, d, 64, static_cast<std::uint64_t>(d));
    const Vector theta = SomeTheta(d, 1);
    EXPECT_LT((phase.Regression().Estimate(phase.AveragesOf(theta)) - theta).norm(), 1e-9) << d;
  }
}

TEST(PhaseRegressionTest, InASubspaceAllMeansAreRecovered) {
  for (const Eigen::Index rank : {1, 2, 4}) {
    const Phase phase = SomePhase(30, 6, rank, 64, static_cast<std::uint64_t>(rank) + 10);
    ASSERT_EQ(phase.design.rank(), rank);
    const Vector theta = SomeTheta(6, 2);
    const Vector estimate = phase.Regression().Estimate(phase.AveragesOf(theta));
    const Vector difference = phase.actions * (estimate - theta);
    EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-9) << rank;
    EXPECT_GT((estimate - theta).norm(), 0.01) << "theta has a part that no action shows";
  }
}

// The actions are far from the origin and close to each other, so that only their differences are small.
TEST(PhaseRegressionTest, NearbyActionsAreToldApart) {
  test::Coins coins(20);
  ActionMatrix actions = Normal(12, 3, coins.gen) * 1e-3;
  actions.rowwise() += Eigen::RowVector3d(0.5, -0.5, 0.5);
  const Phase phase(actions, All(12), 1000);
  const Vector theta = SomeTheta(3, 3);
  const Vector estimate = phase.Regression().Estimate(phase.AveragesOf(theta));
  EXPECT_LT((phase.actions * (estimate - theta)).cwiseAbs().maxCoeff(), 1e-9);
}

// Computes widths from their definitions, with dense matrices in all d dimensions and a pseudo-inverse. A
// width is Chernoff's bound for the sub-Gaussian error, plus the bias that clipping may cause, plus the worst
// misspecification.
class DenseWidths {
 public:
  DenseWidths(const Phase& phase, const PhaseErrors& errors, double level)
      : phase_(phase), errors_(errors), level_(level) {
    Matrix gram = Matrix::Zero(phase.actions.cols(), phase.actions.cols());
    for (const Pull& pull : phase.pulls) {
      const Vector x = phase.actions.row(pull.arm).transpose();
      gram += static_cast<double>(pull.count) * x * x.transpose();
    }
    solver_.setThreshold(1e-9);
    solver_.compute(gram);
  }

  double Of(ArmId first, ArmId second) const {
    const Vector v = (phase_.actions.row(first) - phase_.actions.row(second)).transpose();
    const std::vector<double> weights = WeightsOf(v);
    const double proxy = errors_.rule.reward.proxy();
    const double client_sd = errors_.rule.client_sd;
    const bool dealt = errors_.sampling == Sampling::kDeal;
    double squared =
        dealt ? 0 : client_sd * client_sd * v.squaredNorm() / static_cast<double>(errors_.clients[0]);
    double bias = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Pull& pull = phase_.pulls[i];
      const double client = dealt ? client_sd * phase_.actions.row(pull.arm).norm() : 0;
      const double one = (proxy * proxy / static_cast<double>(dealt ? 1 : pull.count) + client * client);
      squared += weights[i] * weights[i] *
                 (one / static_cast<double>(errors_.clients[i]) +
                  errors_.privacy[i].proxy * errors_.privacy[i].proxy);
      if (errors_.rule.clips()) {
        const double room = errors_.rule.BoundsFor(dealt ? 1 : pull.count).high - 1;
        bias += std::abs(weights[i]) * std::sqrt(one) * MeanExcess(room / std::sqrt(one));
      }
    }
    double worst = 0;  // sum_x |a_x - 1{x = first} + 1{x = second}|
    for (const ArmId arm : phase_.active) {
      double coefficient = (arm == second) - (arm == first);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        if (phase_.pulls[i].arm == arm) coefficient += weights[i];
      }
      worst += std::abs(coefficient);
    }
    return std::sqrt(2 * std::log(1 / level_) * squared) + bias + errors_.misspecification * worst;
  }

 private:
  std::vector<double> WeightsOf(const Vector& v) const {
    const Vector solved = solver_.solve(v);
    std::vector<double> weights;
    for (const Pull& pull : phase_.pulls) {
      weights.push_back(static_cast<double>(pull.count) * phase_.actions.row(pull.arm).dot(solved));
    }
    return weights;
  }

  const Phase& phase_;
  const PhaseErrors& errors_;
  double level_;
  Eigen::CompleteOrthogonalDecomposition<Matrix> solver_;
};

// Noise that is not declared normal gets the bound of a sub-Gaussian error. Watched clients with clipping
// have a test of their own.
TEST(PhaseRegressionTest, WidthsAreTheOnesOfTheDefinition) {
  for (const Eigen::Index rank : {2, 5}) {
    const Phase phase = SomePhase(300, 5, rank, 200, 30);
    const PhaseErrors plain = SomeErrors(phase, false);
    PhaseErrors clipped = SomeErrors(phase, true);
    PhaseErrors watched = clipped;
    watched.rule.client_sd = 0;
    PhaseErrors misspecified = plain;
    misspecified.misspecification = 0.02;
    for (const PhaseErrors& errors : {plain, watched, misspecified, Dealt(phase, plain),
                                      Dealt(phase, clipped), Dealt(phase, misspecified)}) {
      constexpr double kLevel = 0.01;
      const DenseWidths widths(phase, errors, kLevel);
      std::size_t kept = 0;
      for (std::uint64_t seed = 40; seed < 44; ++seed) {
        const Vector theta = SomeTheta(5, seed);
        const auto survivors = phase.Regression().EliminateExactly(theta, phase.active, errors, kLevel);
        const Vector values = phase.actions * theta;
        Eigen::Index best;
        values.maxCoeff(&best);
        double widest = 0;
        std::vector<ArmId> expected;
        for (const ArmId arm : phase.active) {
          const double width = arm == best ? 0 : widths.Of(static_cast<ArmId>(best), arm);
          widest = std::max(widest, width);
          if (!(values[best] - values[arm] > width)) expected.push_back(arm);
        }
        EXPECT_NEAR(survivors.widest / widest, 1, 1e-8);
        EXPECT_EQ(survivors.active, expected);
        kept += expected.size();
      }
      EXPECT_LT(kept, 4 * phase.active.size()) << "nothing was eliminated";
      EXPECT_GT(kept, 4u) << "the best alone was kept";
    }
  }
}

// Unstructured arms are estimated one by one, so it does not matter how far their means are from a linear
// model.
TEST(PhaseRegressionTest, MisspecificationMeansNothingToUnstructuredArms) {
  const Phase phase(ActionMatrix::Identity(4, 4), All(4), 100);
  PhaseErrors errors = Dealt(phase, SomeErrors(phase, false));
  const Vector theta = SomeTheta(4, 3);
  const double exact = phase.Regression().EliminateExactly(theta, phase.active, errors, 0.1).widest;
  errors.misspecification = 0.5;
  EXPECT_NEAR(phase.Regression().EliminateExactly(theta, phase.active, errors, 0.1).widest, exact, 1e-9);
}

TEST(PhaseRegressionTest, EveryPartOfTheErrorWidens) {
  const Phase phase = SomePhase(40, 4, 4, 100, 50);
  const Vector theta = SomeTheta(4, 51);
  const auto widest = [&](auto change, double level = 0.01) {
    PhaseErrors errors = SomeErrors(phase, true);
    change(errors);
    return phase.Regression().EliminateExactly(theta, phase.active, errors, level).widest;
  };
  const double base = widest([](PhaseErrors&) {});
  EXPECT_GT(widest([](PhaseErrors& errors) { errors.rule.reward.sd *= 1.1; }), base);
  EXPECT_GT(widest([](PhaseErrors& errors) { errors.rule.client_sd *= 1.1; }), base);
  EXPECT_GT(widest([](PhaseErrors& errors) {
              for (NoiseLaw& law : errors.privacy) law.proxy *= 1.1;
            }),
            base);
  EXPECT_GT(widest([](PhaseErrors& errors) { errors.rule.fixed_bound = 1.1; }), base);
  EXPECT_LT(widest([](PhaseErrors& errors) {
              for (Count& clients : errors.clients) ++clients;
            }),
            base);
  EXPECT_GT(widest([](PhaseErrors&) {}, 0.001), base);
}

TEST(PhaseRegressionTest, ExactKnowledgeKeepsOnlyTheBest) {
  const Phase phase = SomePhase(40, 4, 4, 100, 60);
  const Vector theta = SomeTheta(4, 61);
  Eigen::Index best;
  (phase.actions * theta).maxCoeff(&best);
  PhaseErrors none{.clients = std::vector<Count>(phase.pulls.size(), 1)};
  none.rule.reward = {RewardKind::kGaussian, 0};
  EXPECT_THAT(phase.Regression().EliminateExactly(theta, phase.active, none, 0.1).active,
              ::testing::ElementsAre(static_cast<ArmId>(best)));
  EXPECT_EQ(phase.Regression().EliminateExactly(Vector::Zero(4), phase.active, none, 0.1).active,
            phase.active)
      << "what leads by nothing eliminates nothing";
}

TEST(PhaseRegressionTest, OneWidthForAllKeepsWhatIsWithinIt) {
  ActionMatrix actions(4, 1);
  actions << 0.25, 1.0, 0.5, 0.75;
  const Phase phase(actions, All(4), 10);
  const Vector theta = Vector::Constant(1, 1.0);
  const auto kept = [&](double width) {
    return phase.Regression().EliminateBy(width, theta, phase.active).active;
  };
  EXPECT_THAT(kept(0), ::testing::ElementsAre(1));
  EXPECT_THAT(kept(0.2), ::testing::ElementsAre(1));
  EXPECT_THAT(kept(0.25), ::testing::ElementsAre(1, 3)) << "a lead of exactly the width is not enough";
  EXPECT_THAT(kept(0.6), ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(kept(5), ::testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(kept(std::numeric_limits<double>::quiet_NaN()), ::testing::ElementsAre(0, 1, 2, 3))
      << "what is not a number eliminates nothing";
  EXPECT_EQ(phase.Regression().EliminateBy(0.6, theta, phase.active).widest, 0.6);
}

struct AnyPhase {
  Phase phase;
  Vector estimate;
};

AnyPhase DrawPhase() {
  const auto d = *rc::gen::inRange<Eigen::Index>(1, 6);
  const auto rank = *rc::gen::inRange<Eigen::Index>(1, d + 1);
  const auto k = *rc::gen::inRange<Eigen::Index>(1, 40);
  test::Coins coins(*rc::gen::arbitrary<std::uint64_t>());
  ActionMatrix actions = Actions(k, d, rank, coins.gen);
  for (Eigen::Index i = 0; i < k; ++i)
    actions.row(i) *= 0.2 + 0.8 * UniformUnit(coins.gen);  // no two actions are alike in one dimension
  std::vector<ArmId> active;
  for (const ArmId arm : All(k)) {
    if (*rc::gen::inRange(0, 3) > 0) active.push_back(arm);
  }
  if (active.empty()) active.push_back(0);
  const double rounds = *rc::gen::inRange(1, 500);
  return {Phase(std::move(actions), std::move(active), rounds), Normal(d, 1, coins.gen)};
}

ArmId EmpiricalBest(const AnyPhase& any) {
  return *std::max_element(any.phase.active.begin(), any.phase.active.end(), [&](ArmId a, ArmId b) {
    return Dot(any.phase.actions, a, any.estimate) < Dot(any.phase.actions, b, any.estimate);
  });
}

bool IsOrderedSubset(const std::vector<ArmId>& part, const std::vector<ArmId>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end()) &&
         std::is_sorted(part.begin(), part.end());
}

RC_GTEST_PROP(PhaseRegressionProperty, SurvivorsAreInOrderAndTheEmpiricalBestIsAmongThem, ()) {
  const AnyPhase any = DrawPhase();
  const double width = *rc::gen::inRange(0, 100) / 50.;
  const double scale = *rc::gen::inRange(0, 100) / 50.;
  const PhaseErrors errors = SomeErrors(any.phase, *rc::gen::arbitrary<bool>(), scale);
  const PhaseRegression regression = any.phase.Regression();
  for (const auto& survivors : {regression.EliminateBy(width, any.estimate, any.phase.active),
                                regression.EliminateExactly(any.estimate, any.phase.active, errors, 0.1)}) {
    RC_ASSERT(IsOrderedSubset(survivors.active, any.phase.active));
    RC_ASSERT(std::find(survivors.active.begin(), survivors.active.end(), EmpiricalBest(any)) !=
              survivors.active.end());
  }
}

RC_GTEST_PROP(PhaseRegressionProperty, LargerWidthsKeepMore, ()) {
  const AnyPhase any = DrawPhase();
  const PhaseRegression regression = any.phase.Regression();
  const double width = *rc::gen::inRange(0, 100) / 50.;
  RC_ASSERT(IsOrderedSubset(regression.EliminateBy(width, any.estimate, any.phase.active).active,
                            regression.EliminateBy(width + 0.1, any.estimate, any.phase.active).active));
  PhaseErrors errors = SomeErrors(any.phase, *rc::gen::arbitrary<bool>(), width);
  const auto narrow = regression.EliminateExactly(any.estimate, any.phase.active, errors, 0.1);
  RC_ASSERT(IsOrderedSubset(
      narrow.active, regression.EliminateExactly(any.estimate, any.phase.active, errors, 0.01).active));
  for (NoiseLaw& law : errors.privacy) law.proxy += 0.1;
  RC_ASSERT(IsOrderedSubset(narrow.active,
                            regression.EliminateExactly(any.estimate, any.phase.active, errors, 0.1).active));
}

RC_GTEST_PROP(PhaseRegressionProperty, TheOrderOfTheActiveSetDoesNotMatter, ()) {
  const AnyPhase any = DrawPhase();
  std::vector<ArmId> shuffled = any.phase.active;
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  const PhaseErrors errors = SomeErrors(any.phase, *rc::gen::arbitrary<bool>(), 0.3);
  const PhaseRegression regression = any.phase.Regression();
  const auto sorted = [](std::vector<ArmId> arms) {
    std::sort(arms.begin(), arms.end());
    return arms;
  };
  RC_ASSERT(sorted(regression.EliminateExactly(any.estimate, shuffled, errors, 0.1).active) ==
            regression.EliminateExactly(any.estimate, any.phase.active, errors, 0.1).active);
  RC_ASSERT(sorted(regression.EliminateBy(0.3, any.estimate, shuffled).active) ==
            regression.EliminateBy(0.3, any.estimate, any.phase.active).active);
}

RC_GTEST_PROP(PhaseRegressionProperty, MeansOfActiveActionsAreRecovered, ()) {
  const AnyPhase any = DrawPhase();
  const Vector recovered = any.phase.Regression().Estimate(any.phase.AveragesOf(any.estimate));
  for (const ArmId arm : any.phase.active) {
    RC_ASSERT(std::abs(any.phase.actions.row(arm).dot(recovered - any.estimate)) < 1e-6);
  }
}

// --- coverage: how often the best of two near-equal actions is lost, client by client

struct Coverage {
  const char* name;
  Sampling sampling = Sampling::kDeal;
  RewardModel reward = {RewardKind::kGaussian, 0.5};
  double client_sd = 0.3;
  NoiseLaw noise = {};
  double misspecification = 0;
  bool choose = false;     // whether ChooseBounds sets the intervals for the noise
  double understated = 1;  // the factor by which all inputs of the width are understated
};

// Draws whole phases with the truth in `coverage` and returns how often the best action is lost. The mean
// rewards are at the end of [-1, 1], where clipping has its largest effect.
double LossRate(const Coverage& coverage, double level, int runs, std::uint64_t seed) {
  ActionMatrix actions(3, 2);
  actions << 1.0, 0.0, 0.8, 0.6, 0.8, -0.6;
  const Phase phase(actions, All(3), 12);
  const Vector theta = (Vector(2) << 1, 0.34).finished();  // the means are in proportion to 1, 1.004, 0.596
  test::Coins coins(seed);
  const auto mean = [&](ArmId arm) {
    const double worst = arm == 1 ? -1 : 1;  // the worst sign of the misspecification: against the best
                                             // action
    const double scale = coverage.reward.kind == RewardKind::kGaussian ? 0.9 : 0.1;  // signs vary most near 0
    return std::min(1.0, actions.row(arm).dot(theta) * scale) + worst * coverage.misspecification;
  };
  PhaseErrors errors{.sampling = coverage.sampling,
                     .rule = {.reward = coverage.reward, .client_sd = coverage.client_sd},
                     .misspecification = coverage.misspecification};
  const bool dealt = coverage.sampling == Sampling::kDeal;
  for (const Pull& pull : phase.pulls) errors.clients.push_back(dealt ? pull.count : 7);
  errors.privacy.assign(phase.pulls.size(), coverage.noise);
  if (coverage.choose) {
    const auto forecast = [&](const MeanQuery&) -> absl::StatusOr<std::vector<NoiseLaw>> {
      return errors.privacy;
    };
    errors.bounds = *phase.Regression().ChooseBounds(errors, level, forecast);
  } else {
    for (const Pull& pull : phase.pulls)
      errors.bounds.push_back(errors.rule.BoundsFor(dealt ? 1 : pull.count));
  }
  PhaseErrors told = errors;
  told.rule.reward.sd *= coverage.understated;
  told.rule.client_sd *= coverage.understated;
  told.misspecification *= coverage.understated;
  for (NoiseLaw& law : told.privacy) {
    law.proxy *= coverage.understated;
    law.laplace_scale *= coverage.understated;
  }
  ArmId best = 0;
  for (const ArmId arm : phase.active) best = mean(arm) > mean(best) ? arm : best;
  int lost = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> averages(phase.pulls.size(), 0.0);
    const Count watchers = dealt ? 1 : errors.clients[0];
    for (Count client = 0; client < watchers; ++client) {
      Vector xi = coverage.client_sd * Normal(2, 1, coins.gen);
      for (std::size_t i = 0; i < averages.size(); ++i) {
        const Pull& pull = phase.pulls[i];
        for (Count each = 0; each < (dealt ? pull.count : 1); ++each) {
          if (dealt) xi = coverage.client_sd * Normal(2, 1, coins.gen);
          const Count pulls = dealt ? 1 : pull.count;
          const double own = mean(pull.arm) + actions.row(pull.arm).dot(xi);
          const Interval accepted = coverage.reward.means();
          const double reward =
              coverage.reward.DrawSum(std::clamp(own, accepted.low, accepted.high), pulls, coins.gen) /
              static_cast<double>(pulls);
          averages[i] += std::clamp(reward, errors.bounds[i].low, errors.bounds[i].high) /
                         static_cast<double>(errors.clients[i]);
        }
      }
    }
    for (double& average : averages) {
      average += coverage.noise.proxy * StandardNormal(coins.gen);
      for (Count term = 0; term < coverage.noise.laplace_terms; ++term) {
        const double sign = UniformUnit(coins.gen) < 0.5 ? 1 : -1;
        average -= coverage.noise.laplace_scale * sign * std::log(1 - UniformUnit(coins.gen));
      }
    }
    const PhaseRegression regression = phase.Regression();
    const auto survivors =
        regression.EliminateExactly(regression.Estimate(averages), phase.active, told, level);
    lost += std::find(survivors.active.begin(), survivors.active.end(), best) == survivors.active.end();
  }
  return static_cast<double>(lost) / runs;
}

constexpr NoiseLaw kNormalNoise{.proxy = 0.3, .normal = true};
constexpr NoiseLaw kLaplaceNoise{.laplace_scale = 0.2, .laplace_terms = 1};
constexpr RewardModel kSigns{.kind = RewardKind::kRademacher};

std::vector<Coverage> Coverages() {
  return {{.name = "dealt, gaussian"},
          {.name = "dealt, normal noise", .noise = kNormalNoise},
          {.name = "dealt, intervals chosen", .noise = kNormalNoise, .choose = true},
          {.name = "dealt, laplace noise", .noise = kLaplaceNoise},
          {.name = "dealt, signs", .reward = kSigns, .client_sd = 0},
          {.name = "dealt, signs, laplace noise", .reward = kSigns, .client_sd = 0, .noise = kLaplaceNoise},
          {.name = "dealt, misspecified", .noise = kNormalNoise, .misspecification = 0.1},
          {.name = "watched", .sampling = Sampling::kWatch},
          {.name = "watched, normal noise", .sampling = Sampling::kWatch, .noise = kNormalNoise},
          {.name = "watched, intervals chosen",
           .sampling = Sampling::kWatch,
           .noise = kNormalNoise,
           .choose = true},
          {.name = "watched, laplace noise", .sampling = Sampling::kWatch, .noise = kLaplaceNoise}};
}

// There are two rivals at level 0.15 each. Five standard deviations are a false alarm with probability below
// 3e-7 for each case.
TEST(CoverageTest, TheBestIsLostNoMoreOftenThanPromised) {
  constexpr int kRuns = 3000;
  constexpr double kMost = 0.3;
  std::uint64_t seed = 500;
  for (const Coverage& coverage : Coverages()) {
    const double rate = LossRate(coverage, 0.15, kRuns, ++seed);
    EXPECT_LE(rate, kMost + 5 * std::sqrt(kMost * (1 - kMost) / kRuns)) << coverage.name;
    EXPECT_GT(rate, 0) << coverage.name;
    Coverage understated = coverage;
    understated.understated = 0.1;
    if (coverage.reward.kind != RewardKind::kGaussian) continue;  // a sign has no scale to understate
    EXPECT_GT(LossRate(understated, 0.15, kRuns, ++seed), 0.15) << coverage.name << ": the test sees nothing";
  }
}

}  // namespace
}  // namespace bandana
