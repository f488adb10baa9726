#include "bandana/privacy/silo_prefix_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

// Seeds are fixed. Means may be off by four standard errors, variances by five.
namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = SiloPrefixSum::kUnit;
constexpr DpGuarantee kNominal{1, 1e-6};
constexpr DpGuarantee kNoNoise{1e25, 0.5};  // the noise is a few units

using Records = std::vector<std::vector<double>>;

struct Options {
  DpGuarantee nominal = kNominal;
  PrefixSumMechanism mechanism = PrefixSumMechanism::kToeplitz;
  std::int64_t steps = 13;
  std::int64_t dimension = 2;
  Sampler sampler = Sampler::kExact;
  Calibration calibration = Calibration::kTight;
  double radius = 1;
};

SiloPrefixSumParams ParamsOf(const Options& options) {
  return {options.nominal, options.calibration, options.sampler, options.mechanism,
          options.steps,   options.dimension,   options.radius};
}

SiloPrefixSum Made(const Options& options) {
  auto made = SiloPrefixSum::Create(ParamsOf(options));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

absl::Status Append(const SiloPrefixSum& mechanism, const Records& records, SiloStream& stream) {
  return mechanism.Append(Raw<StepRecords>(StepRecords(records)), stream);
}

absl::StatusOr<Report> Randomize(const SiloPrefixSum& mechanism, std::int64_t step, SiloStream& stream,
                                 NoiseGen& noise, Count silos = 1) {
  return mechanism.Randomize({step, silos}, Raw<SiloStream*>(&stream), noise);
}

// Releases one step of all silos; each silo has these records.
absl::StatusOr<Released<StepValues>> Step(const SiloPrefixSum& mechanism, const Records& records,
                                          std::vector<SiloStream>& silos, NoiseGen& noise) {
  BasicReportSum<StepQuery> sum;
  StepQuery query{silos.front().steps() + 1, static_cast<Count>(silos.size())};
  for (std::size_t i = 0; i < silos.size(); ++i) {
    BANDANA_RETURN_IF_ERROR(Append(mechanism, records, silos[i]));
    BANDANA_ASSIGN_OR_RETURN(const Report report,
                             mechanism.Randomize(query, Raw<SiloStream*>(&silos[i]), noise));
    const NodeId silo{static_cast<std::uint32_t>(i + 1)};
    BANDANA_RETURN_IF_ERROR(mechanism.Add(query, Wire::FromUnits(silo, Wire::Units(report)), sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, mechanism.Seal(sum, noise));
  return mechanism.Open(query, sealed);
}

class SiloPrefixSumTest : public ::testing::TestWithParam<PrefixSumMechanism> {
 protected:
  test::Noise noise_{1};
};
INSTANTIATE_TEST_SUITE_P(All, SiloPrefixSumTest,
                         ::testing::Values(PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                           PrefixSumMechanism::kToeplitz),
                         [](const auto& param_info) { return std::string(NameOf(param_info.param)); });

TEST_P(SiloPrefixSumTest, WithoutNoiseItGivesThePrefixSumsToTheGrid) {
  for (const std::int64_t steps : {1, 2, 13, 64}) {
    const SiloPrefixSum mechanism = Made({.nominal = kNoNoise, .mechanism = GetParam(), .steps = steps});
    std::vector<SiloStream> silos(2);
    PrefixSumEstimator estimator(mechanism);
    std::vector<double> truth(2, 0);
    for (std::int64_t t = 1; t <= steps; ++t) {
      const double x = std::sin(static_cast<double>(t)) / 2;
      const Records records = {{x, -x}, {0.25, 0}, {3, 4}};  // the last record is clipped to (0.6, 0.8)
      truth[0] += 2 * (x + 0.25 + 0.6);
      truth[1] += 2 * (-x + 0.8);
      const auto released = Step(mechanism, records, silos, noise_.gen);
      ASSERT_TRUE(released.ok()) << released.status();
      ASSERT_TRUE(estimator.Add(*released).ok());
      const PrefixSumEstimator::Estimate estimate = estimator.Sum();
      const double slack = (10 + static_cast<double>(t)) * 20 * kUnit;  // for rounding and a few units of
                                                                        // noise
      EXPECT_NEAR(estimate.sum[0], truth[0], slack) << t << " of " << steps;
      EXPECT_NEAR(estimate.sum[1], truth[1], slack);
      EXPECT_LT(estimate.noise.stddev(), slack);
    }
  }
}

TEST_P(SiloPrefixSumTest, TheEstimatesNoiseHasTheStatedLaw) {
  constexpr int kRuns = 3000;
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const SiloPrefixSum mechanism =
        Made({.mechanism = GetParam(), .steps = 7, .dimension = 1, .sampler = sampler});
    test::Noise noise(2);
    std::vector<std::vector<double>> errors(8);
    std::vector<double> stated(8);
    for (int run = 0; run < kRuns; ++run) {
      std::vector<SiloStream> silos(2);
      PrefixSumEstimator estimator(mechanism);
      for (std::size_t t = 1; t <= 7; ++t) {
        ASSERT_TRUE(estimator.Add(*Step(mechanism, {{0.5}}, silos, noise.gen)).ok());
        errors[t].push_back(estimator.Sum().sum[0] - static_cast<double>(t));
        stated[t] = estimator.Sum().noise.stddev();
      }
    }
    for (std::size_t t = 1; t <= 7; ++t) {
      const test::Moments moments = test::MomentsOf(errors[t]);
      EXPECT_LE(std::abs(moments.mean), 4 * stated[t] / std::sqrt(kRuns)) << t;
      EXPECT_NEAR(moments.variance / (stated[t] * stated[t]), 1, 5 * std::sqrt(2.0 / kRuns)) << t;
    }
  }
}

// Tight calibration: the noise is the multiplier times the longest column times the diameter of the ball.
TEST_P(SiloPrefixSumTest, TheNoiseIsTheGuaranteesForTheWholeStream) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam(), .steps = 100, .dimension = 3, .radius = 2});
  std::vector<SiloStream> silos(1);
  const auto released = Step(mechanism, {}, silos, noise_.gen);
  ASSERT_TRUE(released.ok());
  const PrefixSumCost cost = *CostOfPrefixSum(GetParam(), 100);
  const double least = *TightGaussianMultiplier(kNominal) * cost.sensitivity * 4;
  EXPECT_GE(released->noise_stddev(), least);
  EXPECT_LE(released->noise_stddev(), least * (1 + 1e-6)) << "what the grid costs";
}

// The releases of neighbouring streams, after rounding to the grid, differ by at most the distance that the
// noise is made for. Both use the same noise generator, so the noise cancels.
TEST_P(SiloPrefixSumTest, NeighboursAreNoFurtherApartThanTheSensitivity) {
  const std::int64_t steps = 21;
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam(), .steps = steps, .dimension = 3});
  const Records far = {{1e9, 1, -1e9}, {-1e9, -1, 1e9}, {1e-8, 0.7, 0.3}, {kNan, 0, 0}, {0.33, 0.66, 0.5}};
  double farthest = 0;
  for (const std::vector<double>& first : far) {
    for (const std::vector<double>& second : far) {
      for (const std::int64_t changed : {1, 2, 11}) {
        SiloStream a, b;
        test::Noise noise_a(3), noise_b(3);
        double squares = 0;
        for (std::int64_t t = 1; t <= steps; ++t) {
          const std::vector<double> other = {std::sin(t) / 3, 0.1, -0.2};
          ASSERT_TRUE(Append(mechanism, {other, t == changed ? first : other}, a).ok());
          ASSERT_TRUE(Append(mechanism, {other, t == changed ? second : other}, b).ok());
          const auto report_a = Randomize(mechanism, t, a, noise_a.gen);
          const auto report_b = Randomize(mechanism, t, b, noise_b.gen);
          ASSERT_TRUE(report_a.ok() && report_b.ok());
          for (std::size_t i = 0; i < Wire::Units(*report_a).size(); ++i) {
            const auto move = static_cast<double>(Wire::Units(*report_a)[i] - Wire::Units(*report_b)[i]);
            squares += move * move;
          }
        }
        farthest = std::max(farthest, std::sqrt(squares) * kUnit);
      }
    }
  }
  const double most = 2 * CostOfPrefixSum(GetParam(), steps)->sensitivity;
  EXPECT_LE(farthest, most * (1 + 1e-6));
  EXPECT_GE(farthest, most * (1 - 1e-6)) << "the diameter is reached, from the first step";
}

TEST_P(SiloPrefixSumTest, WildRecordsStayInTheBall) {
  const SiloPrefixSum mechanism = Made({.nominal = kNoNoise, .mechanism = GetParam(), .steps = 10});
  const Records wild = {{kNan, 1},        {kInfinity, 0}, {0, -kInfinity}, {1e308, -1e308},
                        {1e-320, 1e-320}, {-0.0, 5e-324}, {1e200, 1e200}};
  for (const std::vector<double>& record : wild) {
    std::vector<SiloStream> silos(1);
    const auto released = Step(mechanism, {record}, silos, noise_.gen);
    ASSERT_TRUE(released.ok()) << released.status();
    const std::vector<double>& value = released->value().values[0];
    EXPECT_LE(std::hypot(value[0], value[1]), 1 + 1e-7);
    if (record[0] == 1e308 || record[0] == 1e200) {
      EXPECT_NEAR(value[0], std::sqrt(0.5), 1e-7) << "a long record is shortened, not dropped";
    }
  }
}

// --- once, in order, from the first, by its own mechanism

TEST_P(SiloPrefixSumTest, AStepIsReleasedOnce) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam()});
  SiloStream stream;
  ASSERT_TRUE(Append(mechanism, {{1, 0}}, stream).ok());
  ASSERT_TRUE(Randomize(mechanism, 1, stream, noise_.gen).ok());
  EXPECT_EQ(Randomize(mechanism, 1, stream, noise_.gen).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Append(mechanism, {{1, 0}}, stream).ok());
  EXPECT_FALSE(Randomize(mechanism, 1, stream, noise_.gen).ok()) << "not the stream's last step";
  ASSERT_TRUE(Randomize(mechanism, 2, stream, noise_.gen).ok());
  EXPECT_FALSE(Randomize(mechanism, 2, stream, noise_.gen).ok());
  EXPECT_EQ(stream.released(), 2);
}

// The first step pays for all steps, so a stream must not begin with a later one.
TEST_P(SiloPrefixSumTest, NoStepIsReleasedBeforeTheFirst) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam()});
  SiloStream stream;
  EXPECT_FALSE(Randomize(mechanism, 1, stream, noise_.gen).ok()) << "nothing is there";
  ASSERT_TRUE(Append(mechanism, {{1, 0}}, stream).ok());
  ASSERT_TRUE(Append(mechanism, {{1, 0}}, stream).ok());
  EXPECT_EQ(Randomize(mechanism, 2, stream, noise_.gen).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(stream.released(), 0);
}

TEST_P(SiloPrefixSumTest, StepsBeyondTheLastAreRefused) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam(), .steps = 3});
  std::vector<SiloStream> silos(1);
  for (int t = 1; t <= 3; ++t) ASSERT_TRUE(Step(mechanism, {{1, 0}}, silos, noise_.gen).ok());
  EXPECT_EQ(Append(mechanism, {{1, 0}}, silos[0]).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(silos[0].steps(), 3);
  for (const std::int64_t step : {-1, 0, 4, 1'000'000}) {
    BasicReportSum<StepQuery> sum;
    EXPECT_FALSE(Randomize(mechanism, step, silos[0], noise_.gen).ok()) << step;
    EXPECT_FALSE(mechanism.ReportBits({step, 1}).ok()) << step;
    EXPECT_FALSE(mechanism.Add({step, 1}, Wire::FromUnits(NodeId{1}, {1, 1}), sum).ok()) << step;
  }
}

// A mechanism's noise is for its own radius, so it does not read a stream that another mechanism has filled.
TEST_P(SiloPrefixSumTest, AStreamIsReadByTheMechanismThatFilledIt) {
  const SiloPrefixSum wide = Made({.mechanism = GetParam(), .radius = 100});
  const SiloPrefixSum narrow = Made({.mechanism = GetParam(), .radius = 1e-3});
  SiloStream stream;
  ASSERT_TRUE(Append(wide, {{100, 0}}, stream).ok());
  EXPECT_EQ(Randomize(narrow, 1, stream, noise_.gen).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Append(narrow, {{1, 0}}, stream).code(), absl::StatusCode::kFailedPrecondition);
  const SiloPrefixSum copy = wide;  // another object, but the same mechanism
  EXPECT_TRUE(Randomize(copy, 1, stream, noise_.gen).ok());
  EXPECT_FALSE(Randomize(wide, 1, stream, noise_.gen).ok());
}

TEST_P(SiloPrefixSumTest, RecordsOfAnotherSizeAndTooManyAreErrors) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam(), .radius = 0x1p14});
  SiloStream stream;
  EXPECT_FALSE(Append(mechanism, {{1, 2, 3}}, stream).ok());
  EXPECT_EQ(stream.steps(), 0);
  // Only the number of records decides whether there are too many.
  for (const double value : {0.0, 1.0, kNan, 1e300}) {
    SiloStream many;
    EXPECT_TRUE(Append(mechanism, Records(40'000, {value, value}), many).ok()) << value;
    EXPECT_EQ(Append(mechanism, Records(40'000, {value, value}), many).code(), absl::StatusCode::kOutOfRange)
        << value;
    EXPECT_EQ(many.steps(), 1);
  }
}

TEST_P(SiloPrefixSumTest, EveryStepWantsEverySiloOnce) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam()});
  const StepQuery query{1, 2};
  BasicReportSum<StepQuery> sum;
  EXPECT_FALSE(mechanism.Seal(sum, noise_.gen).ok());
  ASSERT_TRUE(mechanism.Add(query, Wire::FromUnits(NodeId{1}, {1, 1}), sum).ok());
  EXPECT_FALSE(mechanism.Add(query, Wire::FromUnits(NodeId{1}, {1, 1}), sum).ok()) << "twice";
  EXPECT_FALSE(mechanism.Add(query, Wire::FromUnits(NodeId{2}, {1}), sum).ok()) << "wrong size";
  EXPECT_FALSE(mechanism.Add({1, 3}, Wire::FromUnits(NodeId{2}, {1, 1}), sum).ok()) << "another query";
  EXPECT_EQ(mechanism.Seal(sum, noise_.gen).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(mechanism.Add(query, Wire::FromUnits(NodeId{2}, {1, 1}), sum).ok());
  EXPECT_TRUE(mechanism.Seal(sum, noise_.gen).ok());
}

TEST_P(SiloPrefixSumTest, EstimatesTakeStepsInTheirOrder) {
  const SiloPrefixSum mechanism = Made({.mechanism = GetParam()});
  std::vector<SiloStream> silos(1);
  const auto first = Step(mechanism, {{1, 0}}, silos, noise_.gen);
  const auto second = Step(mechanism, {{1, 0}}, silos, noise_.gen);
  PrefixSumEstimator estimator(mechanism);
  EXPECT_FALSE(estimator.Add(*second).ok());
  EXPECT_TRUE(estimator.Add(*first).ok());
  EXPECT_FALSE(estimator.Add(*first).ok());
  EXPECT_TRUE(estimator.Add(*second).ok());
}

TEST(SiloParamsTest, PapersNoiseClaimsWhatItDelivers) {
  const SiloPrefixSum paper =
      Made({.mechanism = PrefixSumMechanism::kTree, .steps = 1000, .calibration = Calibration::kPaper});
  EXPECT_LT(paper.guarantee().epsilon, kNominal.epsilon);
  EXPECT_EQ(paper.guarantee().delta, kNominal.delta);
  EXPECT_EQ(paper.claims()[0].guarantee, paper.guarantee());
  EXPECT_EQ(paper.CostOf({1, 1}), paper.guarantee());
  EXPECT_EQ(paper.CostOf({2, 1}), (DpGuarantee{0, 0}));
  const SiloPrefixSum tight = Made({.mechanism = PrefixSumMechanism::kTree, .steps = 1000});
  EXPECT_EQ(tight.guarantee(), kNominal);
  EXPECT_EQ(tight.claims()[0].unit, "one record of one silo");
}

TEST(SiloParamsTest, BadParametersAreRefusedByName) {
  const auto key = [](const Options& options) {
    const auto made = SiloPrefixSum::Create(ParamsOf(options));
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  EXPECT_EQ(key({}), "accepted");
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-310, 1e5})
    EXPECT_EQ(key({.radius = bad}), "radius") << bad;
  for (const double bad : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_EQ(key({.nominal = {bad, 1e-6}}), "epsilon") << bad;
    EXPECT_EQ(key({.nominal = {1, bad}}), "delta") << bad;
  }
  EXPECT_EQ(key({.nominal = {1e-9, 1e-12}}), "epsilon") << "noise beyond the grid";
  EXPECT_EQ(key({.dimension = 0}), "dimension");
  EXPECT_EQ(key({.dimension = (1 << 20) + 1}), "dimension");
  EXPECT_EQ(key({.steps = 0}), "n");
  EXPECT_EQ(key({.steps = (1 << 20) + 1}), "steps");
  EXPECT_EQ(key({.calibration = Calibration::kPaper}), "prefix_sum");
}

}  // namespace
}  // namespace bandana
