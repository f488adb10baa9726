#include "bandana/federation/epoch_coin.h"

#include <gtest/gtest.h>

#include <memory>

#include "bandana/core/archive.h"
#include "bandana/core/bit_source.h"

namespace bandana {
namespace {

TEST(EpochCoinTest, GoToContinuesWhereAnotherOneStood) {
  const auto bits = [](Epoch epoch) {
    return [epoch] { return std::make_unique<PhiloxSource>(StreamKey{.seed = 5, .epoch = epoch}); };
  };
  EpochCoin coin;
  EXPECT_EQ(coin.position().drawn, 0u);
  for (int i = 0; i < 3; ++i) coin.For(1, bits(1))();
  for (int i = 0; i < 21; ++i) coin.For(2, bits(2))();
  EXPECT_EQ(coin.position().epoch, 2);
  EXPECT_EQ(coin.position().drawn, 21u);
  EpochCoin other;
  other.GoTo(coin.position(), bits(2));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(coin.For(2, bits(2))(), other.For(2, bits(2))());
  other.GoTo({}, bits(2));
  EXPECT_EQ(other.position().drawn, 0u);
}

TEST(EpochCoinTest, APositionThatNoRoleReachesIsRefused) {
  EpochCoin::Position position{.epoch = 1, .drawn = EpochCoin::kMostDrawn};
  EpochCoin::Position read;
  EXPECT_TRUE(RestoreState(SaveState(position), read).ok());
  ++position.drawn;
  EXPECT_EQ(RestoreState(SaveState(position), read).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace bandana
