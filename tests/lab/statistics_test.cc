#include "bandana/lab/judge/statistics.h"

#include <cmath>

#include "gmock/gmock.h"
#include "rapidcheck/gtest.h"

namespace bandana::lab {
namespace {

using testing::DoubleNear;

TEST(Mean, IsTheTextbooks) {
  const Estimate mean = MeanOf({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(mean.value, 3);
  EXPECT_DOUBLE_EQ(mean.se, std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4));
}

TEST(Mean, OfOneReplicateHasAnUnknownError) {
  EXPECT_TRUE(std::isnan(MeanOf({5}).se));
  EXPECT_EQ(Figure(MeanOf({5})), "5");
  EXPECT_EQ(Compare({5}, {1}), Order::kUnclear);
}

TEST(PairedDifference, ForgetsWhatTheInstancesShare) {
  const Estimate difference = PairedDifference({101, 202, 303}, {100, 200, 300});
  EXPECT_DOUBLE_EQ(difference.value, 2);
  EXPECT_DOUBLE_EQ(difference.se, 1 / std::sqrt(3.0));
}

TEST(PairedRatio, OfProportionalSamplesIsExact) {
  const Estimate ratio = PairedRatio({2, 4, 12}, {1, 2, 6});
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.se, 0);
}

TEST(PairedRatio, ErrorAgreesWithTheJackknife) {
  const Sample a = {10, 13, 9, 15, 12, 11, 8, 14};
  const Sample b = {5, 6, 5, 7, 7, 5, 4, 6};
  Sample without;
  for (std::size_t j = 0; j < a.size(); ++j) {
    double top = 0;
    double bottom = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i == j) continue;
      top += a[i];
      bottom += b[i];
    }
    without.push_back(top / bottom);
  }
  const double jackknife = static_cast<double>(a.size() - 1) * MeanOf(without).se;
  EXPECT_THAT(PairedRatio(a, b).se, DoubleNear(jackknife, 0.05 * jackknife));
}

RC_GTEST_PROP(LogLogSlope, OfAPowerIsItsExponent, ()) {
  const double exponent = *rc::gen::inRange(-30, 31) / 10.0;
  const double factor = *rc::gen::inRange(1, 1000) / 7.0;
  Line line;
  for (const double x : {1e4, 1e5, 3e5, 1e6}) {
    line.x.push_back(x);
    const double y = factor * std::pow(x, exponent);
    line.y.push_back({y, y, y});
  }
  const Estimate slope = LogLogSlope(line);
  RC_ASSERT(std::abs(slope.value - exponent) < 1e-9);
  RC_ASSERT(slope.se < 1e-9);
}

TEST(LogLogSlope, ErrorComesFromTheReplicates) {
  // The two places are a factor of e apart, so the slope is the difference of the log means.
  const Line line{{1, std::exp(1.0)}, {{1, 1, 1, 1}, {2, 3, 4, 3}}};
  const Estimate slope = LogLogSlope(line);
  EXPECT_DOUBLE_EQ(slope.value, std::log(3.0));
  EXPECT_THAT(slope.se, DoubleNear(MeanOf({2, 3, 4, 3}).se / 3, 0.02));  // by the delta method
}

TEST(LogLogSlope, OfANonPositiveMeanIsNoNumber) {
  EXPECT_TRUE(std::isnan(LogLogSlope({{1, 2}, {{0, 0}, {1, 1}}}).value));
}

TEST(Compare, TakesThreeStandardErrors) {
  const Sample zero = {0, 0, 0, 0};
  EXPECT_EQ(Compare({1, 1, 1, 1.1}, zero), Order::kAbove);
  EXPECT_EQ(Compare(zero, {1, 1, 1, 1.1}), Order::kBelow);
  EXPECT_EQ(Compare({1, -1, 2, 0}, zero), Order::kUnclear);
  EXPECT_EQ(Compare(zero, zero), Order::kUnclear);
}

}  // namespace
}  // namespace bandana::lab
