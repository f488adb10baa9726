#include "bandana/algorithms/arms/arm_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bandana/core/status.h"

namespace bandana {
namespace {

using testing::ElementsAre;

ArmSchedule Of(const ArmScheduleParams& params) { return ArmSchedule::Create(params).value(); }

ArmSums Sums(Count agents, Count pulls, std::vector<double> means, double scale = 0, Count terms = 0) {
  ArmSums sums{.agents = agents, .pulls = pulls, .noise_scale = scale, .noise_terms = terms};
  for (std::size_t i = 0; i < means.size(); ++i) {
    sums.arms.push_back(static_cast<ArmId>(i));
    sums.units.push_back(
        static_cast<std::int64_t>(std::llround(means[i] * static_cast<double>(pulls) / kArmSumsUnit)));
  }
  return sums;
}

// Finds the Chernoff bound by brute force over a fine grid of t: the least w with 2 |I| r (r+1) inf_t
// exp(psi(t) - t w) <= failure.
double BruteWidth(double pulls, double terms, double scale, double log_level) {
  double least = 1e300;
  const double most = scale > 0 ? pulls / scale * (1 - 1e-9) : 1e3 * std::sqrt(pulls);
  for (int i = 1; i < 400'000; ++i) {
    const double t = most * i / 400'000;
    double psi = t * t / (8 * pulls);
    if (scale > 0) psi -= terms * std::log1p(-std::pow(t * scale / pulls, 2));
    least = std::min(least, (psi + log_level) / t);
  }
  return least;
}

TEST(ArmScheduleTest, ExactWidthsAreChernoffs) {
  for (const double scale : {0.0, 0.5, 20.0}) {
    const ArmSchedule schedule =
        Of({.horizon = 1000, .arms = 10, .reporting = 4, .noise_scale = scale, .failure = 0.01});
    const ArmSums sums = Sums(4, 400, {0.5, 0.5}, scale, 8);
    const ArmSchedule::WeightedSums part{.sums = &sums};
    const double log_level = std::log(2 * 10.0 * 3 * 4 / 0.01);  // there are ten arms, and seven are left
    const double brute = BruteWidth(400, 8, scale, log_level);
    EXPECT_NEAR(schedule.HalfWidth(3, 7, {&part, 1}), brute, 1e-3 * brute) << scale;
    if (scale == 0) {
      EXPECT_NEAR(brute, std::sqrt(log_level / 800), 1e-4);
    }
  }
}

TEST(ArmScheduleTest, ExactPullsAreTheFewestThatResolve) {
  for (const double scale : {0.0, 1.0, 30.0}) {
    const ArmSchedule schedule =
        Of({.horizon = 100'000'000, .arms = 50, .reporting = 7, .noise_scale = scale});
    for (const Epoch round : {1, 3, 6}) {
      const Count pulls = schedule.Pulls(round, 20);
      const auto width = [&](Count each) {
        const ArmSums sums = Sums(7, 7 * each, std::vector<double>(20, 0.5), scale, 7 * round);
        const ArmSchedule::WeightedSums part{.sums = &sums};
        return schedule.HalfWidth(round, 20, {&part, 1});
      };
      EXPECT_LE(width(pulls), schedule.Resolution(round) / 2);
      EXPECT_GT(width(pulls - 1), schedule.Resolution(round) / 2);
      EXPECT_EQ(schedule.Resolution(round), std::pow(2, -round));
    }
  }
}

// Lines 4 and 5 of Algorithm 1 in the fourth communication round with 30 arms, at M = 50 agents, K = 100
// arms, T = 10^6 and epsilon = 0.1.
TEST(ArmScheduleTest, PaperFormulas) {
  const double m = 50;
  const double epsilon = 0.1;
  const ArmSchedule schedule = Of({.horizon = 1'000'000,
                                   .arms = 100,
                                   .reporting = 50,
                                   .noise_scale = 1 / (m * epsilon),
                                   .width = Width::kPaper});
  const double learning = 8 * std::log(8 * 30.0 * 16 * 1e6) / (m * std::pow(2.0, -8));
  const double noise = 8 * 4 * std::sqrt(2 * std::log(8 * 100.0 * 16 * 1e6)) /
                       (std::pow(m, 1.5) * epsilon * std::pow(2.0, -4));
  const Count pulls = schedule.Pulls(4, 30);
  EXPECT_EQ(pulls, static_cast<Count>(std::ceil(std::max(learning, noise))));
  const ArmSums sums = Sums(50, 50 * pulls, std::vector<double>(30, 0.5), 1 / (m * epsilon), 200);
  const ArmSchedule::WeightedSums part{.sums = &sums};
  const double s = static_cast<double>(pulls);
  EXPECT_NEAR(schedule.HalfWidth(4, 30, {&part, 1}),
              std::sqrt(std::log(8 * 30.0 * 16 * 1e6) / (2 * m * s)) +
                  4 * std::sqrt(8 * std::log(8 * 100.0 * 16 * 1e6)) / (std::pow(m, 1.5) * epsilon * s),
              1e-12);
}

TEST(ArmScheduleTest, RoundsAreSpreadOverAKnownGap) {
  const ArmScheduleParams params{.horizon = 100'000, .arms = 10, .reporting = 5, .rounds = 4, .gap = 0.0625};
  const ArmSchedule paper = Of([&] {
    ArmScheduleParams printed = params;
    printed.width = Width::kPaper;
    return printed;
  }());
  EXPECT_DOUBLE_EQ(paper.Resolution(1), 0.5);
  EXPECT_DOUBLE_EQ(paper.Resolution(4), 0.0625);
  EXPECT_DOUBLE_EQ(Of(params).Resolution(4), 0.03125) << "an arm that is worse by the gap is sure to go";
  EXPECT_GT(Of(params).Next(4, 2, 0, 100'000, 0), 0);
  EXPECT_EQ(Of(params).Next(5, 2, 0, 100'000, 0), 0);
}

TEST(ArmScheduleTest, TheBonusScalesWidthsAndTheLengthsThatFollowFromThem) {
  for (const Width width : {Width::kExact, Width::kPaper}) {
    ArmScheduleParams params{.horizon = 100'000, .arms = 10, .reporting = 5, .width = width};
    const ArmSchedule whole = Of(params);
    params.bonus = 0.5;
    const ArmSchedule half = Of(params);
    EXPECT_NEAR(static_cast<double>(whole.Pulls(4, 10)) / static_cast<double>(half.Pulls(4, 10)), 4, 0.1);
    const ArmSums sums{.agents = 5, .pulls = 100, .arms = {0}, .units = {0}};
    const ArmSchedule::WeightedSums part{.sums = &sums};
    EXPECT_DOUBLE_EQ(half.HalfWidth(2, 1, {&part, 1}), whole.HalfWidth(2, 1, {&part, 1}) / 2);
  }
}

TEST(ArmScheduleTest, OnlyAnExplorationThatDoesNotFitIsPlayedToTheEnd) {
  ArmScheduleParams params{.horizon = 1'000, .arms = 10, .reporting = 5, .rounds = 3, .gap = 0.1};
  EXPECT_FALSE(Of(params).ExploresToTheEnd(1, 10));
  params.overrun = Overrun::kExplore;
  EXPECT_TRUE(Of(params).ExploresToTheEnd(1, 10));
  EXPECT_FALSE(Of(params).ExploresToTheEnd(1, 1)) << "one arm is left";
  EXPECT_FALSE(Of(params).ExploresToTheEnd(4, 10)) << "there are no more rounds";
  EXPECT_EQ(Of(params).Next(3, 10, 0, 1'000, 0), 0);
}

TEST(ArmScheduleTest, WithoutAGapRoundsFitTheHorizon) {
  for (const Count rounds : {1, 2, 3, 8}) {
    const ArmSchedule schedule =
        Of({.horizon = 100'000, .arms = 100, .reporting = 10, .noise_scale = 2, .rounds = rounds});
    Count left = 100'000;
    Count pulled = 0;
    for (Epoch round = 1; round <= rounds; ++round) {
      const Count pulls = schedule.Next(round, 100, pulled, left, 0);
      ASSERT_GT(pulls, 0);
      EXPECT_LE(100 * pulls, left / 2);
      pulled += pulls;
      left -= 100 * pulls;
    }
  }
}

TEST(ArmScheduleTest, ARoundThatDoesNotFitIsNotBegun) {
  const ArmSchedule schedule = Of({.horizon = 10'000, .arms = 10, .reporting = 5});
  const Count wanted = schedule.Pulls(2, 10);
  EXPECT_EQ(schedule.Next(2, 10, 1, 10 * (wanted - 1) + 4, 4), wanted - 1);
  EXPECT_EQ(schedule.Next(2, 10, 1, 10 * (wanted - 1) + 3, 4), 0);
  EXPECT_EQ(schedule.Next(2, 1, 1, 10'000, 0), 0) << "one arm needs no rounds";
  EXPECT_EQ(schedule.Next(1, 10, 0, 100, 0), 5) << "but something must be known";
  EXPECT_EQ(schedule.Next(1, 10, 0, 9, 0), 0);
}

TEST(ArmScheduleTest, EliminatesWhatIsTwoWidthsBehind) {
  const ArmSchedule schedule = Of({.horizon = 10'000, .arms = 4, .reporting = 2});
  const ArmSums base = Sums(2, 2000, {0.5, 0.5, 0.5, 0.5});
  const ArmSchedule::WeightedSums any{.sums = &base};
  const double width = schedule.HalfWidth(1, 4, {&any, 1});
  const ArmSums sums = Sums(2, 2000, {0.6 - 1.98 * width, 0.6, 0.6 - 2.02 * width, 0.6});
  const ArmSchedule::WeightedSums part{.sums = &sums};
  const ArmDecision decision = EliminateArms(schedule, 1, {&part, 1});
  EXPECT_THAT(decision.arms, ElementsAre(0, 1, 3));
  EXPECT_EQ(decision.best, 1) << "the first of equals";
  EXPECT_DOUBLE_EQ(decision.half_width, width);
}

// Three agents have mean 0.2 and one has 1.0; they form components of three agents and of one.
TEST(ArmScheduleTest, WeightsDecideWhoseMeansCount) {
  const ArmSchedule schedule = Of({.horizon = 10'000, .arms = 2, .reporting = 4});
  const ArmSums three = Sums(3, 3'000'000, {0.2, 0.3});
  const ArmSums one = Sums(1, 1'000'000, {1.0, 0.0});
  const std::vector<ArmSchedule::WeightedSums> weighted = {{0.75, &three}, {0.25, &one}};
  const std::vector<ArmSchedule::WeightedSums> unweighted = {{0.5, &three}, {0.5, &one}};
  EXPECT_EQ(EliminateArms(schedule, 1, weighted).best, 0) << "0.40 against 0.225";
  EXPECT_EQ(EliminateArms(schedule, 1, unweighted).best, 0);
  const ArmSums low = Sums(1, 1'000'000, {0.45, 0.0});
  const std::vector<ArmSchedule::WeightedSums> w = {{0.75, &three}, {0.25, &low}};
  const std::vector<ArmSchedule::WeightedSums> u = {{0.5, &three}, {0.5, &low}};
  EXPECT_EQ(EliminateArms(schedule, 1, w).best, 0) << "0.2625 against 0.225";
  EXPECT_EQ(EliminateArms(schedule, 1, u).best, 0) << "0.325 against 0.15";
  const ArmSums lower = Sums(1, 1'000'000, {0.25, 0.0});
  const std::vector<ArmSchedule::WeightedSums> right = {{0.75, &three}, {0.25, &lower}};
  const std::vector<ArmSchedule::WeightedSums> wrong = {{0.5, &three}, {0.5, &lower}};
  EXPECT_EQ(EliminateArms(schedule, 1, right).best, 1) << "0.2125 against 0.225";
  EXPECT_EQ(EliminateArms(schedule, 1, wrong).best, 0) << "0.225 against 0.15";
  EXPECT_GT(schedule.HalfWidth(1, 2, wrong), schedule.HalfWidth(1, 2, right))
      << "one agent's noise counts for half";
}

TEST(ArmScheduleTest, RefusesWhatItCannotPlanFor) {
  const ArmScheduleParams good{.horizon = 100, .arms = 2, .reporting = 1};
  const auto key = [](ArmScheduleParams params) {
    return InputErrorOf(ArmSchedule::Create(params).status()).value().key;
  };
  ArmScheduleParams bad = good;
  bad.horizon = 0;
  EXPECT_EQ(key(bad), "horizon");
  bad = good;
  bad.arms = 0;
  EXPECT_EQ(key(bad), "arms");
  bad = good;
  bad.reporting = 0;
  EXPECT_EQ(key(bad), "people");
  bad = good;
  bad.rounds = 0;
  EXPECT_EQ(key(bad), "rounds");
  for (const double gap : {0.0, -1.0, 1.5, std::nan("")}) {
    bad = good;
    bad.gap = gap;
    EXPECT_EQ(key(bad), "gap");
  }
  for (const double failure : {0.0, 1.0, std::nan("")}) {
    bad = good;
    bad.failure = failure;
    EXPECT_EQ(key(bad), "failure");
  }
  for (const double bonus : {0.0, -1.0, std::nan("")}) {
    bad = good;
    bad.bonus = bonus;
    EXPECT_EQ(key(bad), "bonus");
  }
}

}  // namespace
}  // namespace bandana
