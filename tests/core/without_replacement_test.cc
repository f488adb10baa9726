#include "bandana/core/without_replacement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "tests/support.h"

// Seeds are fixed. Chi-square tests have a false-alarm rate of 1e-6 over seeds, and they must see planted
// violations.
namespace bandana {
namespace {

std::vector<std::uint64_t> DrawAll(std::uint64_t size, CoinGen& coin) {
  WithoutReplacement draw(size);
  std::vector<std::uint64_t> order;
  while (draw.remaining() > 0) {
    EXPECT_EQ(draw.remaining(), size - order.size());
    order.push_back(draw.Draw(coin));
  }
  return order;
}

TEST(WithoutReplacementTest, DrawsEachOnce) {
  test::Coins coins(1);
  for (std::uint64_t size = 0; size <= 200; ++size) {
    std::vector<std::uint64_t> order = DrawAll(size, coins.gen);
    ASSERT_EQ(order.size(), size);
    std::sort(order.begin(), order.end());
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(order[i], i);
  }
}

using Shuffle = absl::FunctionRef<std::vector<std::uint64_t>(CoinGen&)>;

bool OrdersOfFourLookUniform(Shuffle shuffle, std::uint64_t seed) {
  constexpr int kDraws = 120'000;
  test::Coins coins(seed);
  std::map<std::vector<std::uint64_t>, double> seen;
  for (int i = 0; i < kDraws; ++i) seen[shuffle(coins.gen)] += 1;
  if (seen.size() != 24) return false;
  std::vector<double> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  return test::FitsCounts(counts, std::vector<double>(24, kDraws / 24.));
}

TEST(RandomOrderTest, HasEachOnceAndEveryOrderIsEquallyLikely) {
  test::Coins coins(9);
  for (const std::uint32_t size : {0u, 1u, 2u, 7u, 1000u}) {
    std::vector<std::uint32_t> order = RandomOrder(size, coins.gen);
    ASSERT_EQ(order.size(), size);
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < size; ++i) ASSERT_EQ(order[i], i);
  }
  const auto four = [](CoinGen& coin) {
    const std::vector<std::uint32_t> order = RandomOrder(4, coin);
    return std::vector<std::uint64_t>(order.begin(), order.end());
  };
  EXPECT_TRUE(OrdersOfFourLookUniform(four, 10));
}

TEST(WithoutReplacementTest, EveryOrderIsEquallyLikely) {
  EXPECT_TRUE(OrdersOfFourLookUniform([](CoinGen& coin) { return DrawAll(4, coin); }, 2));
}

// Swaps each place with any other one, the classic mistake in a shuffle.
TEST(WithoutReplacementTest, ABiasedShuffleIsSeen) {
  const auto biased = [](CoinGen& coin) {
    std::vector<std::uint64_t> order(4);
    std::iota(order.begin(), order.end(), 0);
    for (auto& entry : order) std::swap(entry, order[UniformBelow(4, coin)]);
    return order;
  };
  EXPECT_FALSE(OrdersOfFourLookUniform(biased, 3));
}

// The last of many draws is as uniform as the first, although most entries are displaced by then.
TEST(WithoutReplacementTest, LateDrawsAreUniform) {
  constexpr int kDraws = 50'000;
  constexpr std::uint64_t kSize = 25;
  test::Coins coins(4);
  std::vector<double> late(kSize), last(kSize);
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<std::uint64_t> order = DrawAll(kSize, coins.gen);
    late[order[kSize / 2]] += 1;
    last[order[kSize - 1]] += 1;
  }
  const std::vector<double> expected(kSize, kDraws / static_cast<double>(kSize));
  EXPECT_TRUE(test::FitsCounts(late, expected));
  EXPECT_TRUE(test::FitsCounts(last, expected));
}

// With 2^63 entries, only the draws so far can be remembered.
TEST(WithoutReplacementTest, MemoryGoesWithTheDrawsAndNotWithTheSize) {
  test::Coins coins(5);
  WithoutReplacement draw(std::uint64_t{1} << 63);
  std::set<std::uint64_t> seen;
  double above = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = draw.Draw(coins.gen);
    EXPECT_LT(value, std::uint64_t{1} << 63);
    EXPECT_TRUE(seen.insert(value).second);
    above += (value >> 62) != 0;
  }
  EXPECT_EQ(draw.remaining(), (std::uint64_t{1} << 63) - 10'000);
  EXPECT_NEAR(above, 5000, 300);  // six standard deviations
}

TEST(WithoutReplacementTest, IsAFunctionOfItsCoins) {
  test::Coins first(6), again(6), other(7);
  const auto order = DrawAll(100, first.gen);
  EXPECT_EQ(order, DrawAll(100, again.gen));
  EXPECT_NE(order, DrawAll(100, other.gen));
}

TEST(WithoutReplacementDeathTest, NothingIsDrawnFromNothing) {
  test::Coins coins(8);
  WithoutReplacement draw(1);
  draw.Draw(coins.gen);
  EXPECT_DEATH(draw.Draw(coins.gen), "remaining");
}

}  // namespace
}  // namespace bandana
