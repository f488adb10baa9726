#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bandana/privacy/mean_privatizers.h"
#include "tests/privacy/mean_support.h"

// Tests of central and local Laplace means. Seeds are fixed. Means may be off by four standard errors and
// variances by five (Laplace noise has a kurtosis of 6, so a variance's relative standard error is
// sqrt(5/n)). Laws are compared with the Kolmogorov-Smirnov test at 1e-6.
namespace bandana {
namespace {

using test::ClientAverages;
using test::Errors;
using test::kInfinity;
using test::kNan;

template <class P>
P Made(double epsilon, Sampler sampler = Sampler::kExact, Calibration calibration = Calibration::kTight) {
  auto made = P::Create({epsilon, calibration, sampler});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

const MeanQuery kQuery{{{-1, 1}, {-0.5, 2}}, 3};
const ClientAverages kClients = {{0.5, 1.5}, {-1.0, 0.25}, {7.0, -9.0}};  // the last client is clipped
constexpr double kL1 = 2 + 2.5;

template <class P>
class LaplaceMeanTest : public ::testing::Test {};
using LaplaceMeans = ::testing::Types<CentralLaplaceMean, LocalLaplaceMean>;
TYPED_TEST_SUITE(LaplaceMeanTest, LaplaceMeans);

template <class P>
double Draws(const MeanQuery& query) {
  return P::kChargesClient ? static_cast<double>(query.clients) : 1;
}

TYPED_TEST(LaplaceMeanTest, ClaimsPureEpsilonAndThePaperTwiceOfIt) {
  for (const double epsilon : {0.1, 1.0, 7.5}) {
    EXPECT_EQ(Made<TypeParam>(epsilon).guarantee(), (DpGuarantee{epsilon, 0}));
    EXPECT_EQ(Made<TypeParam>(epsilon).claims()[0].guarantee, (DpGuarantee{epsilon, 0}));
    const auto paper = Made<TypeParam>(epsilon, Sampler::kExact, Calibration::kPaper);
    EXPECT_EQ(paper.guarantee(), (DpGuarantee{2 * epsilon, 0}));
    EXPECT_EQ(paper.claims()[0].guarantee, paper.guarantee());
  }
  EXPECT_THAT(Made<TypeParam>(1).claims()[0].proof, ::testing::EndsWith("-laplace.md"));
}

TYPED_TEST(LaplaceMeanTest, BadBudgetsAreRefusedByName) {
  for (const double epsilon : {0.0, -1.0, kNan, kInfinity, -kInfinity, 1e-310, 1e308}) {
    for (const Calibration calibration : {Calibration::kTight, Calibration::kPaper}) {
      const auto made = TypeParam::Create({epsilon, calibration, Sampler::kExact});
      ASSERT_FALSE(made.ok()) << epsilon;
      EXPECT_EQ(InputErrorOf(made.status()).value_or(InputError{}).key, "epsilon") << epsilon;
    }
  }
}

TYPED_TEST(LaplaceMeanTest, NoiseBeyondTheGridIsAnErrorAndNothingLeaves) {
  test::Noise noise(1);
  const auto released = test::ReleaseMean(Made<TypeParam>(1e-9), kQuery, kClients, noise.gen);
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(InputErrorOf(released.status()).value_or(InputError{}).key, "epsilon");
}

TYPED_TEST(LaplaceMeanTest, TheNoiseHasTheStatedLaw) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const Errors errors = test::DrawErrors(Made<TypeParam>(2, sampler), kQuery, kClients, 3, 10'000);
    for (std::size_t j = 0; j < 2; ++j) {
      const NoiseLaw& law = errors.laws[j];
      EXPECT_NEAR(law.laplace_scale, kL1 / 2 / 3, 1e-8);
      EXPECT_EQ(static_cast<double>(law.laplace_terms), Draws<TypeParam>(kQuery));
      EXPECT_TRUE(test::IsCentred(errors.entries[j], law.stddev()));
      const double ratio = test::MomentsOf(errors.entries[j]).variance / (law.stddev() * law.stddev());
      EXPECT_NEAR(ratio, 1, 5 * std::sqrt(5.0 / 10'000));
      EXPECT_TRUE(test::TailsAreBelow(errors.entries[j], law));
      NoiseLaw understated = law;
      understated.laplace_scale *= 0.5;
      EXPECT_FALSE(test::TailsAreBelow(errors.entries[j], understated)) << "the test sees nothing";
    }
  }
}

TYPED_TEST(LaplaceMeanTest, ExactAndFastSamplersAgreeInLaw) {
  const auto errors = [](double epsilon, Sampler sampler, std::uint64_t seed) {
    return test::DrawErrors(Made<TypeParam>(epsilon, sampler), kQuery, kClients, seed, 10'000);
  };
  const Errors exact = errors(1, Sampler::kExact, 4);
  const Errors fast = errors(1, Sampler::kFast, 5);
  EXPECT_TRUE(test::SameLaw(exact.entries[0], fast.entries[0]));
  EXPECT_TRUE(test::SameLaw(exact.entries[1], fast.entries[1]));
  EXPECT_FALSE(test::SameLaw(exact.entries[0], errors(1.5, Sampler::kFast, 6).entries[0]));
}

// With a scale of a few units the test sees each probability: the law on the grid, and not only its shape.
TEST(LaplaceNoiseTest, BothSamplersHaveTheDiscreteLaw) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    for (const std::uint64_t scale : {1, 3, 20}) {
      const LaplaceNoise law = *LaplaceNoise::Create({1, Calibration::kTight, sampler});
      test::Noise noise(scale);
      const auto reach = static_cast<std::int64_t>(30 * scale);
      std::vector<double> counts(static_cast<std::size_t>(2 * reach + 1)), masses(counts.size());
      for (std::int64_t k = -reach; k <= reach; ++k) {
        const double t = static_cast<double>(scale);
        masses[static_cast<std::size_t>(k + reach)] =
            std::tanh(0.5 / t) * std::exp(-std::abs(static_cast<double>(k)) / t);
      }
      for (int i = 0; i < 50'000; ++i) {
        const std::int64_t k = law.Draw(scale, noise.gen);
        ASSERT_LE(std::abs(k), reach);
        counts[static_cast<std::size_t>(k + reach)] += 1;
      }
      EXPECT_TRUE(test::FitsMasses(counts, masses)) << scale;
    }
  }
}

TYPED_TEST(LaplaceMeanTest, AnIntervalOfNoWidthHasNoNoise) {
  const MeanQuery query{{{0.5, 0.5}, {-0.25, -0.25}}, 2};
  test::Noise noise(7);
  const auto released = test::ReleaseMean(Made<TypeParam>(0.1), query, {{9, 9}, {kNan, -9}}, noise.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_THAT(released->value().entries, ::testing::ElementsAre(0.5, -0.25));
  EXPECT_EQ(released->noise_stddev(), 0);
}

// The interval is one point off the grid. On the grid its ends are one unit apart, and the noise is for that
// unit.
TYPED_TEST(LaplaceMeanTest, AnIntervalOfNoWidthOffTheGridStaysNearIt) {
  const MeanQuery query{{{0.1, 0.1}}, 1};
  test::Noise noise(8);
  const auto released = test::ReleaseMean(Made<TypeParam>(1), query, {{0.1}}, noise.gen);
  ASSERT_TRUE(released.ok());
  EXPECT_NEAR(released->value().entries[0], 0.1, 1e-7);
}

TYPED_TEST(LaplaceMeanTest, NoiseThatGoesToNothingLeavesTheMeans) {
  test::Noise noise(9);
  const auto released = test::ReleaseMean(Made<TypeParam>(1e15), kQuery, kClients, noise.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_NEAR(released->value().entries[0], 0.5 / 3, 1e-7);
  EXPECT_NEAR(released->value().entries[1], 1.25 / 3, 1e-7);
}

TEST(LaplaceSensitivityTest, TheScaleIsTheL1RangeOverEpsilon) {
  const LaplaceNoise tight = *LaplaceNoise::Create({0.5, Calibration::kTight, Sampler::kExact});
  const LaplaceNoise paper = *LaplaceNoise::Create({0.5, Calibration::kPaper, Sampler::kExact});
  const auto exact = static_cast<std::uint64_t>(kL1 / 0.5 * (1 << 30));
  EXPECT_GE(*tight.Scale(kQuery), exact);
  EXPECT_LE(*tight.Scale(kQuery), exact + 1);
  EXPECT_GE(*paper.Scale(kQuery), exact / 2);
  EXPECT_LE(*paper.Scale(kQuery), exact / 2 + 1);
}

// epsilon >= D/t in units, for any intervals and any epsilon: no rounding understates the loss.
RC_GTEST_PROP(LaplaceSensitivityTest, TheClaimHoldsForTheScaleAsItIs, ()) {
  const double epsilon =
      std::exp(*rc::gen::map(rc::gen::inRange(-7000, 5000), [](int x) { return x / 1e3; }));
  MeanQuery query{{}, 1};
  long double units = 0;
  const int size = *rc::gen::inRange(1, 20);
  for (int i = 0; i < size; ++i) {
    const double low = *rc::gen::inRange(-1'000'000, 1'000'000) / 7919.0;
    const double high = low + *rc::gen::inRange(0, 1'000'000) / 104729.0;
    query.bounds.push_back({low, high});
    units += std::ceil(high / GridMean::kUnit) - std::floor(low / GridMean::kUnit);
  }
  const LaplaceNoise noise = *LaplaceNoise::Create({epsilon, Calibration::kTight, Sampler::kExact});
  const auto scale = noise.Scale(query);
  RC_ASSERT(scale.ok());
  RC_ASSERT(units <= static_cast<long double>(epsilon) * static_cast<long double>(*scale));
}

// --- who adds noise, and what may be released

TEST(WildInputTest, NoRewardMovesACentralReportOutsideItsInterval) {
  const auto mean = Made<CentralLaplaceMean>(1);
  test::Noise noise(10);
  for (const double wild : test::kWild) {
    const auto report = test::ReportOf(mean, kQuery, 1, {wild, wild}, noise.gen);
    ASSERT_TRUE(report.ok()) << wild;
    for (std::size_t j = 0; j < 2; ++j) {
      const double value = static_cast<double>(Wire::Units(*report)[j]) * GridMean::kUnit;
      EXPECT_GE(value, kQuery.bounds[j].low) << wild;
      EXPECT_LE(value, kQuery.bounds[j].high) << wild;
    }
  }
}

TYPED_TEST(LaplaceMeanTest, IntervalsAndSumsBeyondTheGridAreErrorsOfTheQueryAlone) {
  const auto mean = Made<TypeParam>(1);
  test::Noise noise(11);
  const std::vector<MeanQuery> bad = {{{{0, 0x1.8p20}}, 1}, {{{-kInfinity, 0}}, 1}, {{{0, kNan}}, 1},
                                      {{{1, 0}}, 1},        {{{0, 0x1p20}}, 4096},  {{{-0x1p20, 0}}, 4096}};
  for (const MeanQuery& query : bad) {
    for (const double reward : {0.0, 1e308}) {
      EXPECT_EQ(test::ReportOf(mean, query, 1, {reward}, noise.gen).status().code(),
                absl::StatusCode::kInvalidArgument);
    }
    ReportSum sum;
    EXPECT_FALSE(mean.Add(query, Wire::FromUnits(NodeId{1}, {0}), sum).ok());
  }
}

// A central report is nearly raw. A mechanism that adds no noise of its own does not open it, alone or in a
// sum, for any query. Only the mechanism that adds the noise does.
TEST(LaunderingTest, ACentralReportIsNotLetOutThroughALocalMechanism) {
  const auto central = Made<CentralLaplaceMean>(1);
  const auto laplace = Made<LocalLaplaceMean>(1);
  const auto gaussian = *LocalGaussianMean::Create({{1, 0.1}, Calibration::kTight, Sampler::kExact});
  test::Noise noise(12);
  const MeanQuery one{kQuery.bounds, 1};
  const auto report = test::ReportOf(central, kQuery, 1, {0.5, 1.5}, noise.gen);
  ASSERT_TRUE(report.ok());
  const auto sealed = [&](const auto& adder, const auto& sealer) {
    ReportSum sum;
    EXPECT_TRUE(adder.Add(one, *report, sum).ok());
    return sealer.Seal(sum, noise.gen).status().code();
  };
  EXPECT_EQ(sealed(laplace, laplace), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(sealed(gaussian, laplace), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(sealed(central, laplace), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(sealed(central, gaussian), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(sealed(central, central), absl::StatusCode::kOk);
  EXPECT_EQ(sealed(laplace, central), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace bandana
