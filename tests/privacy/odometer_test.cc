#include "bandana/privacy/odometer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace bandana {
namespace {

constexpr DpGuarantee kBudget{1.0, 0.5};

Charge For(DpGuarantee guarantee, const std::vector<std::uint32_t>& units) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t unit : units) nodes.push_back(NodeId{unit});
  return {guarantee, *UnitRanges::Of(std::move(nodes))};
}

TEST(OdometerTest, StartsAtNothing) {
  const Odometer odometer(kBudget);
  EXPECT_EQ(odometer.spent(), (DpGuarantee{0, 0}));
  EXPECT_EQ(odometer.units(), 0u);
}

TEST(OdometerTest, DisjointUnitsComposeInParallel) {
  Odometer odometer(kBudget);
  for (std::uint32_t unit = 1; unit <= 100; ++unit) {
    ASSERT_TRUE(odometer.Add(For({0.75, 0.25}, {2 * unit, 2 * unit + 1})).ok());
  }
  EXPECT_EQ(odometer.spent(), (DpGuarantee{0.75, 0.25}));
  EXPECT_EQ(odometer.units(), 200u);
}

TEST(OdometerTest, OneUnitsChargesAddUp) {
  Odometer odometer(kBudget);
  ASSERT_TRUE(odometer.Add(For({0.25, 0.125}, {1, 2})).ok());
  ASSERT_TRUE(odometer.Add(For({0.5, 0.125}, {2, 3})).ok());
  EXPECT_EQ(odometer.spent(), (DpGuarantee{0.75, 0.25}));
  EXPECT_EQ(odometer.units(), 3u);
}

TEST(OdometerTest, TheWholeBudgetCanBeSpentAndNoMore) {
  Odometer odometer(kBudget);
  EXPECT_TRUE(odometer.Add(For(kBudget, {1})).ok());
  EXPECT_EQ(odometer.Add(For({1e-9, 0}, {1})).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(odometer.Add(For({0, 1e-9}, {1})).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(odometer.Add(For({0, 0}, {1})).ok());
  EXPECT_TRUE(odometer.Add(For(kBudget, {2})).ok());
}

TEST(OdometerTest, EitherParameterAloneCanExceedTheBudget) {
  Odometer odometer(kBudget);
  EXPECT_FALSE(odometer.Add(For({1.5, 0}, {1})).ok());
  EXPECT_FALSE(odometer.Add(For({0, 0.75}, {1})).ok());
  EXPECT_FALSE(odometer.Add(For({std::numeric_limits<double>::quiet_NaN(), 0}, {1})).ok());
  EXPECT_FALSE(odometer.Add(For({0, std::numeric_limits<double>::quiet_NaN()}, {1})).ok());
  EXPECT_FALSE(odometer.Add(For({std::numeric_limits<double>::infinity(), 0}, {1})).ok());
  EXPECT_EQ(odometer.spent(), (DpGuarantee{0, 0}));
  EXPECT_EQ(odometer.units(), 0u);
}

TEST(OdometerTest, ARefusedChargeIsRefusedWhole) {
  Odometer odometer(kBudget);
  ASSERT_TRUE(odometer.Add(For({0.75, 0.25}, {3})).ok());
  const absl::Status status = odometer.Add(For({0.5, 0.125}, {1, 2, 3}));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("client 3"));
  EXPECT_EQ(odometer.spent(), (DpGuarantee{0.75, 0.25}));
  EXPECT_EQ(odometer.units(), 1u);
  EXPECT_TRUE(odometer.Add(For(kBudget, {1, 2})).ok())
      << "units before the one that could not pay were charged";
}

TEST(OdometerTest, AChargeOnNobodyIsFree) {
  Odometer odometer({0, 0});
  EXPECT_TRUE(odometer.Add(Charge{}).ok());
  EXPECT_FALSE(odometer.Add(For({0.1, 0}, {1})).ok());
  EXPECT_EQ(odometer.units(), 0u);
}

TEST(OdometerTest, TenMillionNeighboursAreAsCheapAsOne) {
  Odometer odometer(kBudget);
  constexpr Count kMany = 10'000'000;
  for (std::uint32_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(
        odometer
            .Add({{0.75, 0.25}, UnitRanges::From(NodeId{1 + i * static_cast<std::uint32_t>(kMany)}, kMany)})
            .ok());
  }
  EXPECT_EQ(odometer.units(), 400u * kMany);
  EXPECT_EQ(odometer.spent(), (DpGuarantee{0.75, 0.25}));
  const absl::Status one = odometer.Add({{0.5, 0}, UnitRanges::From(NodeId{kMany - 3}, 5)});
  EXPECT_EQ(one.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(odometer.Add({{0.25, 0.25}, UnitRanges::From(NodeId{kMany - 3}, 5)}).ok());
  EXPECT_FALSE(odometer.Add({{0.25, 0}, UnitRanges::From(NodeId{1}, 2 * kMany)}).ok());
  EXPECT_TRUE(odometer.Add({{0.25, 0.25}, UnitRanges::From(NodeId{1}, kMany - 4)}).ok());
  EXPECT_EQ(odometer.spent(), (DpGuarantee{1, 0.5}));
}

// All amounts are sixteenths, so that sums of doubles are exact.
RC_GTEST_PROP(OdometerTest, AgreesWithPlainBookkeeping, ()) {
  Odometer odometer(kBudget);
  std::map<std::uint32_t, DpGuarantee> books;
  DpGuarantee largest{0, 0};
  const int charges = *rc::gen::inRange(1, 40);
  for (int i = 0; i < charges; ++i) {
    const DpGuarantee cost{*rc::gen::inRange(0, 12) / 16., *rc::gen::inRange(0, 6) / 16.};
    std::vector<std::uint32_t> units;
    for (std::uint32_t unit = 1; unit <= 5; ++unit) {
      if (*rc::gen::arbitrary<bool>()) units.push_back(unit);
    }
    const bool affordable = std::all_of(units.begin(), units.end(), [&](std::uint32_t unit) {
      return books[unit].epsilon + cost.epsilon <= 1 && books[unit].delta + cost.delta <= 0.5;
    });
    RC_ASSERT(odometer.Add(For(cost, units)).ok() == affordable);
    if (affordable) {
      for (const std::uint32_t unit : units) {
        books[unit] = {books[unit].epsilon + cost.epsilon, books[unit].delta + cost.delta};
        largest = {std::max(largest.epsilon, books[unit].epsilon),
                   std::max(largest.delta, books[unit].delta)};
      }
    }
    RC_ASSERT(odometer.spent() == largest);
  }
}

}  // namespace
}  // namespace bandana
