#include "bandana/privacy/grid_mean.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;

constexpr double kUnit = GridMean::kUnit;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

NoPrivacyMean Bare() { return NoPrivacyMean(Declassify("test")); }

// Returns the report of a client with these averages: clipped and rounded, without noise.
Units Average(const MeanQuery& query, const std::vector<double>& averages, Count pulls = 1) {
  test::Noise unused(0);
  std::vector<RewardSum> sums;
  for (const double average : averages) sums.push_back({pulls, average * static_cast<double>(pulls)});
  const auto report = Bare().Randomize(query, Raw<RewardSums>(sums), unused.gen);
  EXPECT_TRUE(report.ok());
  return Wire::Units(*report);
}

// Returns the sum of the reports of clients 1, 2, ... that the analyzer of `mean` accepts, without noise.
template <class P>
absl::StatusOr<Units> Sum(const P& mean, const MeanQuery& query, const std::vector<Units>& reports) {
  test::Noise unused(0);
  ReportSum sum;
  std::uint32_t client = 0;
  for (const Units& units : reports) {
    BANDANA_RETURN_IF_ERROR(mean.Add(query, Wire::FromUnits(NodeId{++client}, units), sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, Bare().Seal(sum, unused.gen));
  BANDANA_ASSIGN_OR_RETURN(const Released<Mean> released, Bare().Open(query, sealed));
  Units totals;
  for (const double entry : released.value().entries) {
    totals.push_back(std::llround(entry * static_cast<double>(query.clients) / kUnit));
  }
  return totals;
}

template <class P>
P Gaussian() {
  auto made = P::Create({{1, 0.1}, Calibration::kTight, Sampler::kFast});
  EXPECT_TRUE(made.ok());
  return *std::move(made);
}

double Distance(const Units& a, const Units& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto difference = static_cast<double>(a[i] - b[i]);
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

std::vector<double> Lows(const MeanQuery& query) {
  std::vector<double> ends;
  for (const Interval& bound : query.bounds) ends.push_back(bound.low);
  return ends;
}

std::vector<double> Highs(const MeanQuery& query) {
  std::vector<double> ends;
  for (const Interval& bound : query.bounds) ends.push_back(bound.high);
  return ends;
}

// Generates intervals of all sizes, from a fraction of a unit to thousands, with ends on the grid and off it.
rc::Gen<Interval> AnyInterval() {
  return rc::gen::exec([] {
    const double scale = std::ldexp(1.0, *rc::gen::inRange(-33, 12));
    const double low = scale * *rc::gen::inRange(-1'000'000, 1'000'000) / 1e6;
    const double width = scale * *rc::gen::inRange(1, 1'000'000) / 1e6;
    Interval interval{low, low + width};
    if (*rc::gen::arbitrary<bool>()) {
      interval = {std::floor(interval.low / kUnit) * kUnit, std::ceil(interval.high / kUnit) * kUnit};
    }
    return interval;
  });
}

rc::Gen<MeanQuery> AnyQuery() {
  return rc::gen::exec([] {
    const auto size = *rc::gen::inRange<std::size_t>(1, 7);
    return MeanQuery{.bounds = *rc::gen::container<std::vector<Interval>>(size, AnyInterval()), .clients = 1};
  });
}

// Generates any average, most often an end of the interval, where the sensitivity is reached.
double AnyAverage(const Interval& bound) {
  const double inside = bound.low + (bound.high - bound.low) * *rc::gen::inRange(0, 1001) / 1000.;
  return *rc::gen::element(bound.low, bound.high, bound.low, bound.high, inside, inside,
                           2 * bound.low - bound.high, 2 * bound.high - bound.low, kInfinity, -kInfinity,
                           kNan, 1e308, -1e308);
}

std::vector<double> AnyClient(const MeanQuery& query) {
  std::vector<double> averages;
  for (const Interval& bound : query.bounds) averages.push_back(AnyAverage(bound));
  return averages;
}

RC_GTEST_PROP(SensitivityTest, NoClientMovesTheSumFarther, ()) {
  const MeanQuery query = *AnyQuery();
  const std::vector<double> one = AnyClient(query);
  const std::vector<double> other = AnyClient(query);
  RC_ASSERT(Distance(Average(query, one), Average(query, other)) <= GridMean::Sensitivity(query));
}

// If the bounds are rounded outwards, one unit at each end may be out of reach.
RC_GTEST_PROP(SensitivityTest, OppositeCornersAttainIt, ()) {
  const MeanQuery query = *AnyQuery();
  const double reached = Distance(Average(query, Lows(query)), Average(query, Highs(query)));
  const double sensitivity = GridMean::Sensitivity(query);
  RC_ASSERT(reached <= sensitivity);
  double unreachable = 0;
  for (const Interval& bound : query.bounds) {
    const bool on_grid = std::fmod(bound.low, kUnit) == 0 && std::fmod(bound.high, kUnit) == 0;
    unreachable += on_grid ? 0 : 2;
  }
  RC_ASSERT(sensitivity <= (reached + unreachable) * (1 + 1e-11));
}

TEST(SensitivityTest, IsTheRootOfTheSquaredRangesAndNotTheBounds) {
  const double range = 2 / kUnit;
  EXPECT_NEAR(GridMean::Sensitivity({{{-1, 1}}, 1}) / range, 1, 1e-11);
  EXPECT_NEAR(GridMean::Sensitivity({{{-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}}, 1}) / range, 2, 1e-11);
  EXPECT_NEAR(GridMean::Sensitivity({{{0, 1}}, 1}) / range, 0.5, 1e-11);
  EXPECT_NEAR(GridMean::Sensitivity({{{-3, 3}, {-4, 4}}, 1}) * kUnit, 10, 1e-10);
  EXPECT_GE(GridMean::Sensitivity({{{-1, 1}}, 1}), range) << "rounded in the curator's favour";
}

TEST(SensitivityTest, DoesNotDependOnTheNumberOfClients) {
  EXPECT_EQ(GridMean::Sensitivity({{{-1, 1}}, 1}), GridMean::Sensitivity({{{-1, 1}}, 1'000'000}));
}

RC_GTEST_PROP(AverageTest, StaysInTheIntervalRoundedOutwards, ()) {
  const MeanQuery query = *AnyQuery();
  const Units units = Average(query, AnyClient(query));
  for (std::size_t i = 0; i < units.size(); ++i) {
    RC_ASSERT(static_cast<double>(units[i]) >= std::floor(query.bounds[i].low / kUnit));
    RC_ASSERT(static_cast<double>(units[i]) <= std::ceil(query.bounds[i].high / kUnit));
  }
}

TEST(AverageTest, IsTheSumOverThePullsToTheNearestUnit) {
  const MeanQuery query{{{-1, 1}, {-1, 1}, {-1, 1}}, 1};
  EXPECT_THAT(Average(query, {0.5, -0.25, 0}, 4), ::testing::ElementsAre(1 << 29, -(1 << 28), 0));
  EXPECT_THAT(Average(query, {1.4 * kUnit, 1.6 * kUnit, -1.6 * kUnit}), ::testing::ElementsAre(1, 2, -2));
  EXPECT_THAT(Average(query, {1. / 3, 0, 0}, 3), ::testing::ElementsAre(357'913'941, 0, 0));
}

TEST(AverageTest, WhatIsOutsideIsClipped) {
  const MeanQuery query{{{-0.5, 0.25}, {-0.5, 0.25}, {-0.5, 0.25}, {-0.5, 0.25}, {-0.5, 0.25}}, 1};
  EXPECT_THAT(Average(query, {-0.6, 0.3, kInfinity, -kInfinity, 1e300}),
              ::testing::ElementsAre(-(1 << 29), 1 << 28, 1 << 28, -(1 << 29), 1 << 28));
}

TEST(AverageTest, WhatIsNotANumberCountsAsTheMiddle) {
  EXPECT_THAT(Average({{{-0.5, 0.25}}, 1}, {kNan}), ::testing::ElementsAre(-(1 << 27)));
  test::Noise unused(0);
  const std::vector<RewardSum> nothing = {{0, 0}};
  const auto report = Bare().Randomize({{{0, 1}}, 1}, Raw<RewardSums>(nothing), unused.gen);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(Wire::Units(*report), ::testing::ElementsAre(1 << 29));
}

// The sensitivity is zero, and then the noise may be zero too: the report says nothing about the client.
TEST(AverageTest, AnIntervalOfOnePointTellsNothing) {
  const MeanQuery query{{{0.5, 0.5}}, 1};
  EXPECT_EQ(GridMean::Sensitivity(query), 0);
  for (const double average : {-1.0, 0.5, 7.0, kInfinity, kNan}) {
    EXPECT_THAT(Average(query, {average}), ::testing::ElementsAre(1 << 29)) << average;
  }
}

// 1e12 in units of 2^-30 exceeds 64 bits. The result must be an error or a value in the interval.
TEST(AverageTest, AnIntervalTooWideForTheGridGivesNoValueOutsideIt) {
  test::Noise unused(0);
  const std::vector<RewardSum> rewards = {{1, 1e12}};
  const auto report = Bare().Randomize({{{-1e12, 1e12}}, 1}, Raw<RewardSums>(rewards), unused.gen);
  if (report.ok()) {
    EXPECT_NEAR(static_cast<double>(Wire::Units(*report)[0]) * kUnit, 1e12, 1e3);
  }
}

TEST(AverageDeathTest, RewardsOfTheWrongNumberEndTheProgram) {
  test::Noise unused(0);
  const std::vector<RewardSum> two(2);
  EXPECT_DEATH((void)Bare().Randomize({{{-1, 1}}, 1}, Raw<RewardSums>(two), unused.gen), "query.bounds.size");
}

RC_GTEST_PROP(AddTest, TheOrderOfReportsDoesNotMatter, ()) {
  const auto clients = *rc::gen::inRange<std::size_t>(1, 8);
  MeanQuery query = *AnyQuery();
  query.clients = static_cast<Count>(clients);
  std::vector<Units> reports;
  Units total(query.bounds.size());
  for (std::size_t i = 0; i < clients; ++i) {
    reports.push_back(Average(query, AnyClient(query)));
    for (std::size_t j = 0; j < total.size(); ++j) total[j] += reports.back()[j];
  }
  for (std::size_t i = clients; i > 1; --i)
    std::swap(reports[i - 1], reports[*rc::gen::inRange<std::size_t>(0, i)]);
  const auto sum = Sum(Bare(), query, reports);
  RC_ASSERT(sum.ok());
  RC_ASSERT(*sum == total);
}

// In the central model no report moves the sum farther than an honest client could, whatever it contains.
RC_GTEST_PROP(AddTest, TheAnalyzersSumHasTheSensitivityWhateverIsSent, ()) {
  const MeanQuery query = *AnyQuery();
  const auto sent = [&] {
    return *rc::gen::container<Units>(
        query.bounds.size(),
        rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(), rc::gen::element(kMost, -kMost - 1)));
  };
  const CentralGaussianMean central = Gaussian<CentralGaussianMean>();
  const auto one = Sum(central, query, {sent()});
  const auto other = Sum(central, query, {sent()});
  RC_ASSERT(one.ok() && other.ok());
  RC_ASSERT(Distance(*one, *other) <= GridMean::Sensitivity(query));
}

TEST(AddTest, OnlyReportsWithoutNoiseAreClippedAgain) {
  const MeanQuery query{{{-1, 1}, {-1, 1}}, 1};
  const Units far = {std::int64_t{3} << 30, -(std::int64_t{5} << 30)};
  const Units ends = {1 << 30, -(1 << 30)};
  EXPECT_EQ(*Sum(Bare(), query, {far}), ends);
  EXPECT_EQ(*Sum(Gaussian<CentralGaussianMean>(), query, {far}), ends);
  EXPECT_EQ(*Sum(Gaussian<LocalGaussianMean>(), query, {far}), far)
      << "clipping noisy reports would bias them";
}

TEST(AddTest, ReportsOfTheWrongSizeAreRefusedAndNotCounted) {
  const MeanQuery query{{{-1, 1}, {-1, 1}}, 1};
  ReportSum sum;
  for (const Units& units : {Units{}, Units{1}, Units{1, 2, 3}}) {
    const absl::Status status = Bare().Add(query, Wire::FromUnits(NodeId{1}, units), sum);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << units.size();
  }
  EXPECT_EQ(sum.reports(), 0);
}

TEST(AddTest, ReportsOfNobodyAndToAnotherQueryAreRefused) {
  const MeanQuery query{{{-1, 1}}, 2};
  ReportSum sum;
  EXPECT_FALSE(Bare().Add(query, Wire::FromUnits(kServerNode, {1}), sum).ok());
  EXPECT_FALSE(Bare().Add(query, Report(), sum).ok());
  EXPECT_EQ(sum.reports(), 0);
  ASSERT_TRUE(Bare().Add(query, Wire::FromUnits(NodeId{1}, {1}), sum).ok());
  for (const MeanQuery& other : {MeanQuery{{{-1, 2}}, 2}, MeanQuery{{{-1, 1}}, 3}, MeanQuery{{{-2, 1}}, 2}}) {
    EXPECT_FALSE(Bare().Add(other, Wire::FromUnits(NodeId{2}, {1}), sum).ok());
  }
  EXPECT_EQ(sum.reports(), 1);
  EXPECT_FALSE(Bare().Add(query, Wire::FromUnits(NodeId{1}, {1}), sum).ok()) << "a client is in a sum once";
  EXPECT_TRUE(Bare().Add(query, Wire::FromUnits(NodeId{2}, {1}), sum).ok());
}

TEST(AddTest, ASumThatWouldOverflowIsRefused) {
  const MeanQuery query{{{-1, 1}, {-1, 1}}, 2};
  const LocalGaussianMean local = Gaussian<LocalGaussianMean>();  // it takes entries as they are sent
  EXPECT_FALSE(Sum(local, query, {{5, kMost}, {7, 1}}).ok());
  EXPECT_FALSE(Sum(local, query, {{5, -kMost}, {7, -2}}).ok());
  EXPECT_FALSE(Sum(local, query, {{kMost, 5}, {kMost, 7}}).ok());
  EXPECT_TRUE(Sum(local, query, {{5, 1 << 30}, {7, 1 << 30}}).ok());
}

TEST(AddTest, ARefusedReportLeavesTheSumAsItWas) {
  const MeanQuery query{{{-1, 1}, {-1, 1}}, 2};
  const LocalGaussianMean local = Gaussian<LocalGaussianMean>();
  test::Noise unused(0);
  ReportSum sum;
  ASSERT_TRUE(local.Add(query, Wire::FromUnits(NodeId{1}, {5, std::int64_t{1} << 40}), sum).ok());
  ASSERT_FALSE(local.Add(query, Wire::FromUnits(NodeId{2}, {7, kMost}), sum).ok());
  EXPECT_EQ(sum.reports(), 1);
  ASSERT_TRUE(local.Add(query, Wire::FromUnits(NodeId{3}, {11, 0}), sum).ok());
  const auto mean = Bare().Open(query, *Bare().Seal(sum, unused.gen));
  ASSERT_TRUE(mean.ok());
  EXPECT_EQ(mean->value().entries[0], 8 * kUnit);
  EXPECT_EQ(mean->value().entries[1], 0x1p39 * kUnit);
}

RC_GTEST_PROP(NoiseUnitsTest, IsTheLeastWholeNumberThatIsEnough, ()) {
  const MeanQuery query = *AnyQuery();
  const double multiplier = std::ldexp(1.0 + *rc::gen::inRange(0, 1000) / 1000., *rc::gen::inRange(-40, 5));
  const auto units = GridMean::NoiseUnits(multiplier, GridMean::Sensitivity(query));
  const double wanted = multiplier * GridMean::Sensitivity(query);
  RC_PRE(wanted < 0x1p50);
  RC_ASSERT(units.ok());
  RC_ASSERT(*units >= 1u);
  RC_ASSERT(static_cast<double>(*units) >= wanted);
  RC_ASSERT(static_cast<double>(*units) <= wanted * (1 + 1e-11) + 1);
}

TEST(NoiseUnitsTest, MoreThanSumsCanHoldIsAnErrorThatNamesEpsilon) {
  const MeanQuery query{{{-1, 1}}, 1};
  EXPECT_TRUE(GridMean::NoiseUnits(0x1p19, GridMean::Sensitivity(query)).ok());
  for (const double multiplier : {0x1p21, 1e300, kInfinity, kNan}) {
    const auto units = GridMean::NoiseUnits(multiplier, GridMean::Sensitivity(query));
    ASSERT_FALSE(units.ok()) << multiplier;
    ASSERT_TRUE(InputErrorOf(units.status()).has_value());
    EXPECT_EQ(InputErrorOf(units.status())->key, "epsilon");
  }
  EXPECT_FALSE(GridMean::NoiseUnits(1, GridMean::Sensitivity({{{-1, kInfinity}}, 1})).ok());
  EXPECT_FALSE(GridMean::NoiseUnits(1, GridMean::Sensitivity({{{kNan, 1}}, 1})).ok());
}

}  // namespace
}  // namespace bandana
