#include "bandana/bandit/worlds/round_contexts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bandana/bandit/context_coordinates.h"
#include "tests/support.h"

namespace bandana {
namespace {

// Compares 40 million draws of a coordinate with the exact law, in cells from the centre to the tail. It
// would see a distribution function that is off by a few 1e-4 anywhere. The false-alarm rate is 4e-6.
TEST(SlowRoundContextsTest, CoordinatesOfTheSphere) {
  constexpr Count kArms = 1000, kRounds = 40'000;
  constexpr int kCells = 200;
  for (const Count d : {5, 20}) {
    const auto contexts = RoundContexts::Create({.dimension = d, .actions = kArms, .seed = 1});
    ASSERT_TRUE(contexts.ok());
    DecisionBlock<double> block(10, kArms, d);
    std::vector<double> first(kCells), last(kCells), masses(kCells);
    for (int i = 0; i < kCells; ++i) {
      const auto edge = [](int at) { return 2.0 * at / kCells - 1; };
      masses[i] = SphereCoordinateTail(d, edge(i)) - SphereCoordinateTail(d, edge(i + 1));
    }
    const auto cell = [](double x) {
      return std::clamp(static_cast<int>((x + 1) / 2 * kCells), 0, kCells - 1);
    };
    for (Count round = 0; round < kRounds; round += block.rounds()) {
      contexts->Draw(NodeId{1}, round, block);
      for (Count i = 0; i < block.rounds(); ++i) {
        for (ArmId arm = 0; arm < kArms; ++arm) {
          ++first[cell(block.set(i).at(arm, 0))];
          ++last[cell(block.set(i).at(arm, d - 1))];
        }
      }
    }
    EXPECT_TRUE(test::FitsMasses(first, masses));
    EXPECT_TRUE(test::FitsMasses(last, masses));
  }
}

}  // namespace
}  // namespace bandana
