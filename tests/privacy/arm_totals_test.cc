#include "bandana/privacy/arm_totals.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "bandana/privacy/wire.h"

namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;
constexpr std::int64_t kMost = std::int64_t{1} << 62;

Released<ArmSums> Of(Count pulls, std::vector<ArmId> arms, Units units, double scale = 1) {
  return Wire::MakeArmSums({.agents = 1,
                            .pulls = pulls,
                            .arms = std::move(arms),
                            .units = std::move(units),
                            .noise_scale = scale,
                            .noise_terms = scale > 0 ? 1 : 0});
}

TEST(ArmSumsTest, NoiseIsThatOfTheSums) {
  const Released<ArmSums> sums = Wire::MakeArmSums(
      {.agents = 3, .pulls = 12, .arms = {0}, .units = {3 << 20}, .noise_scale = 2, .noise_terms = 6});
  EXPECT_EQ(sums.noise().size(), 1U);
  EXPECT_DOUBLE_EQ(sums.noise_stddev(), 2 * std::sqrt(12));
  EXPECT_EQ(MeanOf(sums.value(), 0), 0.25);
}

TEST(ArmHistoryTest, AddsReleasesOfArmsThatAreLeft) {
  ArmHistory history;
  EXPECT_TRUE(history.empty());
  ASSERT_TRUE(history.Add(Of(2, {0, 3, 7}, {10, 20, 30})).ok());
  ASSERT_TRUE(history.Add(Of(5, {0, 7}, {1, -2})).ok());
  EXPECT_EQ(
      history.Sums().value(),
      (ArmSums{
          .agents = 1, .pulls = 7, .arms = {0, 7}, .units = {11, 28}, .noise_scale = 1, .noise_terms = 2}));
  EXPECT_EQ(history.Sums().noise().front().laplace_terms, 2);
}

TEST(ArmHistoryTest, RefusesWhatCannotFollow) {
  ArmHistory history;
  ASSERT_TRUE(history.Add(Of(2, {0, 3}, {10, 20})).ok());
  const ArmSums before = history.Sums().value();
  EXPECT_FALSE(history.Add(Of(2, {0, 1}, {1, 1})).ok()) << "arm 1 is new";
  EXPECT_FALSE(history.Add(Of(2, {0, 3, 4}, {1, 1, 1})).ok());
  EXPECT_FALSE(history.Add(Of(2, {3, 0}, {1, 1})).ok());
  EXPECT_FALSE(history.Add(Of(2, {0, 3}, {1})).ok());
  EXPECT_FALSE(history.Add(Of(0, {0, 3}, {1, 1})).ok());
  EXPECT_FALSE(history.Add(Of(2, {0, 3}, {1, 1}, 2)).ok()) << "another scale";
  EXPECT_FALSE(history.Add(Of(2, {0, 3}, {1, 1}, 0)).ok());
  EXPECT_FALSE(history.Add(Of(2, {0, 3}, {1, kMost - 1})).ok());
  EXPECT_FALSE(history.Add(Of(kMost - 1, {0, 3}, {1, 1})).ok());
  EXPECT_EQ(history.Sums().value(), before);
}

TEST(ArmTotalTest, AddsAgentsOnItsArms) {
  ArmTotal total({1, 4});
  EXPECT_EQ(total.value().agents, 0);
  ASSERT_TRUE(total.Add(Of(3, {1, 4}, {5, 6})).ok());
  ASSERT_TRUE(total.Add(Of(2, {0, 1, 2, 4}, {9, -1, 9, 1})).ok());
  EXPECT_EQ(
      total.Sums().value(),
      (ArmSums{
          .agents = 2, .pulls = 5, .arms = {1, 4}, .units = {4, 7}, .noise_scale = 1, .noise_terms = 2}));
  EXPECT_EQ(total.Sums().noise().front().laplace_terms, 2);
  ArmTotal all({1, 4});
  ASSERT_TRUE(all.Add(total.Sums()).ok());
  ASSERT_TRUE(all.Add(Of(1, {1, 4}, {0, 0})).ok());
  EXPECT_EQ(all.value().agents, 3);
  EXPECT_EQ(all.value().noise_terms, 3);
}

TEST(ArmTotalTest, RefusesAndStaysAsItWas) {
  ArmTotal total({1, 4});
  ASSERT_TRUE(total.Add(Of(3, {1, 4}, {5, -6})).ok());
  const ArmSums before = total.value();
  EXPECT_FALSE(total.Add(Of(3, {1}, {5})).ok()) << "lacks arm 4";
  EXPECT_FALSE(total.Add(Of(3, {0, 1, 5}, {5, 5, 5})).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {5, 5}, 0.5)).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {5, 5}, 0)).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {1, 2, 3})).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {kMost - 1, 0})).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {0, -kMost})).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {std::numeric_limits<std::int64_t>::max(), 0})).ok());
  EXPECT_FALSE(total.Add(Of(3, {0, 1, 4}, {0, std::numeric_limits<std::int64_t>::min(), 0})).ok());
  EXPECT_FALSE(total.Add(Of(kMost - 1, {1, 4}, {0, 0})).ok());
  EXPECT_FALSE(total.Add(Of(-1, {1, 4}, {0, 0})).ok());
  EXPECT_FALSE(total.Add(Of(3, {1, 4}, {0, 0}, std::numeric_limits<double>::quiet_NaN())).ok());
  EXPECT_EQ(total.value(), before);
  EXPECT_TRUE(total.Add(Of(3, {1, 4}, {kMost - 6, 0})).ok()) << "as much as there is room for";
}

// Compares with a map from arms to sums. Any order must give the same bits.
RC_GTEST_PROP(ArmTotalTest, IsTheSumInAnyOrder, ()) {
  const auto arms_of = [](int one_in) {
    std::vector<ArmId> arms;
    for (ArmId arm = 0; arm < 20; ++arm) {
      if (*rc::gen::inRange(0, one_in) == 0) arms.push_back(arm);
    }
    return arms;
  };
  const std::vector<ArmId> wanted = arms_of(3);
  std::vector<Released<ArmSums>> all;
  std::map<ArmId, std::int64_t> expected;
  Count pulls = 0;
  const int agents = *rc::gen::inRange(1, 9);
  for (int i = 0; i < agents; ++i) {
    std::vector<ArmId> arms = arms_of(2);
    std::vector<ArmId> both;
    std::set_union(arms.begin(), arms.end(), wanted.begin(), wanted.end(), std::back_inserter(both));
    Units units;
    for (const ArmId arm : both) {
      units.push_back(*rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000));
      expected[arm] += units.back();
    }
    const Count each = *rc::gen::inRange(1, 100);
    pulls += each;
    all.push_back(Of(each, both, units));
  }
  ArmTotal forwards(wanted), backwards(wanted);
  for (const auto& each : all) RC_ASSERT(forwards.Add(each).ok());
  std::reverse(all.begin(), all.end());
  for (const auto& each : all) RC_ASSERT(backwards.Add(each).ok());
  RC_ASSERT(forwards.value() == backwards.value());
  RC_ASSERT(forwards.value().pulls == pulls);
  RC_ASSERT(forwards.value().agents == agents);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    RC_ASSERT(forwards.value().units[i] == expected[wanted[i]]);
  }
}

}  // namespace
}  // namespace bandana
