#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bandana/algorithms/elimination/phase_regression.h"
#include "tests/algorithms/phase_support.h"

// The intervals to which averages are clipped, and those that hold the means.
namespace bandana {
namespace {

NoiseForecast InProportion(double noise) {
  return [noise](const MeanQuery& query) -> absl::StatusOr<std::vector<NoiseLaw>> {
    double squares = 0;
    for (const Interval& bounds : query.bounds) squares += std::pow(bounds.high - bounds.low, 2);
    return std::vector<NoiseLaw>(query.bounds.size(), {.proxy = noise * std::sqrt(squares), .normal = true});
  };
}

double Range(const std::vector<Interval>& bounds) {
  double sum = 0;
  for (const Interval& each : bounds) sum += each.high - each.low;
  return sum / static_cast<double>(bounds.size());
}

TEST(ChooseBoundsTest, MoreNoiseMeansLessRoom) {
  const Phase phase = SomePhase(40, 4, 4, 100, 70);
  for (const Sampling sampling : {Sampling::kWatch, Sampling::kDeal}) {
    PhaseErrors errors = SomeErrors(phase, true);
    if (sampling == Sampling::kDeal) errors = Dealt(phase, errors);
    errors.privacy.clear();
    double last = std::numeric_limits<double>::infinity();
    for (const double noise : {0.0, 1e-6, 1e-4, 1e-2, 1.0}) {
      const auto bounds = phase.Regression().ChooseBounds(errors, 1e-6, InProportion(noise));
      ASSERT_TRUE(bounds.ok());
      EXPECT_LT(Range(*bounds), last) << noise;
      EXPECT_GT(Range(*bounds), 2);
      last = Range(*bounds);
    }
    EXPECT_LT(last, 2.1) << "where noise is all that counts there is no room";
  }
}

// No other room (the distance from the means to the ends of the intervals) gives a width that is lower by
// more than 1 per cent.
TEST(ChooseBoundsTest, TheRoomIsNearTheBest) {
  const Phase phase = SomePhase(40, 4, 4, 100, 71);
  const Vector theta = SomeTheta(4, 72);
  PhaseErrors errors = SomeErrors(phase, true);
  const NoiseForecast forecast = InProportion(0.004);
  const auto width = [&](const std::vector<Interval>& bounds) {
    errors.bounds = bounds;
    errors.privacy = *forecast({.bounds = bounds, .clients = 60});
    return phase.Regression().EliminateExactly(theta, phase.active, errors, 1e-6).widest;
  };
  errors.privacy.clear();
  const std::vector<Interval> chosen = *phase.Regression().ChooseBounds(errors, 1e-6, forecast);
  const double best = width(chosen);
  double worst = best;
  for (const double factor : {0.0, 0.3, 0.7, 1.4, 2.0, 4.0}) {
    std::vector<Interval> other = chosen;
    for (Interval& each : other) each = {-1 - factor * (each.high - 1), 1 + factor * (each.high - 1)};
    worst = std::max(worst, width(other));
    EXPECT_GT(width(other), best * 0.99) << factor;
  }
  EXPECT_GT(worst, 1.3 * best);
}

TEST(ChooseBoundsTest, KnownMeansNarrowTheIntervals) {
  const Phase phase = SomePhase(40, 4, 4, 100, 73);
  PhaseErrors errors = SomeErrors(phase, true);
  errors.means.assign(phase.pulls.size(), {0.3, 0.5});
  const std::vector<Interval> bounds = *phase.Regression().ChooseBounds(errors, 1e-6, InProportion(0.004));
  for (const Interval& each : bounds) {
    EXPECT_NEAR(0.3 - each.low, each.high - 0.5, 1e-12);
    EXPECT_GT(each.high, 0.5);
  }
  errors.means.clear();
  EXPECT_LT(Range(bounds), Range(*phase.Regression().ChooseBounds(errors, 1e-6, InProportion(0.004))));
}

TEST(ChooseBoundsTest, AFixedBoundAndABoundedRewardStay) {
  const Phase phase = SomePhase(40, 4, 4, 100, 74);
  PhaseErrors errors = SomeErrors(phase, false);
  const std::vector<Interval> of_signs = *phase.Regression().ChooseBounds(errors, 0.1, InProportion(1));
  EXPECT_THAT(of_signs, ::testing::Each(Interval{-1, 1}));
  errors = SomeErrors(phase, true);
  errors.rule.fixed_bound = 1.5;
  EXPECT_THAT(*phase.Regression().ChooseBounds(errors, 0.1, InProportion(1)),
              ::testing::Each(Interval{-1.5, 1.5}));
}

TEST(ChooseBoundsTest, AForecastThatFailsIsAnError) {
  const Phase phase = SomePhase(10, 2, 2, 20, 75);
  const auto failing = [](const MeanQuery&) -> absl::StatusOr<std::vector<NoiseLaw>> {
    return absl::InvalidArgumentError("no forecast");
  };
  EXPECT_EQ(phase.Regression().ChooseBounds(SomeErrors(phase, true), 0.1, failing).status().message(),
            "no forecast");
}

TEST(MeanBoundsTest, HoldTheMeans) {
  const Phase phase = SomePhase(20, 3, 3, 50, 76);
  const Vector theta = SomeTheta(3, 77);
  const PhaseErrors errors = SomeErrors(phase, true);
  const std::vector<Interval> bounds = phase.Regression().MeanBounds(theta, phase.active, errors, 0.01);
  const std::vector<Interval> wider = phase.Regression().MeanBounds(theta, phase.active, errors, 0.001);
  for (const ArmId arm : phase.active) {
    const double mean = phase.actions.row(arm).dot(theta);
    EXPECT_NEAR(mean, (bounds[arm].low + bounds[arm].high) / 2, 1e-12);
    EXPECT_LT(wider[arm].low, bounds[arm].low);
    EXPECT_GT(bounds[arm].high, bounds[arm].low);
  }
}

}  // namespace
}  // namespace bandana
