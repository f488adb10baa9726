#include "bandana/privacy/shuffled_regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "bandana/privacy/wire.h"
#include "gmock/gmock.h"
#include "tests/support.h"

// Seeds are fixed. Variances may be off by five standard errors.
namespace bandana {
namespace {

constexpr DpGuarantee kNominal{1, 1e-5};

struct Options {
  PrefixSumMechanism mechanism = PrefixSumMechanism::kToeplitz;
  std::int64_t steps = 4;
  Count silos = 10;
  double honest_fraction = 1;
  Count colluding = 0;  // the tests of noise are simpler if everybody hides everybody
  Calibration calibration = Calibration::kTight;
};

ShuffledRegressionParams ParamsOf(const Options& options) {
  return {.sums = {.nominal = kNominal,
                   .calibration = options.calibration,
                   .sampler = Sampler::kFast,
                   .mechanism = options.mechanism,
                   .steps = options.steps,
                   .dimension = 2,
                   .context_norm = 1,
                   .reward_bound = 1,
                   .reward_weight = 0.5},
          .silos = options.silos,
          .collusion = {.colluding = options.colluding, .honest_fraction = options.honest_fraction}};
}

ShuffledRegressionSum Made(const Options& options) {
  auto made = ShuffledRegressionSum::Create(ParamsOf(options));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

using Silos = std::vector<std::unique_ptr<RegressionStream>>;

Silos SilosOf(const ShuffledRegressionSum& mechanism) {
  Silos all;
  for (Count i = 0; i < mechanism.silos(); ++i) all.push_back(std::make_unique<RegressionStream>(mechanism));
  return all;
}

// Returns the reports of all silos for their next step, with their names.
std::vector<Report> ReportsOf(const ShuffledRegressionSum& mechanism, const Silos& silos, NoiseGen& noise) {
  std::vector<Report> reports;
  const StepQuery query{silos[0]->steps() + 1, mechanism.silos()};
  for (const auto& silo : silos) {
    EXPECT_TRUE(mechanism.EndStep(*silo).ok());
    const auto report = mechanism.Randomize(query, Raw<RegressionStream*>(silo.get()), noise);
    EXPECT_TRUE(report.ok()) << report.status();
    const NodeId id{static_cast<std::uint32_t>(reports.size() + 1)};
    reports.push_back(Wire::FromUnits(id, Wire::Units(*report), report->bits(), report->quorum()));
  }
  return reports;
}

absl::StatusOr<Released<StepValues>> Step(const ShuffledRegressionSum& mechanism, const Silos& silos,
                                          NoiseGen& noise) {
  const StepQuery query{silos[0]->steps() + 1, mechanism.silos()};
  const std::vector<Report> reports = ReportsOf(mechanism, silos, noise);
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed, mechanism.Mix(query, reports));
  BasicReportSum<StepQuery> sum;
  BANDANA_RETURN_IF_ERROR(mechanism.AddMixed(query, mixed, sum));
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, mechanism.Seal(sum, noise));
  return mechanism.Open(query, sealed);
}

class ShuffledStrategyTest : public ::testing::TestWithParam<PrefixSumMechanism> {};
INSTANTIATE_TEST_SUITE_P(All, ShuffledStrategyTest,
                         ::testing::Values(PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                           PrefixSumMechanism::kToeplitz),
                         [](const auto& param_info) { return std::string(NameOf(param_info.param)); });

TEST_P(ShuffledStrategyTest, TheTotalHasTheNoiseOfOneCentralMechanism) {
  const ShuffledRegressionSum mechanism = Made({.mechanism = GetParam()});
  const RegressionPrefixSum central = *RegressionPrefixSum::Create(ParamsOf({.mechanism = GetParam()}).sums);
  EXPECT_NEAR(mechanism.noise() * std::sqrt(10), central.noise(), 1e-6 * central.noise());
  EXPECT_GE(mechanism.noise() * std::sqrt(10), central.noise());
  constexpr int kRuns = 1500;
  test::Noise noise(1);
  std::vector<double> errors;
  double stated = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Silos silos = SilosOf(mechanism);
    RegressionEstimator estimator(mechanism);
    for (int t = 1; t <= 3; ++t) {
      mechanism.Record(ChosenArm(0, {0.6, 0.8}), Raw<double>(1), *silos[3]);
      const auto released = Step(mechanism, silos, noise.gen);
      ASSERT_TRUE(released.ok()) << released.status();
      ASSERT_TRUE(estimator.Add(*released).ok());
    }
    const RegressionSums sums = estimator.Sums().value();
    errors.push_back(sums.gram(0, 1) - 3 * 0.48);
    stated = sums.gram_noise;
  }
  EXPECT_NEAR(stated, central.noise() * std::sqrt(central.strategy().Variance(3)), 1e-6 * stated);
  const test::Moments moments = test::MomentsOf(errors);
  EXPECT_LE(std::abs(moments.mean), 5 * stated / std::sqrt(kRuns));
  EXPECT_NEAR(moments.variance / (stated * stated), 1, 5 * std::sqrt(2.0 / kRuns));
}

TEST(ShuffledRegressionTest, TheNoiseOfTheHonestIsEnough) {
  const ShuffledRegressionSum all = Made({});
  const ShuffledRegressionSum half = Made({.honest_fraction = 0.5});
  EXPECT_NEAR(half.noise(), all.noise() * std::sqrt(2), 1e-6 * all.noise());
}

// The loss against another silo, which subtracts its own share, where noise was set as if it could not.
// Figures that a reviewer recomputed.
TEST(ShuffledRegressionTest, AParticipantSeesMoreThanTheServer) {
  const double multiplier = *TightGaussianMultiplier(kNominal);
  for (const auto& [silos, expected] :
       std::vector<std::pair<Count, double>>{{2, 1.465}, {4, 1.171}, {10, 1.060}, {50, 1.011}}) {
    const auto others = static_cast<double>(silos - 1);
    const double all = Made({.silos = silos}).noise();
    const double sound = Made({.silos = silos, .colluding = 1}).noise();
    EXPECT_NEAR(sound / all, std::sqrt(static_cast<double>(silos) / others), 1e-6) << silos;
    const auto loss = [&](double noise) {
      return GaussianEpsilon(kNominal.delta,
                             multiplier * std::sqrt(others / static_cast<double>(silos)) * noise / all);
    };
    EXPECT_NEAR(loss(all), expected, 0.001) << silos;
    EXPECT_LE(loss(sound), 1 + 1e-5) << silos;
  }
}

TEST(ShuffledRegressionTest, NamesOtherSilosOnlyIfTheClaimHoldsAgainstThem) {
  const auto against = [](const Options& options) { return Made(options).claims().front().adversary; };
  EXPECT_THAT(against({.colluding = 1}), ::testing::HasSubstr("the other silos"));
  EXPECT_THAT(against({.honest_fraction = 0.5}), ::testing::HasSubstr("the other silos"));
  EXPECT_THAT(against({}), ::testing::Not(::testing::HasSubstr("the other silos")));
  EXPECT_THAT(against({}), ::testing::HasSubstr("is none of the silos and works with none of them"));
}

TEST(ShuffledRegressionTest, ClaimsLessAgainstTheShuffler) {
  const ShuffledRegressionSum mechanism = Made({.silos = 50});
  const std::vector<Claim> claims = mechanism.claims();
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].guarantee, kNominal);
  const double share = *TightGaussianMultiplier(kNominal) / std::sqrt(50);
  EXPECT_NEAR(claims[1].guarantee.epsilon, GaussianEpsilon(kNominal.delta, share), 1e-5);
  EXPECT_GT(claims[1].guarantee.epsilon, 5);
  EXPECT_EQ(mechanism.CostOf({1, 50}), kNominal);
  EXPECT_EQ(mechanism.CostOf({2, 50}), (DpGuarantee{0, 0}));
  const ShuffledRegressionSum lonely = Made({.silos = 1});
  EXPECT_NEAR(lonely.claims()[1].guarantee.epsilon, 1, 1e-9);
}

// The proof rests on this, and it is tested at noise so small that it could fail: the floors of two normals
// add up to nearly the law of one normal that is rounded by a B-spline.
TEST(ShuffledRegressionTest, FlooredNormalsAddUpToASplineRoundingOfOne) {
  const auto phi = [](double x, double s) {
    return std::exp(-x * x / (2 * s * s)) / (s * std::sqrt(2 * M_PI));
  };
  const auto integral = [](auto f, double from, double to) {
    double sum = 0;
    for (int i = 0; i < 2000; ++i) sum += f(from + (i + 0.5) * (to - from) / 2000);
    return sum * (to - from) / 2000;
  };
  for (const double s : {1.0, 2.0}) {
    std::vector<double> one(81);
    for (int k = -40; k <= 40; ++k) {
      one[static_cast<std::size_t>(k + 40)] = integral([&](double x) { return phi(x, s); }, k, k + 1);
    }
    double distance = 0;
    for (int k = -20; k <= 20; ++k) {
      double sum = 0;
      for (int j = -20; j <= 20; ++j) {
        sum += one[static_cast<std::size_t>(j + 40)] * one[static_cast<std::size_t>(k - j + 40)];
      }
      const double spline =
          integral([&](double x) { return phi(x, s * std::sqrt(2)) * (1 - std::abs(x - k - 1)); }, k, k + 2);
      distance = std::max(distance, std::abs(sum - spline));
    }
    EXPECT_LE(distance, 6 * std::exp(-M_PI * M_PI * s * s / 2) + 1e-9) << s;
  }
}

TEST(ShuffledRegressionTest, NothingPassesUnlessAllAreMixed) {
  const ShuffledRegressionSum mechanism = Made({});
  const Silos silos = SilosOf(mechanism);
  test::Noise noise(2);
  const StepQuery query{1, 10};
  std::vector<Report> reports = ReportsOf(mechanism, silos, noise.gen);
  EXPECT_EQ(reports[0].quorum(), 10);
  BasicReportSum<StepQuery> sum;
  EXPECT_FALSE(mechanism.Add(query, reports[0], sum).ok());
  EXPECT_FALSE(mechanism.AddMixed(query, {reports[0]}, sum).ok()) << "as the silo made it";
  std::vector<Report> fewer(reports.begin(), reports.end() - 1);
  EXPECT_FALSE(mechanism.Mix(query, fewer).ok());
  fewer.push_back(reports[0]);
  EXPECT_FALSE(mechanism.Mix(query, fewer).ok()) << "one of them twice";
  EXPECT_FALSE(mechanism.Mix({1, 9}, fewer).ok()) << "another number of silos";
  EXPECT_FALSE(mechanism.Randomize({1, 9}, Raw<RegressionStream*>(silos[0].get()), noise.gen).ok());
  fewer.back() = Wire::FromUnits(NodeId{10}, Wire::Units(reports[9]), 0, 3);
  EXPECT_FALSE(mechanism.Mix(query, fewer).ok()) << "made for others";
  const auto mixed = mechanism.Mix(query, reports);
  ASSERT_TRUE(mixed.ok());
  std::vector<std::int64_t> totals(Wire::Units(reports[0]).size(), 0);
  for (const Report& report : reports) {
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += Wire::Units(report)[i];
  }
  ASSERT_EQ(mixed->size(), 1u);
  EXPECT_EQ(Wire::Units(mixed->front()), totals);
  EXPECT_FALSE(mechanism.Randomize(query, Raw<RegressionStream*>(silos[0].get()), noise.gen).ok()) << "twice";
}

TEST(ShuffledRegressionTest, BadParametersAreRefusedByName) {
  const auto key = [](const Options& options) {
    const auto made = ShuffledRegressionSum::Create(ParamsOf(options));
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  EXPECT_EQ(key({}), "accepted");
  for (const Count bad : {Count{-1}, Count{0}, Count{1} << 32}) EXPECT_EQ(key({.silos = bad}), "silos");
  for (const double bad : {0.0, -1.0, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(key({.honest_fraction = bad}), "honest_fraction");
  }
  EXPECT_EQ(key({.calibration = Calibration::kPaper}), "calibration");
}

}  // namespace
}  // namespace bandana
