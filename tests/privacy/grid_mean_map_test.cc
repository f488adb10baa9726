#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "tests/privacy/mean_support.h"
#include "tests/support.h"

namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;

constexpr double kUnit = GridMean::kUnit;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

NoPrivacyMean Bare() { return NoPrivacyMean(Declassify("test")); }

template <class P>
P Gaussian() {
  return *P::Create({{1, 0.1}, Calibration::kTight, Sampler::kFast});
}

// Two numbers from three averages. The rows of the map are orthonormal, so no value within the intervals
// leaves the ball.
MeanQuery Mapped(Count clients) {
  const double half = 1 / std::sqrt(2);
  return {.bounds = {{-1, 1}, {0, 1}, {-0.5, 1.5}},
          .clients = clients,
          .map = {.entries = {half, half, 0, 0, 0, 1}, .radius = 1.5}};
}

Units Sent(const MeanQuery& query, const std::vector<double>& averages) {
  test::Noise unused(0);
  const auto report = test::ReportOf(Bare(), query, 1, averages, unused.gen);
  EXPECT_TRUE(report.ok()) << report.status();
  return Wire::Units(*report);
}

double Distance(const Units& a, const Units& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  }
  return std::sqrt(squares);
}

// Returns what client 1's report adds to a sum, for any report.
Units AddedBy(const Units& report, const MeanQuery& query) {
  test::Noise unused(0);
  ReportSum sum;
  EXPECT_TRUE(Gaussian<CentralGaussianMean>().Add(query, Wire::FromUnits(NodeId{1}, report), sum).ok());
  const auto released = Bare().Open(query, *Bare().Seal(sum, unused.gen));
  Units added;
  for (const double entry : released->value().entries) added.push_back(std::llround(entry / kUnit));
  return added;
}

TEST(ReportMapTest, AClientSendsTheMapOfItsClippedAveragesAroundTheMiddles) {
  const MeanQuery query = Mapped(2);
  test::Noise unused(0);
  const auto released =
      test::ReleaseMean(Bare(), query, {{0.5, 0.75, 0.25}, {7, test::kNan, -1}}, unused.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  ASSERT_EQ(released->value().entries.size(), 2u);
  EXPECT_NEAR(released->value().entries[0], ((0.5 + 0.25) + (1 + 0)) / std::sqrt(2) / 2, 2 * kUnit);
  EXPECT_NEAR(released->value().entries[1], (-0.25 - 1) / 2, 2 * kUnit);
}

TEST(ReportMapTest, ItsBitsAreThoseOfTheNumbersSent) {
  test::Noise unused(0);
  EXPECT_EQ(test::ReportOf(Bare(), Mapped(1), 1, {0, 0, 0}, unused.gen)->bits(), 2 * 64);
}

rc::Gen<MeanQuery> AnyMapped() {
  return rc::gen::exec([] {
    const auto columns = *rc::gen::inRange<std::size_t>(1, 6);
    const auto rows = *rc::gen::inRange<std::size_t>(1, columns + 1);
    MeanQuery query{.clients = 1};
    for (std::size_t i = 0; i < columns; ++i) {
      const double low = *rc::gen::inRange(-1000, 1000) / 300.;
      query.bounds.push_back({low, low + *rc::gen::inRange(0, 1000) / 300.});
    }
    for (std::size_t i = 0; i < rows * columns; ++i) {
      query.map.entries.push_back(*rc::gen::inRange(-1000, 1000) / 100.);
    }
    query.map.radius = *rc::gen::inRange(0, 1000) / 300.;
    return query;
  });
}

std::vector<double> AnyAverages(const MeanQuery& query) {
  std::vector<double> averages;
  for (const Interval& bound : query.bounds) {
    averages.push_back(*rc::gen::element(bound.low, bound.high, (2 * bound.low + bound.high) / 3, 1e308,
                                         test::kNan, -test::kInfinity));
  }
  return averages;
}

// The bound holds for any map and any radius, however small.
RC_GTEST_PROP(ReportMapProperty, NoAveragesMoveAReportFartherThanTheSensitivity, ()) {
  const MeanQuery query = *AnyMapped();
  const Units one = Sent(query, AnyAverages(query));
  const Units other = Sent(query, AnyAverages(query));
  RC_ASSERT(one.size() == query.size());
  RC_ASSERT(Distance(one, other) <= GridMean::Sensitivity(query));
  double l1 = 0;
  for (std::size_t i = 0; i < one.size(); ++i) l1 += std::abs(static_cast<double>(one[i] - other[i]));
  RC_ASSERT(l1 <= GridMean::SensitivityL1(query));
}

RC_GTEST_PROP(ReportMapProperty, NoLieMovesTheSumFartherThanTheSensitivity, ()) {
  const MeanQuery query = *AnyMapped();
  const auto any = [&] {
    return *rc::gen::container<Units>(
        query.size(),
        rc::gen::oneOf(rc::gen::element(kMost, kLeast, std::int64_t{0}), rc::gen::arbitrary<std::int64_t>()));
  };
  RC_ASSERT(Distance(AddedBy(any(), query), AddedBy(any(), query)) <= GridMean::Sensitivity(query));
}

RC_GTEST_PROP(ReportMapProperty, AnHonestReportIsAddedAsItIs, ()) {
  const MeanQuery query = *AnyMapped();
  const Units sent = Sent(query, AnyAverages(query));
  RC_ASSERT(AddedBy(sent, query) == sent);
}

TEST(ReportMapTest, OppositeReportsAttainTheSensitivity) {
  const MeanQuery query = Mapped(1);
  const double apart = Distance(AddedBy({kMost, 0}, query), AddedBy({-kMost, 0}, query));
  EXPECT_NEAR(apart / GridMean::Sensitivity(query), 1, 1e-8);
  EXPECT_NEAR(apart * kUnit, 2 * query.map.radius, 1e-8);
}

template <class P>
void HasNoiseOfItsSensitivity() {
  const MeanQuery query = Mapped(4);
  const P mean = Gaussian<P>();
  const test::ClientAverages clients(4, {0.5, 0.75, 0.25});
  test::Noise noise(3);
  double squares = 0;
  double stated = 0;
  constexpr int kRuns = 4000;
  for (int i = 0; i < kRuns; ++i) {
    const auto released = test::ReleaseMean(mean, query, clients, noise.gen);
    ASSERT_TRUE(released.ok()) << released.status();
    squares += std::pow(released->value().entries[1] + 0.25, 2);
    stated = released->noise()[1].stddev();
  }
  EXPECT_NEAR(squares / kRuns / (stated * stated), 1, 5 * std::sqrt(2. / kRuns));
  // The noise equals that of one average whose interval is the ball's diameter.
  const MeanQuery alike{.bounds = {{-query.map.radius, query.map.radius}}, .clients = 4};
  EXPECT_NEAR((*mean.Forecast(query))[0].stddev() / (*mean.Forecast(alike))[0].stddev(), 1, 1e-6);
}

TEST(ReportMapTest, CentralNoiseIsThatOfItsBall) { HasNoiseOfItsSensitivity<CentralGaussianMean>(); }
TEST(ReportMapTest, LocalNoiseIsThatOfItsBall) { HasNoiseOfItsSensitivity<LocalGaussianMean>(); }

TEST(ReportMapTest, MapsThatAreNoneAreRefused) {
  const auto refused = [](auto change) {
    MeanQuery query = Mapped(1);
    change(query);
    return !CheckQuery(query).ok();
  };
  EXPECT_FALSE(refused([](MeanQuery&) {}));
  EXPECT_TRUE(refused([](MeanQuery& query) { query.map.entries.pop_back(); }));
  EXPECT_TRUE(refused([](MeanQuery& query) { query.map.entries.resize(12); })) << "more rows than columns";
  EXPECT_TRUE(refused([](MeanQuery& query) { query.bounds.clear(); }));
  EXPECT_TRUE(refused([](MeanQuery& query) { query.dealt = {1, 0, 0}; }));
  for (const double bad : {test::kNan, test::kInfinity, -test::kInfinity, 1e300}) {
    EXPECT_TRUE(refused([&](MeanQuery& query) { query.map.entries[1] = bad; }));
    EXPECT_TRUE(refused([&](MeanQuery& query) { query.map.radius = bad; }));
  }
  EXPECT_TRUE(refused([](MeanQuery& query) { query.map.radius = -1; }));
}

TEST(ReportMapTest, IsPartOfTheQuestion) {
  const MeanQuery query = Mapped(1);
  MeanQuery other = query;
  other.map.entries[0] += 1;
  MeanQuery wider = query;
  wider.map.radius += 1;
  EXPECT_FALSE(query == other || query == wider);
  EXPECT_NE(query.bytes(), other.bytes());
  EXPECT_NE(query.bytes(), wider.bytes());
}

ShuffleSumMean Shuffled() {
  const auto mean = ShuffleSumMean::Create({.nominal = {1, 0.1},
                                            .calibration = Calibration::kTight,
                                            .sampler = Sampler::kFast,
                                            .transport = Transport::kCounts,
                                            .collusion = {},
                                            .most_clients = 1 << 20,
                                            .loss = 0.1});
  EXPECT_TRUE(mean.ok()) << mean.status();
  return *mean;
}

// A shuffle sum of a map is one of as many coordinates as the map has rows: the noise follows from the number
// of clients and of coordinates alone, so the proof for averages holds as it is.
TEST(ReportMapTest, AShuffleSumHasTheNoiseOfItsNumbers) {
  const ShuffleSumMean mean = Shuffled();
  const MeanQuery query = Mapped(10);
  const MeanQuery plain{.bounds = {{0, 1}, {0, 1}}, .clients = 10};
  const auto setting = mean.SettingFor(query);
  ASSERT_TRUE(setting.ok()) << setting.status();
  EXPECT_EQ(setting->levels, mean.SettingFor(plain)->levels);
  EXPECT_EQ(setting->noise_bits, mean.SettingFor(plain)->noise_bits);
  EXPECT_EQ(*mean.ReportBits(query), *mean.ReportBits(plain));
  // The first row reaches (1 + 0.5) / sqrt(2), the second 1; the plain intervals have length 1.
  const double unit = (*mean.Forecast(plain))[0].proxy;
  EXPECT_NEAR((*mean.Forecast(query))[0].proxy / unit, 2 * 1.5 / std::sqrt(2), 1e-8);
  EXPECT_NEAR((*mean.Forecast(query))[1].proxy / unit, 2, 1e-8);
}

TEST(ReportMapTest, AShuffledReportIsInItsRangeWhateverTheAverages) {
  const ShuffleSumMean mean = Shuffled();
  const MeanQuery query = Mapped(10);
  const auto setting = mean.SettingFor(query);
  ASSERT_TRUE(setting.ok()) << setting.status();
  test::Noise noise(2);
  for (const double wild : {1e308, -1e308, test::kNan, test::kInfinity}) {
    for (int i = 0; i < 50; ++i) {
      const auto report = test::ReportOf(mean, query, 1, {wild, wild, wild}, noise.gen);
      ASSERT_TRUE(report.ok()) << report.status();
      for (const std::int64_t count : Wire::Units(*report)) {
        EXPECT_GE(count, 0);
        EXPECT_LE(count, setting->levels + setting->noise_bits);
      }
    }
  }
}

TEST(ReportMapTest, AShuffleSumReleasesTheMeanOfTheMap) {
  const ShuffleSumMean mean = Shuffled();
  const MeanQuery query = Mapped(10);
  test::Noise noise(3);
  constexpr int kRuns = 2000;
  double first = 0, second = 0, stated = 0;
  for (int run = 0; run < kRuns; ++run) {
    ReportSum sum;
    std::vector<Report> reports;
    for (std::uint32_t client = 1; client <= 10; ++client) {
      const auto report = test::ReportOf(mean, query, client, {0.5, 0.75, 0.25}, noise.gen);
      ASSERT_TRUE(report.ok()) << report.status();
      reports.push_back(*report);
    }
    const auto mixed = mean.Mix(query, reports);
    ASSERT_TRUE(mixed.ok()) << mixed.status();
    ASSERT_TRUE(mean.AddMixed(query, *mixed, sum).ok());
    const auto released = mean.Open(query, *mean.Seal(sum, noise.gen));
    ASSERT_TRUE(released.ok()) << released.status();
    first += released->value().entries[0] / kRuns;
    second += released->value().entries[1] / kRuns;
    stated = released->noise()[0].proxy;
  }
  EXPECT_NEAR(first, 0.75 / std::sqrt(2), 6 * stated / std::sqrt(kRuns));
  EXPECT_NEAR(second, -0.25, 6 * stated / std::sqrt(kRuns));
}

}  // namespace
}  // namespace bandana
