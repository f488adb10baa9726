#include "bandana/bandit/decision_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace bandana {
namespace {

template <class Scalar>
void ExpectLaidOut() {
  for (const Eigen::Index arms : {1, 7, 8, 9, 16, 17, 100, 400, 512, 1024}) {
    const DecisionBlock<Scalar> block(3, arms, 5);
    EXPECT_GE(block.stride(), arms);
    constexpr Eigen::Index kLine = 64 / sizeof(Scalar);
    EXPECT_EQ(block.stride() % kLine, 0);
    EXPECT_EQ(block.stride() / kLine % 2, 1) << "coordinates of an arm would share sets of the cache";
    EXPECT_LT(block.stride(), arms + 2 * kLine);
    for (Count round = 0; round < 3; ++round) {
      const DecisionSet<Scalar> set = block.set(round);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(set.entries) % 64, 0);
      EXPECT_EQ(set.arms, arms);
      EXPECT_EQ(set.dimension, 5);
      for (Eigen::Index i = 0; i < 5 * set.stride; ++i) EXPECT_EQ(set.entries[i], 0);
      EXPECT_EQ(block.means(round).size(), static_cast<std::size_t>(arms));
    }
  }
}

TEST(DecisionBlockTest, IsLaidOutForRegisters) {
  ExpectLaidOut<double>();
  ExpectLaidOut<float>();
}

TEST(DecisionBlockTest, KeepsRoundsApart) {
  DecisionBlock<double> block(2, 3, 2);
  block.entries(1)[block.stride() + 2] = 0.5;
  block.means_of(1)[2] = 0.25;
  block.SetTruth(1, 0.75, 0.125);
  EXPECT_EQ(block.set(1).at(2, 1), 0.5);
  EXPECT_EQ(block.set(0).at(2, 1), 0);
  EXPECT_EQ(block.Gap(1, 2), 0.5);
  EXPECT_TRUE(std::isnan(block.best_mean(0))) << "nobody has said what is best";
  EXPECT_EQ(block.uniform(1), 0.125);
  block.SetRounds(1);
  EXPECT_EQ(block.rounds(), 1);
  EXPECT_EQ(block.most_rounds(), 2);
  EXPECT_DEATH(block.set(1), "check failed");
  EXPECT_DEATH(block.SetRounds(3), "check failed");
}

}  // namespace
}  // namespace bandana
