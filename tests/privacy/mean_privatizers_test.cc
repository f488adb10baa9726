#include "bandana/privacy/mean_privatizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

// Seeds are fixed. Means and variances may be off by five standard deviations, which a correct mechanism
// exceeds with probability 6e-7 over seeds. Laws are compared with the Kolmogorov-Smirnov test at 1e-6. There
// are about 40 such comparisons.
namespace bandana {
namespace {

constexpr double kUnit = GridMean::kUnit;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class P>
P Made(DpGuarantee nominal, Sampler sampler = Sampler::kExact,
       Calibration calibration = Calibration::kTight) {
  auto made = P::Create({nominal, calibration, sampler});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

using ClientAverages = std::vector<std::vector<double>>;

// Runs a whole release: every client reports, the analyzer seals and opens.
template <class P>
absl::StatusOr<Released<Mean>> Release(const P& privatizer, const MeanQuery& query,
                                       const ClientAverages& clients, NoiseGen& noise) {
  ReportSum sum;
  std::uint32_t client = 0;
  for (const std::vector<double>& averages : clients) {
    std::vector<RewardSum> rewards;
    for (const double average : averages) rewards.push_back({1, average});
    BANDANA_ASSIGN_OR_RETURN(const Report report,
                             privatizer.Randomize(query, Raw<RewardSums>(rewards), noise));
    const Report sent = Wire::FromUnits(NodeId{++client}, Wire::Units(report));
    BANDANA_RETURN_IF_ERROR(privatizer.Add(query, sent, sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, privatizer.Seal(sum, noise));
  return privatizer.Open(query, sealed);
}

const MeanQuery kQuery{{{-1, 1}, {-0.5, 2}}, 3};
const ClientAverages kClients = {{0.5, 1.5}, {-1.0, 0.25}, {7.0, -9.0}};  // the last client is clipped to (1,
                                                                          // -0.5)
const std::vector<double> kMeans = {0.5 / 3, 1.25 / 3};

template <class P>
class GaussianMeanTest : public ::testing::Test {};
using GaussianMeans = ::testing::Types<CentralGaussianMean, LocalGaussianMean>;
TYPED_TEST_SUITE(GaussianMeanTest, GaussianMeans);

TEST(NoPrivacyMeanTest, GivesTheMeansAndClaimsNothing) {
  const NoPrivacyMean mean(Declassify("test"));
  test::Noise unused(1);
  const auto released = Release(mean, kQuery, kClients, unused.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_NEAR(released->value().entries[0], kMeans[0], kUnit);
  EXPECT_NEAR(released->value().entries[1], kMeans[1], kUnit);
  EXPECT_EQ(released->noise_stddev(), 0);
  EXPECT_TRUE(mean.claims().empty());
}

TYPED_TEST(GaussianMeanTest, TightDeliversWhatWasAsked) {
  for (const DpGuarantee nominal : {DpGuarantee{1, 1e-6}, {10, 0.1}, {0.1, 0.01}}) {
    const std::vector<Claim> claims = Made<TypeParam>(nominal).claims();
    ASSERT_EQ(claims.size(), 1u);
    EXPECT_EQ(claims[0].guarantee, nominal);
    EXPECT_EQ(Made<TypeParam>(nominal).guarantee(), nominal);
    EXPECT_EQ(claims[0].neighbours, "replace-one");
    EXPECT_THAT(claims[0].unit, ::testing::HasSubstr("client"));
    EXPECT_THAT(claims[0].proof, ::testing::StartsWith("docs/proofs/"));
  }
}

TYPED_TEST(GaussianMeanTest, PaperClaimsWhatItsFormulaReallyGives) {
  const auto delivered = [](DpGuarantee nominal) {
    return Made<TypeParam>(nominal, Sampler::kExact, Calibration::kPaper).claims()[0].guarantee;
  };
  EXPECT_GT(delivered({10, 0.1}).epsilon, 11.0);
  EXPECT_EQ(delivered({10, 0.1}).delta, 0.1);
  EXPECT_EQ(Made<TypeParam>({10, 0.1}, Sampler::kExact, Calibration::kPaper).guarantee(),
            delivered({10, 0.1}))
      << "what is charged is what is delivered";
  EXPECT_EQ(delivered({0.5, 0.1}).epsilon, 0.0) << "so much noise that delta alone suffices";
  EXPECT_LT(delivered({0.5, 1e-6}).epsilon, 0.45);
  EXPECT_GT(delivered({0.5, 1e-6}).epsilon, 0.3);
  // Compares with the closed form at the formula's own multiplier.
  const double multiplier = std::sqrt(2 * std::log(12.5)) / 10;
  EXPECT_NEAR(GaussianDelta(delivered({10, 0.1}).epsilon, multiplier), 0.1, 1e-9);
}

TYPED_TEST(GaussianMeanTest, BadBudgetsAreRefusedByName) {
  const auto key = [](DpGuarantee nominal, Calibration calibration) {
    const auto made = TypeParam::Create({nominal, calibration, Sampler::kExact});
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  for (const Calibration calibration : {Calibration::kTight, Calibration::kPaper}) {
    for (const double epsilon : {0.0, -1.0, kNan, kInfinity}) {
      EXPECT_EQ(key({epsilon, 0.1}, calibration), "epsilon") << epsilon;
    }
    for (const double delta : {0.0, -1.0, 1.0, 2.0, kNan}) {
      EXPECT_EQ(key({1, delta}, calibration), "delta") << delta;
    }
  }
}

// Returns the sum of `clients` reports of 1 unit in every coordinate.
template <class P>
ReportSum SumOf(const P& mean, const MeanQuery& query, std::uint32_t clients) {
  ReportSum sum;
  for (std::uint32_t client = 1; client <= clients; ++client) {
    const std::vector<std::int64_t> ones(query.bounds.size(), 1);
    EXPECT_TRUE(mean.Add(query, Wire::FromUnits(NodeId{client}, ones), sum).ok());
  }
  return sum;
}

TYPED_TEST(GaussianMeanTest, BelowTheQuorumNothingIsReleased) {
  const auto mean = Made<TypeParam>({1, 0.1});
  test::Noise noise(2);
  for (const std::uint32_t clients : {0, 1, 2}) {
    const ReportSum sum = SumOf(mean, kQuery, clients);
    EXPECT_EQ(mean.Seal(sum, noise.gen).status().code(), absl::StatusCode::kFailedPrecondition) << clients;
  }
  EXPECT_TRUE(mean.Seal(SumOf(mean, kQuery, 3), noise.gen).ok());
  EXPECT_FALSE(mean.Seal(SumOf(mean, kQuery, 4), noise.gen).ok()) << "more reports than clients";
}

TYPED_TEST(GaussianMeanTest, SumsOfTheWrongSizeAreNotOpened) {
  const auto mean = Made<TypeParam>({1, 0.1});
  test::Noise noise(2);
  for (const std::size_t size : {1, 2, 3}) {
    const MeanQuery other{std::vector<Interval>(size, {-1, 1}), 3};
    const auto sealed = mean.Seal(SumOf(mean, other, 3), noise.gen);
    ASSERT_TRUE(sealed.ok());
    EXPECT_EQ(mean.Open(kQuery, *sealed).ok(), size == 2) << size;
  }
}

TYPED_TEST(GaussianMeanTest, NoiseBeyondTheGridIsAnErrorAndNothingLeaves) {
  const auto mean = Made<TypeParam>({1e-9, 1e-12});
  test::Noise noise(3);
  const auto released = Release(mean, kQuery, kClients, noise.gen);
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(InputErrorOf(released.status()).value_or(InputError{}).key, "epsilon");
}

// The trust model says who adds the noise: the server in the central model, the client in the local one.
TEST(WhoAddsNoiseTest, IsTheOneWhoChargesForIt) {
  const std::vector<RewardSum> rewards = {{1, 0.5}, {1, 1.5}};
  const std::vector<std::int64_t> clean = {1 << 29, 3 << 29};
  test::Noise noise(4);
  const auto central = Made<CentralGaussianMean>({1, 0.1});
  const auto local = Made<LocalGaussianMean>({1, 0.1});
  const MeanQuery query{kQuery.bounds, 1};
  const auto bare = central.Randomize(query, Raw<RewardSums>(rewards), noise.gen);
  const auto noisy = local.Randomize(query, Raw<RewardSums>(rewards), noise.gen);
  ASSERT_TRUE(bare.ok() && noisy.ok());
  EXPECT_EQ(Wire::Units(*bare), clean);
  EXPECT_NE(Wire::Units(*noisy)[0], clean[0]);
  EXPECT_NE(Wire::Units(*noisy)[1], clean[1]);
  ReportSum sum;
  ASSERT_TRUE(central.Add(query, Wire::FromUnits(NodeId{1}, clean), sum).ok());
  const NoPrivacyMean none(Declassify("test"));
  EXPECT_NE(none.Open(query, *central.Seal(sum, noise.gen))->value().entries[0], 0.5);
  EXPECT_EQ(none.Open(query, *local.Seal(sum, noise.gen))->value().entries[0], 0.5);
  static_assert(CentralGaussianMean::kChargesAnalyzer && !CentralGaussianMean::kChargesClient);
  static_assert(!LocalGaussianMean::kChargesAnalyzer && LocalGaussianMean::kChargesClient);
  static_assert(!NoPrivacyMean::kChargesAnalyzer && !NoPrivacyMean::kChargesClient);
}

TEST(WhoAddsNoiseTest, CentralNoiseShrinksWithTheClientsAndLocalWithTheirRoot) {
  const auto stddev = [](const auto& mean, Count clients) {
    const MeanQuery query{{{-1, 1}}, clients};
    test::Noise noise(2);
    const auto sealed = mean.Seal(SumOf(mean, query, static_cast<std::uint32_t>(clients)), noise.gen);
    return mean.Open(query, *sealed)->noise_stddev();
  };
  const double multiplier = *TightGaussianMultiplier({1, 0.1});
  const auto central = Made<CentralGaussianMean>({1, 0.1});
  const auto local = Made<LocalGaussianMean>({1, 0.1});
  EXPECT_NEAR(stddev(central, 1), 2 * multiplier, 1e-8);
  EXPECT_NEAR(stddev(central, 100), 2 * multiplier / 100, 1e-8);
  EXPECT_NEAR(stddev(local, 1), 2 * multiplier, 1e-8);
  EXPECT_NEAR(stddev(local, 100), 2 * multiplier / 10, 1e-8);
}

struct Errors {
  std::vector<double> first, second;
  double stated = 0;
};

template <class P>
Errors DrawErrors(const P& mean, std::uint64_t seed, int draws) {
  test::Noise noise(seed);
  Errors errors;
  for (int i = 0; i < draws; ++i) {
    const auto released = Release(mean, kQuery, kClients, noise.gen);
    EXPECT_TRUE(released.ok());
    errors.first.push_back(released->value().entries[0] - kMeans[0]);
    errors.second.push_back(released->value().entries[1] - kMeans[1]);
    errors.stated = released->noise_stddev();
  }
  return errors;
}

// Returns whether mean and variance are within five standard deviations. `slack` allows for the rounding of
// the reports, and `extra` is the variance that rounding the noise adds.
bool HasMoments(const std::vector<double>& errors, double stddev, double slack = 0, double extra = 0) {
  const auto n = static_cast<double>(errors.size());
  const test::Moments moments = test::MomentsOf(errors);
  const double variance = stddev * stddev + extra;
  return std::abs(moments.mean) <= 5 * std::sqrt(variance / n) + slack &&
         std::abs(moments.variance / variance - 1) <= 5 * std::sqrt(2 / n);
}

TYPED_TEST(GaussianMeanTest, TheNoiseHasMeanZeroAndTheStatedDeviation) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const Errors errors = DrawErrors(Made<TypeParam>({1, 0.1}, sampler), 5, 20'000);
    EXPECT_TRUE(HasMoments(errors.first, errors.stated));
    EXPECT_TRUE(HasMoments(errors.second, errors.stated));
    EXPECT_FALSE(HasMoments(errors.first, 1.06 * errors.stated)) << "six per cent are not seen";
    EXPECT_FALSE(HasMoments(errors.first, 0.94 * errors.stated)) << "six per cent are not seen";
    double product = 0;
    for (std::size_t i = 0; i < errors.first.size(); ++i) product += errors.first[i] * errors.second[i];
    const auto n = static_cast<double>(errors.first.size());
    EXPECT_LE(std::abs(product / n), 5 * errors.stated * errors.stated / std::sqrt(n))
        << "coordinates share noise";
  }
}

// With noise of a few units the test can see the half unit that rounding down takes off.
TYPED_TEST(GaussianMeanTest, TheHalfUnitOfRoundingDownIsPutBack) {
  const MeanQuery query{{{-1, 1}, {-1, 1}}, 4};
  const ClientAverages clients(4, std::vector<double>{0.5, -0.25});
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const auto mean = Made<TypeParam>({1e19, 0.1}, sampler);
    test::Noise noise(6);
    std::vector<double> units;
    double stated = 0;
    for (int i = 0; i < 20'000; ++i) {
      const auto released = Release(mean, query, clients, noise.gen);
      ASSERT_TRUE(released.ok());
      units.push_back((released->value().entries[0] - 0.5) / kUnit);
      stated = released->noise_stddev() / kUnit;
    }
    ASSERT_GT(stated, 0);
    ASSERT_LT(stated, 2) << "too much noise for this test to see half a unit";
    // Rounding a draw adds a variance of 1/12 square unit.
    const double draws = TypeParam::kChargesClient ? 4 : 1;
    EXPECT_TRUE(HasMoments(units, stated, 0, draws / 12 / 16));
    const double half = draws / 2 / 4;
    std::vector<double> uncorrected = units;
    for (double& unit : uncorrected) unit -= half;
    EXPECT_FALSE(HasMoments(uncorrected, stated, 0, draws / 12 / 16));
  }
}

TYPED_TEST(GaussianMeanTest, ExactAndFastSamplersAgreeInLaw) {
  const Errors exact = DrawErrors(Made<TypeParam>({1, 0.1}, Sampler::kExact), 7, 20'000);
  const Errors fast = DrawErrors(Made<TypeParam>({1, 0.1}, Sampler::kFast), 8, 20'000);
  const Errors less = DrawErrors(Made<TypeParam>({1.3, 0.1}, Sampler::kFast), 9, 20'000);
  EXPECT_EQ(exact.stated, fast.stated);
  EXPECT_TRUE(test::SameLaw(exact.first, fast.first));
  EXPECT_TRUE(test::SameLaw(exact.second, fast.second));
  EXPECT_FALSE(test::SameLaw(exact.first, less.first)) << "the comparison sees nothing";
}

TYPED_TEST(GaussianMeanTest, NoiseIsAFunctionOfItsGenerator) {
  const auto mean = Made<TypeParam>({1, 0.1});
  const auto draw = [&](std::uint64_t seed) {
    test::Noise noise(seed);
    return Release(mean, kQuery, kClients, noise.gen)->value().entries;
  };
  EXPECT_EQ(draw(10), draw(10));
  EXPECT_NE(draw(10), draw(11));
}

}  // namespace
}  // namespace bandana
