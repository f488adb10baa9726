#include "bandana/algorithms/elimination/glm_phase_regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "bandana/core/distributions.h"
#include "tests/support.h"

namespace bandana {
namespace {

ActionMatrix OnTheSphere(Eigen::Index k, Eigen::Index d, std::uint64_t seed) {
  test::Coins coins(seed);
  ActionMatrix actions = Matrix::NullaryExpr(k, d, [&] { return StandardNormal(coins.gen); });
  actions.rowwise().normalize();
  return actions;
}

Vector Direction(Eigen::Index d, std::uint64_t seed) { return OnTheSphere(1, d, seed).row(0).transpose(); }

struct Phase {
  Phase(ActionMatrix all, double rounds, Link of = Link::kLogistic) : actions(std::move(all)), link(of) {
    active.resize(static_cast<std::size_t>(actions.rows()));
    std::iota(active.begin(), active.end(), 0);
    design = *NearOptimalDesign(actions, active);
    for (std::size_t i = 0; i < design.support.size(); ++i) {
      pulls.push_back({design.support[i], static_cast<Count>(std::ceil(rounds * design.weights[i]))});
    }
  }

  std::vector<double> MeansOf(const Vector& theta) const {
    std::vector<double> means;
    for (const Pull& pull : pulls) means.push_back(MeanOf(link, actions.row(pull.arm).dot(theta)));
    return means;
  }

  GlmPhaseRegression Regression(double client_sd = 0) const {
    return {link, client_sd, actions, design, pulls};
  }

  ActionMatrix actions;
  Link link;
  std::vector<ArmId> active;
  Design design;
  std::vector<Pull> pulls;
};

PhaseErrors Errors(const Phase& phase, Count clients, const std::vector<NoiseLaw>& privacy = {}) {
  PhaseErrors errors{.clients = std::vector<Count>(phase.pulls.size(), clients), .privacy = privacy};
  errors.rule.reward.kind = RewardKind::kBernoulli;
  return errors;
}

ArmId BestOf(const Phase& phase, const Vector& theta) {
  Eigen::Index best;
  (phase.actions * theta).maxCoeff(&best);
  return static_cast<ArmId>(best);
}

TEST(GlmPhaseRegressionTest, RecoversThetaFromMeans) {
  for (const Eigen::Index d : {1, 2, 5, 12}) {
    const Phase phase(OnTheSphere(40, d, 1), 100);
    const Vector theta = Direction(d, 2);
    EXPECT_LT((phase.Regression().Estimate(phase.MeansOf(theta)) - theta).norm(), 1e-7) << d;
    EXPECT_LT((phase.Regression().Estimate(phase.MeansOf(0.3 * theta)) - 0.3 * theta).norm(), 1e-9) << d;
  }
}

TEST(GlmPhaseRegressionTest, InASubspaceAllMeansAreRecovered) {
  test::Coins coins(3);
  ActionMatrix actions =
      OnTheSphere(30, 3, 4) * Matrix::NullaryExpr(3, 6, [&] { return StandardNormal(coins.gen); });
  actions /= actions.rowwise().norm().maxCoeff();
  const Phase phase(actions, 64);
  ASSERT_EQ(phase.design.rank(), 3);
  const Vector theta = Direction(6, 5);
  const Vector estimate = phase.Regression().Estimate(phase.MeansOf(theta));
  EXPECT_LT((actions * (estimate - theta)).cwiseAbs().maxCoeff(), 1e-9);
}

// With the identity as link it is least squares. Its width is PhaseRegression's at nine tenths of the level.
TEST(GlmPhaseRegressionTest, TheIdentityGivesTheLinearRegression) {
  const Phase phase(OnTheSphere(60, 4, 6), 300, Link::kIdentity);
  const PhaseRegression linear(phase.actions, phase.design, phase.pulls);
  const Vector theta = Direction(4, 7);
  std::vector<double> averages = phase.MeansOf(theta);
  averages[0] += 0.1;
  EXPECT_LT((phase.Regression().Estimate(averages) - linear.Estimate(averages)).norm(), 1e-12);
  for (const bool laplace : {false, true}) {
    const NoiseLaw law = laplace ? NoiseLaw{.laplace_scale = 0.02, .laplace_terms = 3} : NoiseLaw{0.04};
    const PhaseErrors errors = Errors(phase, 7, std::vector<NoiseLaw>(phase.pulls.size(), law));
    const auto survivors =
        phase.Regression().EliminateExactly(averages, theta, phase.active, errors, 0.01 / 0.9);
    const auto expected = linear.EliminateExactly(theta, phase.active, errors, 0.01);
    EXPECT_NEAR(survivors.widest, expected.widest, 1e-6 * expected.widest);
    EXPECT_EQ(survivors.active, expected.active);
    EXPECT_LT(expected.active.size(), phase.active.size());
    EXPECT_GT(expected.active.size(), 1u);
  }
}

// The lemma behind the width. Let g be increasing with slope at most L. Up to its mean, g of a noise has
// exponential moments that are at most those of L times the noise. The sums over the binomial law are exact.
TEST(GlmPhaseRegressionTest, TransformedNoiseIsDominatedByItsSlope) {
  const ExtendedPredictor g(Link::kLogistic, {MeanOf(Link::kLogistic, -1), MeanOf(Link::kLogistic, 1)});
  const double slope = g.SteepestSlope({0, 1});
  double tightest = 1e300;
  for (const int n : {1, 5, 40}) {
    for (const double p : {0.27, 0.4, 0.5, 0.7}) {
      const boost::math::binomial law(n, p);
      double center = 0, variance = 0;
      for (int i = 0; i <= n; ++i) center += pdf(law, i) * g(static_cast<double>(i) / n);
      for (int i = 0; i <= n; ++i) variance += pdf(law, i) * std::pow(static_cast<double>(i) / n - p, 2);
      EXPECT_LE(std::abs(center - g(p)), g.LargestCurvature({0, 1}) * variance / 2);
      for (const double t : {-30., -3., -0.1, 0.1, 3., 30.}) {
        double transformed = 0, linear = 0;
        for (int i = 0; i <= n; ++i) {
          const double average = static_cast<double>(i) / n;
          transformed += pdf(law, i) * std::exp(t * (g(average) - center));
          linear += pdf(law, i) * std::exp(t * slope * (average - p));
        }
        EXPECT_LE(transformed, linear * (1 + 1e-12)) << n << " " << p << " " << t;
        tightest = std::min(tightest, linear / transformed);
      }
    }
  }
  EXPECT_LT(tightest, 1.01);
}

// There are two orthogonal actions, so that the design has one axis for each. The law of the two averages is
// summed exactly, over every binomial outcome that has mass.
double ExactLossRate(const Vector& theta, Count clients, Count claimed, double level) {
  const ActionMatrix actions = ActionMatrix::Identity(2, 2);
  const Phase phase(actions, 60);
  const GlmPhaseRegression regression = phase.Regression();
  const std::vector<double> means = phase.MeansOf(theta);
  const Count draws = clients * phase.pulls[0].count;
  const ArmId best = BestOf(phase, theta);
  double lost = 0;
  const boost::math::binomial first(static_cast<double>(draws), means[0]);
  const boost::math::binomial second(static_cast<double>(draws), means[1]);
  for (Count i = 0; i <= draws; ++i) {
    const double mass = pdf(first, static_cast<double>(i));
    if (mass < 1e-12) continue;
    for (Count j = 0; j <= draws; ++j) {
      const double both = mass * pdf(second, static_cast<double>(j));
      if (both < 1e-14) continue;
      const std::vector<double> averages = {static_cast<double>(i) / static_cast<double>(draws),
                                            static_cast<double>(j) / static_cast<double>(draws)};
      const Vector estimate = regression.Estimate(averages);
      const auto kept =
          regression.EliminateExactly(averages, estimate, phase.active, Errors(phase, claimed), level);
      if (!std::binary_search(kept.active.begin(), kept.active.end(), best)) lost += both;
    }
  }
  return lost;
}

TEST(GlmPhaseRegressionTest, TheBestIsLostWithAtMostTheLevelExactly) {
  const double close = 1e-9;  // nearly equal means are the hardest case
  for (const double level : {0.1, 0.03}) {
    for (const double size : {0.01, 0.7}) {  // in the middle of the logistic function, and near its end
      const Vector theta = Eigen::Vector2d(size + close, size);
      const double rate = ExactLossRate(theta, 3, 3, level);
      EXPECT_LE(rate, level) << size;
      EXPECT_GT(rate, level / 300) << size << ": the width is so wide that the test sees nothing";
      EXPECT_GT(ExactLossRate(theta, 3, 27, level), level) << "errors a third of the true ones must show";
    }
  }
}

// Noise can throw averages far outside of [0, 1]; the widths stay valid and get wide. There are 4000 runs per
// setting. A true rate of 2 level (two rivals) is exceeded by five standard deviations with probability below
// 1e-6.
TEST(GlmPhaseRegressionTest, NoiseBeyondTheUnitIntervalIsHarmless) {
  constexpr int kRuns = 4000;
  constexpr double kLevel = 0.05;
  ActionMatrix actions(3, 2);
  actions << 1, 0, 0.98, 0.199, 0.98, -0.199;
  const Vector theta = Eigen::Vector2d(0.9, 0.0);
  const Phase phase(actions, 40);
  const GlmPhaseRegression regression = phase.Regression();
  const std::vector<double> means = phase.MeansOf(theta);
  const ArmId best = BestOf(phase, theta);
  for (const double scale : {0.02, 0.3, 2.0}) {
    for (const bool laplace : {false, true}) {
      for (const double claimed : {1.0, 0.25}) {
        const NoiseLaw law = laplace ? NoiseLaw{.laplace_scale = claimed * scale, .laplace_terms = 1}
                                     : NoiseLaw{claimed * scale};
        const PhaseErrors errors = Errors(phase, 400, std::vector<NoiseLaw>(phase.pulls.size(), law));
        test::Coins coins(static_cast<std::uint64_t>(scale * 100) + laplace);
        int lost = 0;
        for (int run = 0; run < kRuns; ++run) {
          std::vector<double> averages;
          for (std::size_t i = 0; i < means.size(); ++i) {
            const Count draws = 400 * phase.pulls[i].count;
            double average =
                static_cast<double>(Binomial(draws, means[i], coins.gen)) / static_cast<double>(draws);
            if (laplace) {
              const double u = UniformUnit(coins.gen) - 0.5;
              average -= scale * std::copysign(std::log1p(-2 * std::abs(u)), u);
            } else {
              average += scale * StandardNormal(coins.gen);
            }
            averages.push_back(average);
          }
          const auto kept = regression.EliminateExactly(averages, regression.Estimate(averages), phase.active,
                                                        errors, kLevel);
          lost += !std::binary_search(kept.active.begin(), kept.active.end(), best);
        }
        const double most = 2 * kLevel + 5 * std::sqrt(2 * kLevel / kRuns);
        if (claimed == 1) {
          EXPECT_LE(lost, most * kRuns) << scale << " " << laplace;
        } else {
          EXPECT_GT(lost, most * kRuns) << "understated noise must show: " << scale << " " << laplace;
        }
      }
    }
  }
}

TEST(GlmPhaseRegressionTest, DealtClientsCountOncePerCoordinate) {
  const Phase phase(OnTheSphere(20, 3, 11), 100);
  const std::vector<double> means = phase.MeansOf(0.5 * Direction(3, 12));
  const Vector estimate = phase.Regression().Estimate(means);
  PhaseErrors dealt = Errors(phase, 0);
  dealt.sampling = Sampling::kDeal;
  for (std::size_t i = 0; i < phase.pulls.size(); ++i) dealt.clients[i] = 9 * phase.pulls[i].count;
  EXPECT_NEAR(
      phase.Regression().EliminateExactly(means, estimate, phase.active, dealt, 0.01).widest,
      phase.Regression().EliminateExactly(means, estimate, phase.active, Errors(phase, 9), 0.01).widest,
      1e-12);
}

// Clients who differ and watch the whole phase move all averages together. Simulated: the error in the
// direction of a pair must stay within the width, and the link of the mean removes the bias.
TEST(GlmPhaseRegressionTest, ClientsWhoDifferAreCovered) {
  constexpr double kSpread = 0.5;
  constexpr Count kClients = 40;
  constexpr double kLevel = 0.1;
  const Phase phase(OnTheSphere(12, 3, 31), 4000);
  const Vector theta = Direction(3, 32);
  const GlmPhaseRegression regression = phase.Regression(kSpread);
  PhaseErrors errors = Errors(phase, kClients);
  errors.rule.client_sd = kSpread;
  std::vector<double> means;
  for (const Pull& pull : phase.pulls) {
    means.push_back(SpreadLink(Link::kLogistic, kSpread).MeanOf(phase.actions.row(pull.arm).dot(theta)));
  }
  EXPECT_LT((regression.Estimate(means) - theta).norm(), 1e-9) << "no bias";
  EXPECT_GT((phase.Regression().Estimate(means) - theta).norm(), 0.01) << "mu^-1 alone is biased";
  const ArmId best = BestOf(phase, theta);
  test::Coins coins(33);
  int lost = 0, lost_by_half = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> averages(phase.pulls.size(), 0);
    for (Count client = 0; client < kClients; ++client) {
      Vector own = theta;
      for (double& entry : own) entry += kSpread * StandardNormal(coins.gen);
      for (std::size_t i = 0; i < averages.size(); ++i) {
        const double p = MeanOf(Link::kLogistic, phase.actions.row(phase.pulls[i].arm).dot(own));
        const double pulls = static_cast<double>(phase.pulls[i].count);
        averages[i] += (p + std::sqrt(p * (1 - p) / pulls) * StandardNormal(coins.gen)) / kClients;
      }
    }
    const Vector estimate = regression.Estimate(averages);
    const auto kept = regression.EliminateExactly(averages, estimate, phase.active, errors, kLevel);
    lost += std::find(kept.active.begin(), kept.active.end(), best) == kept.active.end();
    // The planted fault: clients who differ eight times less than they do.
    PhaseErrors alike = errors;
    alike.rule.client_sd = kSpread / 8;
    const auto few =
        phase.Regression(kSpread / 8).EliminateExactly(averages, estimate, phase.active, alike, kLevel);
    lost_by_half += std::find(few.active.begin(), few.active.end(), best) == few.active.end();
  }
  EXPECT_LE(lost, kRuns * kLevel * 11) << "a union over eleven rivals";
  EXPECT_LE(lost, kRuns / 50) << "in fact it is far less";
  EXPECT_GT(lost_by_half, lost) << "the planted fault shows";
}

TEST(GlmPhaseRegressionTest, WithMoreClientsTheWidthComesDownToTheFirstOrder) {
  const Phase phase(OnTheSphere(50, 5, 8), 200);
  const Vector theta = 0.5 * Direction(5, 9);
  const std::vector<double> means = phase.MeansOf(theta);
  const Vector estimate = phase.Regression().Estimate(means);
  const ArmId best = BestOf(phase, theta);
  const PhaseRegression linear(phase.actions, phase.design, phase.pulls);
  constexpr double kLevel = 1e-6;
  double before = 1e300;
  for (const Count clients : {Count{1}, Count{100}, Count{10'000}, Count{100'000'000}}) {
    const double width = phase.Regression()
                             .EliminateExactly(means, estimate, phase.active, Errors(phase, clients), kLevel)
                             .widest;
    double first_order = 0;
    for (const ArmId arm : phase.active) {
      const Vector v = (phase.actions.row(best) - phase.actions.row(arm)).transpose();
      double squared = 0;
      for (std::size_t i = 0; i < means.size(); ++i) {
        std::vector<double> unit(means.size(), 0);
        unit[i] = 1;
        const double weight = v.dot(linear.Estimate(unit)) * PredictorSlope(Link::kLogistic, means[i]);
        squared += weight * weight * 0.25 / static_cast<double>(clients * phase.pulls[i].count);
      }
      first_order = std::max(first_order, std::sqrt(2 * std::log(1 / (0.9 * kLevel)) * squared));
    }
    EXPECT_GE(width, first_order * (1 - 1e-9));
    EXPECT_LT(width / first_order, before);
    before = width / first_order;
  }
  EXPECT_LT(before, 1.001);
}

}  // namespace
}  // namespace bandana
