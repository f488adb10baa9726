#include "bandana/privacy/regression_prefix_sum.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/sensitivity.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

// Seeds are fixed. Variances may be off by five standard errors.
namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = SiloPrefixSum::kUnit;
constexpr DpGuarantee kNominal{1, 1e-6};

struct Options {
  DpGuarantee nominal = kNominal;
  PrefixSumMechanism mechanism = PrefixSumMechanism::kToeplitz;
  std::int64_t steps = 13;
  Count dimension = 3;
  double context_norm = 1;
  double reward_bound = 1;
  double reward_weight = 0.5;
  Sampler sampler = Sampler::kFast;
  Calibration calibration = Calibration::kTight;
};

RegressionParams ParamsOf(const Options& options) {
  return {.nominal = options.nominal,
          .calibration = options.calibration,
          .sampler = options.sampler,
          .mechanism = options.mechanism,
          .steps = options.steps,
          .dimension = options.dimension,
          .context_norm = options.context_norm,
          .reward_bound = options.reward_bound,
          .reward_weight = options.reward_weight};
}

RegressionPrefixSum Made(const Options& options) {
  auto made = RegressionPrefixSum::Create(ParamsOf(options));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

RegressionPrefixSum Bare(const Options& options) {
  return *RegressionPrefixSum::CreateBare(ParamsOf(options).space(), Declassify("a test"));
}

struct Record {
  std::vector<double> x;
  double y;
};

void Put(const RegressionPrefixSum& mechanism, const Record& record, RegressionStream& stream) {
  mechanism.Record(ChosenArm(0, record.x), Raw<double>(record.y), stream);
}

absl::StatusOr<Report> Randomize(const RegressionPrefixSum& mechanism, std::int64_t step,
                                 RegressionStream& stream, NoiseGen& noise) {
  return mechanism.Randomize({step, 1}, Raw<RegressionStream*>(&stream), noise);
}

using Silos = std::vector<std::unique_ptr<RegressionStream>>;

Silos SilosOf(const RegressionPrefixSum& mechanism, int silos) {
  Silos all;
  for (int i = 0; i < silos; ++i) all.push_back(std::make_unique<RegressionStream>(mechanism));
  return all;
}

// Closes the open step of all silos and releases it.
absl::StatusOr<Released<StepValues>> Step(const RegressionPrefixSum& mechanism, const Silos& silos,
                                          NoiseGen& noise) {
  BasicReportSum<StepQuery> sum;
  const StepQuery query{silos.front()->steps() + 1, static_cast<Count>(silos.size())};
  for (std::size_t i = 0; i < silos.size(); ++i) {
    BANDANA_RETURN_IF_ERROR(mechanism.EndStep(*silos[i]));
    BANDANA_ASSIGN_OR_RETURN(const Report report,
                             mechanism.Randomize(query, Raw<RegressionStream*>(silos[i].get()), noise));
    const NodeId silo{static_cast<std::uint32_t>(i + 1)};
    BANDANA_RETURN_IF_ERROR(mechanism.Add(query, Wire::FromUnits(silo, Wire::Units(report)), sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, mechanism.Seal(sum, noise));
  return mechanism.Open(query, sealed);
}

std::vector<double> Direction(Count dimension, double angle, double length) {
  std::vector<double> x(static_cast<std::size_t>(dimension), 0);
  x[0] = length * std::cos(angle);
  if (dimension > 1) x[1] = length * std::sin(angle);
  return x;
}

class RegressionPrefixSumTest : public ::testing::TestWithParam<PrefixSumMechanism> {
 protected:
  test::Noise noise_{1};
};
INSTANTIATE_TEST_SUITE_P(All, RegressionPrefixSumTest,
                         ::testing::Values(PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                           PrefixSumMechanism::kToeplitz),
                         [](const auto& param_info) { return std::string(NameOf(param_info.param)); });

TEST(BareRegressionTest, GivesTheSumsToTheGrid) {
  for (const Count d : {1, 3, 20}) {
    for (const std::int64_t steps : {1, 5, 64}) {
      const RegressionPrefixSum bare =
          Bare({.steps = steps, .dimension = d, .context_norm = 2, .reward_bound = 3, .reward_weight = 0.25});
      EXPECT_TRUE(bare.bare());
      EXPECT_TRUE(bare.claims().empty());
      EXPECT_EQ(bare.guarantee(), (DpGuarantee{0, 0}));
      EXPECT_EQ(bare.CostOf({1, 1}), (DpGuarantee{0, 0}));
      EXPECT_EQ(bare.noise(), 0);
      const Silos silos = SilosOf(bare, 2);
      RegressionEstimator estimator(bare);
      Matrix gram = Matrix::Zero(d, d);
      Vector moments = Vector::Zero(d);
      test::Noise noise(1);
      double records = 0;
      for (std::int64_t t = 1; t <= steps; ++t) {
        for (int k = 0; k < t % 4; ++k, ++records) {
          Vector x(d);
          for (Eigen::Index i = 0; i < d; ++i) x(i) = std::sin(static_cast<double>(t * 31 + k * 7 + i));
          x *= 1.9 / x.norm();
          const double y = 2.9 * std::cos(static_cast<double>(t + k));
          Put(bare, {{x.data(), x.data() + d}, y}, *silos[static_cast<std::size_t>(k % 2)]);
          gram += x * x.transpose();
          moments += y * x;
        }
        const auto released = Step(bare, silos, noise.gen);
        ASSERT_TRUE(released.ok()) << released.status();
        ASSERT_TRUE(estimator.Add(*released).ok());
        const Released<RegressionSums> sums = estimator.Sums();
        EXPECT_EQ(sums.value().step, t);
        EXPECT_LE((sums.value().gram - gram).cwiseAbs().maxCoeff(), (records + 1) * kUnit);
        EXPECT_LE((sums.value().moments - moments).cwiseAbs().maxCoeff(), (records + 1) * kUnit / 0.25);
        EXPECT_EQ(sums.value().gram, sums.value().gram.transpose());
        EXPECT_EQ(sums.value().gram_noise, 0);
        EXPECT_EQ(sums.value().moment_noise, 0);
        EXPECT_EQ(sums.noise_stddev(), 0);
      }
    }
  }
}

TEST_P(RegressionPrefixSumTest, TheSumsNoiseHasTheStatedLaw) {
  constexpr int kRuns = 2000;
  constexpr std::int64_t kSteps = 5;
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const RegressionPrefixSum mechanism =
        Made({.mechanism = GetParam(), .steps = kSteps, .dimension = 2, .sampler = sampler});
    std::vector<std::vector<double>> errors(3);  // on the diagonal, off the diagonal, in the moments
    double gram_noise = 0;
    double moment_noise = 0;
    test::Noise noise(2);
    for (int run = 0; run < kRuns; ++run) {
      const Silos silos = SilosOf(mechanism, 2);
      RegressionEstimator estimator(mechanism);
      for (std::int64_t t = 1; t <= kSteps; ++t) {
        Put(mechanism, {{0.6, 0.8}, 0.5}, *silos[0]);
        ASSERT_TRUE(estimator.Add(*Step(mechanism, silos, noise.gen)).ok());
      }
      const Released<RegressionSums> released = estimator.Sums();
      const RegressionSums& sums = released.value();
      errors[0].push_back(sums.gram(0, 0) - 5 * 0.36);
      errors[1].push_back(sums.gram(0, 1) - 5 * 0.48);
      errors[2].push_back(sums.moments(1) - 5 * 0.4);
      gram_noise = sums.gram_noise;
      moment_noise = sums.moment_noise;
      EXPECT_DOUBLE_EQ(released.noise_stddev(), std::max(std::numbers::sqrt2 * gram_noise, moment_noise));
    }
    EXPECT_DOUBLE_EQ(gram_noise, mechanism.noise() * std::sqrt(2 * mechanism.strategy().Variance(kSteps)));
    EXPECT_DOUBLE_EQ(moment_noise, gram_noise / 0.5);
    const double stated[] = {std::numbers::sqrt2 * gram_noise, gram_noise, moment_noise};
    for (std::size_t i = 0; i < 3; ++i) {
      const test::Moments moments = test::MomentsOf(errors[i]);
      EXPECT_LE(std::abs(moments.mean), 5 * stated[i] / std::sqrt(kRuns)) << i;
      EXPECT_NEAR(moments.variance / (stated[i] * stated[i]), 1, 5 * std::sqrt(2.0 / kRuns)) << i;
    }
  }
}

TEST_P(RegressionPrefixSumTest, APersonWithSeveralRecordsTakesAsManyTimesTheNoise) {
  RegressionParams params = ParamsOf({.mechanism = GetParam()});
  const double one = RegressionPrefixSum::Create(params)->noise();
  params.records_per_person = 3;
  const RegressionPrefixSum three = *RegressionPrefixSum::Create(params);
  EXPECT_NEAR(three.noise() / one, 3, 1e-6);
  EXPECT_EQ(three.guarantee(), kNominal);
  params.records_per_person = 0;
  EXPECT_FALSE(RegressionPrefixSum::Create(params).ok());
}

TEST_P(RegressionPrefixSumTest, TheNoiseIsTheGuaranteesForTheWholeStream) {
  const RegressionPrefixSum mechanism = Made({.mechanism = GetParam(),
                                              .steps = 100,
                                              .dimension = 10,
                                              .context_norm = 2,
                                              .reward_bound = 3,
                                              .reward_weight = 0.5});
  const PrefixSumCost cost = *CostOfPrefixSum(GetParam(), 100);
  const double least = *TightGaussianMultiplier(kNominal) * cost.sensitivity * (4 + 0.25 * 9);
  EXPECT_GE(mechanism.noise(), least);
  EXPECT_LE(mechanism.noise(), least * (1 + 1e-6)) << "what the grid costs";
  EXPECT_EQ(mechanism.guarantee(), kNominal);
  EXPECT_EQ(mechanism.CostOf({1, 5}), kNominal);
  EXPECT_EQ(mechanism.CostOf({2, 5}), (DpGuarantee{0, 0}));
  EXPECT_EQ(mechanism.claims()[0].guarantee, kNominal);
}

// --- how far apart neighbours are

// Returns the l2 distance between the releases of two streams that differ in one record of step `changed`,
// with the same noise.
double Distance(const RegressionPrefixSum& mechanism, const Record& first, const Record& second,
                std::int64_t changed) {
  RegressionStream a(mechanism), b(mechanism);
  test::Noise noise_a(3), noise_b(3);
  const Record other{Direction(mechanism.space().dimension, 1, 0.7), -0.3};
  double squares = 0;
  for (std::int64_t t = 1; t <= mechanism.space().steps; ++t) {
    for (RegressionStream* stream : {&a, &b}) {
      Put(mechanism, other, *stream);
      if (t == changed) Put(mechanism, stream == &a ? first : second, *stream);
      EXPECT_TRUE(mechanism.EndStep(*stream).ok());
    }
    const auto report_a = Randomize(mechanism, t, a, noise_a.gen);
    const auto report_b = Randomize(mechanism, t, b, noise_b.gen);
    EXPECT_TRUE(report_a.ok() && report_b.ok());
    for (std::size_t i = 0; i < Wire::Units(*report_a).size(); ++i) {
      const auto move = static_cast<double>(Wire::Units(*report_a)[i] - Wire::Units(*report_b)[i]);
      squares += move * move;
    }
  }
  return std::sqrt(squares) * kUnit;
}

// Returns the distance that the noise is made for: the noise divided by the multiplier.
double Room(const RegressionPrefixSum& mechanism) {
  return mechanism.noise() / *TightGaussianMultiplier(mechanism.guarantee());
}

// The worst pair has full length and rewards at opposite ends. The cosine of its angle is (w B/L)^2; if w B
// is above L, the contexts are equal.
TEST_P(RegressionPrefixSumTest, TheWorstNeighboursReachTheSensitivityAndNoMore) {
  for (const double weight : {0.1, 0.5, 0.6, 1.0, 2.0}) {
    for (const double scale : {0.3, 2.0}) {
      const RegressionPrefixSum mechanism = Made({.mechanism = GetParam(),
                                                  .steps = 11,
                                                  .context_norm = scale,
                                                  .reward_bound = 1.5 * scale,
                                                  .reward_weight = weight});
      const double cosine = std::min(1.0, weight * weight * 2.25);
      const double reached = Distance(mechanism, {Direction(3, 0, scale), 1.5 * scale},
                                      {Direction(3, std::acos(cosine), scale), -1.5 * scale}, 1);
      EXPECT_LE(reached, Room(mechanism));
      EXPECT_GE(reached, Room(mechanism) * (1 - 1e-6)) << weight;
    }
  }
}

// Generates any double, with special values among them.
rc::Gen<double> AnyNumber() {
  return rc::gen::oneOf(
      rc::gen::element(0.0, -0.0, 1.0, -1.0, kNan, kInfinity, -kInfinity, 1e308, -1e308, 1e-320, 5e-324, 1e16,
                       1.0000000000000002, 1 - 0x1p-53),
      rc::gen::map(rc::gen::inRange(-2000, 2000), [](int x) { return static_cast<double>(x) / 1000; }));
}

RC_GTEST_PROP(RegressionSensitivityTest, IsNeverExceededByAnyPair, ()) {
  const auto mechanism_kind = *rc::gen::element(PrefixSumMechanism::kTree, PrefixSumMechanism::kToeplitz);
  const auto d = *rc::gen::inRange(1, 5);
  const double norm = *rc::gen::element(1.0, 0.01, 3.0);
  const double bound = *rc::gen::element(1.0, 0.2, 5.0);
  const double weight = *rc::gen::element(1.0, 0.3, 2.0);
  const RegressionPrefixSum mechanism = Made({.mechanism = mechanism_kind,
                                              .steps = 4,
                                              .dimension = d,
                                              .context_norm = norm,
                                              .reward_bound = bound,
                                              .reward_weight = weight});
  const auto record = [&] {
    return Record{*rc::gen::container<std::vector<double>>(static_cast<std::size_t>(d), AnyNumber()),
                  *AnyNumber()};
  };
  const auto changed = static_cast<std::int64_t>(*rc::gen::inRange(1, 5));
  RC_ASSERT(Distance(mechanism, record(), record(), changed) <= Room(mechanism));
}

// Compares many pairs with the formula alone: |.|_F/sqrt2 of x x', together with w y x.
TEST(RegressionSensitivityTest, IsTheLargestDistanceOverAGrid) {
  for (const double weight : {0.3, 1.0, 1.7}) {
    double farthest = 0;
    for (double a = 0; a <= 1; a += 0.25) {
      for (double b = 0; b <= 1; b += 0.25) {
        for (double angle = 0; angle <= std::numbers::pi; angle += 0.01) {
          for (const double y : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
            for (const double z : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
              const double dot = a * b * std::cos(angle);
              const double gram = (std::pow(a, 4) + std::pow(b, 4) - 2 * dot * dot) / 2;
              const double moments = y * y * a * a + z * z * b * b - 2 * y * z * dot;
              farthest = std::max(farthest, std::sqrt(gram + weight * weight * moments));
            }
          }
        }
      }
    }
    const double claimed = *RegressionSensitivity(1, 2, weight);
    EXPECT_LE(farthest, claimed * (1 + 1e-12));
    EXPECT_GE(farthest, claimed * 0.9999) << weight;
  }
  EXPECT_DOUBLE_EQ(*RegressionSensitivity(2, 1, 1), 5);
  EXPECT_DOUBLE_EQ(*RegressionSensitivity(1, 2, 1), 4);
}

TEST(BareRegressionTest, WildRecordsAreClipped) {
  const RegressionPrefixSum bare = Bare({.steps = 8, .dimension = 2, .reward_weight = 1});
  const auto sums_of = [&](const Record& record) {
    const Silos silos = SilosOf(bare, 1);
    test::Noise noise(1);
    Put(bare, record, *silos[0]);
    RegressionEstimator estimator(bare);
    EXPECT_TRUE(estimator.Add(*Step(bare, silos, noise.gen)).ok());
    return estimator.Sums().value();
  };
  for (const double wild : {kNan, kInfinity, -kInfinity}) {
    EXPECT_EQ(sums_of({{wild, 0.5}, 1}).gram, Matrix::Zero(2, 2).eval());
    EXPECT_EQ(sums_of({{wild, 0.5}, 1}).moments, Vector::Zero(2).eval());
    EXPECT_NEAR(sums_of({{0.6, 0.8}, wild}).gram(0, 1), 0.48, 2 * kUnit);
    EXPECT_EQ(sums_of({{0.6, 0.8}, wild}).moments, Vector::Zero(2).eval());
  }
  const RegressionSums longer = sums_of({{6e200, 8e200}, 1e308});
  EXPECT_NEAR(longer.gram(0, 0), 0.36, 2 * kUnit) << "shortened, not dropped";
  EXPECT_NEAR(longer.moments(1), 0.8, 2 * kUnit) << "clipped, not dropped";
  EXPECT_NEAR(sums_of({{0.6, 0.8}, -7}).moments(0), -0.6, 2 * kUnit);
}

// --- once, in order, from the first, n steps at most

TEST_P(RegressionPrefixSumTest, AStepIsReleasedOnceAndInOrder) {
  const RegressionPrefixSum mechanism = Made({.mechanism = GetParam()});
  RegressionStream stream(mechanism);
  EXPECT_FALSE(Randomize(mechanism, 1, stream, noise_.gen).ok()) << "nothing is closed";
  Put(mechanism, {{1, 0, 0}, 1}, stream);
  EXPECT_EQ(stream.open_records(), 1);
  EXPECT_FALSE(Randomize(mechanism, 1, stream, noise_.gen).ok()) << "the step is open";
  ASSERT_TRUE(mechanism.EndStep(stream).ok());
  EXPECT_EQ(stream.open_records(), 0);
  ASSERT_TRUE(Randomize(mechanism, 1, stream, noise_.gen).ok());
  EXPECT_EQ(Randomize(mechanism, 1, stream, noise_.gen).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(mechanism.EndStep(stream).ok());
  ASSERT_TRUE(mechanism.EndStep(stream).ok());
  EXPECT_FALSE(Randomize(mechanism, 2, stream, noise_.gen).ok()) << "not the last";
  EXPECT_FALSE(Randomize(mechanism, 3, stream, noise_.gen).ok()) << "2 was left out";
  EXPECT_EQ(stream.released(), 1);
}

TEST_P(RegressionPrefixSumTest, ReleasesNeverExceedTheirNumber) {
  const RegressionPrefixSum mechanism = Made({.mechanism = GetParam(), .steps = 3});
  const Silos silos = SilosOf(mechanism, 1);
  for (int t = 1; t <= 3; ++t) ASSERT_TRUE(Step(mechanism, silos, noise_.gen).ok());
  EXPECT_EQ(mechanism.EndStep(*silos[0]).code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(Randomize(mechanism, 4, *silos[0], noise_.gen).ok());
  EXPECT_FALSE(mechanism.ReportBits({4, 1}).ok());
  EXPECT_EQ(silos[0]->steps(), 3);
  EXPECT_EQ(silos[0]->released(), 3);
}

// A record changes the increment of its own step and no other. The test reads the values without noise, step
// by step.
TEST(BareRegressionTest, ARecordIsInOneLeaf) {
  for (std::int64_t at = 1; at <= 8; ++at) {
    const RegressionPrefixSum bare = Bare({.steps = 8, .dimension = 1});
    const Silos silos = SilosOf(bare, 1);
    test::Noise noise(1);
    int leaves = 0;
    int nodes = 0;
    for (std::int64_t t = 1; t <= 8; ++t) {
      if (t == at) Put(bare, {{1}, 1}, *silos[0]);
      const auto released = Step(bare, silos, noise.gen);
      leaves += released->value().values[0][0] != 0 ? 1 : 0;
      for (const std::vector<double>& value : released->value().values) nodes += value[0] != 0 ? 1 : 0;
    }
    EXPECT_EQ(leaves, 1);
    EXPECT_EQ(nodes, 4) << "one of each height";
  }
}

// Every released value has a draw of its own: over streams of the same data all values vary, and no two are
// equal.
TEST_P(RegressionPrefixSumTest, EveryValueHasItsOwnDraw) {
  const RegressionPrefixSum mechanism =
      Made({.mechanism = GetParam(), .steps = 7, .dimension = 1, .sampler = Sampler::kExact});
  const Silos silos = SilosOf(mechanism, 1);
  std::vector<std::int64_t> all;
  for (int t = 1; t <= 7; ++t) {
    EXPECT_TRUE(mechanism.EndStep(*silos[0]).ok());
    const auto report = Randomize(mechanism, t, *silos[0], noise_.gen);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(*mechanism.ReportBits({t, 1}), report->bits());
    all.insert(all.end(), Wire::Units(*report).begin(), Wire::Units(*report).end());
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(2 * mechanism.strategy().ReleasedBy(7)));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST_P(RegressionPrefixSumTest, AStepWithMoreRecordsThanTheGridHoldsIsRefused) {
  const RegressionPrefixSum mechanism =
      Made({.mechanism = GetParam(), .dimension = 1, .context_norm = 0x1p7});
  for (const double y : {0.0, 1.0}) {  // only the number of records decides
    RegressionStream stream(mechanism);
    for (int i = 0; i < 40'000; ++i) Put(mechanism, {{128}, y}, stream);
    EXPECT_TRUE(mechanism.EndStep(stream).ok());
    for (int i = 0; i < 40'000; ++i) Put(mechanism, {{0}, y}, stream);
    EXPECT_EQ(mechanism.EndStep(stream).code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(stream.steps(), 1);
  }
}

// Doubles hold 255 records of this length exactly. A step may have many more: P3's trigger leaves agents
// without a sync for half of its 10^7 rounds.
TEST(BareRegressionTest, AStepMayHaveMoreRecordsThanDoublesAddUpExactly) {
  const RegressionPrefixSum mechanism =
      RegressionPrefixSum::CreateBare({1, 1, 0x1p7, 1, 1}, Declassify("a test")).value();
  RegressionStream stream(mechanism);
  constexpr std::int64_t kRecords = 20'001;
  const double x = 128 * (1 - 0x1p-40);  // its square has low bits that doubles lose above 2^53 units
  for (std::int64_t i = 0; i < kRecords; ++i) Put(mechanism, {{x}, 1.0}, stream);
  ASSERT_TRUE(mechanism.EndStep(stream).ok());
  test::Noise noise(1);
  const StepQuery query{.step = 1, .silos = 1};
  const auto report = mechanism.Randomize(query, Raw<RegressionStream*>(&stream), noise.gen);
  ASSERT_TRUE(report.ok()) << report.status();
  const auto one = static_cast<std::int64_t>(std::nearbyint(x * 0x1p30 * x / std::numbers::sqrt2));
  EXPECT_EQ(Wire::Units(*report)[0], kRecords * one);
}

TEST_P(RegressionPrefixSumTest, EstimatesTakeStepsInTheirOrderAndAnothersNoise) {
  const RegressionPrefixSum mechanism = Made({.mechanism = GetParam()});
  const Silos silos = SilosOf(mechanism, 1);
  const auto first = Step(mechanism, silos, noise_.gen);
  const auto second = Step(mechanism, silos, noise_.gen);
  RegressionEstimator estimator(mechanism, 7.0);
  EXPECT_FALSE(estimator.Add(*second).ok());
  EXPECT_TRUE(estimator.Add(*first).ok());
  EXPECT_FALSE(estimator.Add(*first).ok());
  EXPECT_TRUE(estimator.Add(*second).ok());
  EXPECT_EQ(estimator.step(), 2);
  EXPECT_DOUBLE_EQ(estimator.Sums().value().gram_noise, 7 * std::sqrt(mechanism.strategy().Variance(2)));
}

TEST(RegressionWireTest, SumsAreMadeOfTheirNumbers) {
  const RegressionSums sums{.step = 3,
                            .gram = Matrix::Identity(2, 2),
                            .moments = Vector::Ones(2),
                            .gram_noise = 2,
                            .moment_noise = 5};
  const Released<RegressionSums> made = Wire::MakeSums(sums);
  EXPECT_EQ(made.value().step, 3);
  EXPECT_EQ(made.value().gram, sums.gram);
  EXPECT_DOUBLE_EQ(made.noise()[0].stddev(), 2 * std::numbers::sqrt2);
  EXPECT_EQ(made.noise_stddev(), 5);
}

TEST(RegressionParamsTest, PapersNoiseIsP3sAndClaimsWhatItDelivers) {
  const Options options{.mechanism = PrefixSumMechanism::kTree,
                        .steps = 1000,
                        .reward_bound = 3,
                        .reward_weight = 1,
                        .calibration = Calibration::kPaper};
  const RegressionPrefixSum paper = Made(options);
  const double sigma = std::sqrt(16.0 * 11 * 4) * std::log(2 / 1e-6);
  EXPECT_NEAR(paper.noise(), sigma, 1e-6 * sigma);
  // At B = 3 and L = 1 the distance is 2 L B = 6, in ten nodes.
  EXPECT_NEAR(paper.guarantee().epsilon, GaussianEpsilon(1e-6, sigma / (6 * std::sqrt(10.0))),
              1e-6 * paper.guarantee().epsilon);
  EXPECT_EQ(paper.claims()[0].guarantee, paper.guarantee());
}

TEST(RegressionParamsTest, BadParametersAreRefusedByName) {
  const auto key = [](const Options& options) {
    const auto made = RegressionPrefixSum::Create(ParamsOf(options));
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  EXPECT_EQ(key({}), "accepted");
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-310, 1e9}) {
    EXPECT_EQ(key({.context_norm = bad}), "context_norm") << bad;
    if (bad != 1e9) {
      EXPECT_EQ(key({.reward_bound = bad}), "reward_bound") << bad;
    }
    EXPECT_EQ(key({.reward_weight = bad}), "reward_weight") << bad;
  }
  for (const double bad : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_EQ(key({.nominal = {bad, 1e-6}}), "epsilon") << bad;
    EXPECT_EQ(key({.nominal = {1, bad}}), "delta") << bad;
  }
  EXPECT_EQ(key({.steps = 0}), "n");
  for (const Count bad : {-1, 0, 5000}) EXPECT_EQ(key({.dimension = bad}), "dimension");
  EXPECT_EQ(key({.mechanism = PrefixSumMechanism::kTree, .calibration = Calibration::kPaper}),
            "reward_weight");
  EXPECT_EQ(key({.reward_weight = 1, .calibration = Calibration::kPaper}), "prefix_sum");
  EXPECT_EQ(RegressionPrefixSum::CreateBare({0, 2, 1, 1, 1}, Declassify("a test")).ok(), false);
}

TEST(RegressionRecordTest, IsRevealedByDeclassifyAlone) {
  const ChosenArm played(3, {0.5, -1});
  const OwnRecord own = RegressionPrefixSum::RevealRecord(played, Raw<double>(0.25), Declassify("a test"));
  EXPECT_EQ(std::vector<double>(own.x.begin(), own.x.end()), (std::vector<double>{0.5, -1}));
  EXPECT_EQ(own.y, 0.25);
}

// Any of the streams may release first. That release pays, and no other.
TEST(RegressionStreamsTest, SeveralStreamsOfASiloPayOnceWithTheFirstReleaseOfAny) {
  const RegressionPrefixSum mechanism = Made({});
  for (const int payer : {0, 1, 2}) {
    RegressionStream zero(mechanism), one(mechanism, &zero), two(mechanism, &zero);
    RegressionStream* const streams[] = {&zero, &one, &two};
    for (RegressionStream* stream : streams) ASSERT_TRUE(mechanism.EndStep(*stream).ok());
    test::Noise noise(3);
    double charged = 0;
    const auto release = [&](int group, int pays) {
      const StepQuery query{.step = streams[group]->steps(), .silos = 1, .group = group, .payer = pays};
      const auto report = mechanism.Randomize(query, Raw<RegressionStream*>(streams[group]), noise.gen);
      if (report.ok()) charged += mechanism.CostOf(query).epsilon;
      return report.status().code();
    };
    const int other = (payer + 1) % 3;
    EXPECT_EQ(release(payer, other), absl::StatusCode::kFailedPrecondition) << "nothing is paid yet";
    EXPECT_EQ(release(payer, payer), absl::StatusCode::kOk);
    EXPECT_EQ(charged, kNominal.epsilon);
    EXPECT_EQ(release(other, other), absl::StatusCode::kFailedPrecondition) << "it would pay twice";
    EXPECT_EQ(release(other, payer), absl::StatusCode::kOk);
    ASSERT_TRUE(mechanism.EndStep(*streams[payer]).ok());
    EXPECT_EQ(release(payer, payer), absl::StatusCode::kOk);
    EXPECT_EQ(charged, kNominal.epsilon);
  }
}

}  // namespace
}  // namespace bandana
