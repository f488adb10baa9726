#include "bandana/lab/probe.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <atomic>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bandana/algorithms/sync_schedule.h"
#include "bandana/bandit/round_contexts.h"
#include "bandana/lab/exhibit.h"
#include "bandana/lab/experiment.h"

namespace bandana::lab {
namespace {

struct Case {
  double shift;
  Count dimension;
  Count horizon;
};

constexpr Case kCases[] = {{10, 2, 1000}, {100, 2, 1000}, {100, 5, 5000}, {1e4, 2, 60'000}, {50, 1, 400}};

Regularizer RegularizerOf(const Case& c) { return {c.shift, c.shift / 2, 1.5 * c.shift}; }
double ThresholdOf(const Case& c) {
  const Regularizer start = RegularizerOf(c);
  return DeterminantThreshold(c.horizon, c.dimension, 1, start.rho_min, start.rho_max);
}

// The first round in which line 12 holds, by determinants of whole matrices, the first record at `first` e_1
// and later ones at s e_1.
Count FirstTrigger(const Case& c, double first, double s) {
  const Regularizer start = RegularizerOf(c);
  const Matrix identity = Matrix::Identity(c.dimension, c.dimension);
  Matrix v = (start.shift + start.rho_max - start.rho_min) * identity;
  const double released = std::log((start.shift * identity).determinant());
  for (Count t = 1; t < c.horizon; ++t) {
    const double length = t == 1 ? first : s;
    v(0, 0) += length * length;
    if (std::log(v.determinant()) - released >= ThresholdOf(c) / static_cast<double>(t)) return t;
  }
  return c.horizon;
}

TEST(MakeProbe, TheTriggerTellsTheTwoStreamsApart) {
  for (const Case& c : kCases) {
    const auto probe = MakeProbe(ThresholdOf(c), RegularizerOf(c), c.dimension, c.horizon);
    ASSERT_TRUE(probe.has_value()) << c.shift;
    EXPECT_GE(probe->level, 0);
    EXPECT_LE(probe->level, 1);
    EXPECT_LE(FirstTrigger(c, 1, probe->level), probe->round);
    EXPECT_GT(FirstTrigger(c, 0, probe->level), probe->round);
    EXPECT_LT(FirstTrigger(c, 0, probe->level), c.horizon);
  }
}

TEST(MakeProbe, ThereIsNoneIfTheTriggerComesTooLate) {
  const Case c{1e4, 2, 100};
  EXPECT_EQ(FirstTrigger(c, 1, 1), c.horizon);
  EXPECT_FALSE(MakeProbe(ThresholdOf(c), RegularizerOf(c), c.dimension, c.horizon).has_value());
}

TEST(ProbeContexts, DifferInOneRecordOfOneAgent) {
  const auto draw = [](double first, NodeId agent) {
    const RoundContexts contexts = *RoundContexts::Create({.dimension = 3,
                                                           .arms = 2,
                                                           .law = RoundLaw::kProbe,
                                                           .probe_level = 0.25,
                                                           .probe_first = first,
                                                           .reward = RewardKind::kRademacher,
                                                           .seed = 4});
    DecisionBlock<double> block(3, 2, 3);
    contexts.Draw(agent, 1, block);
    std::vector<double> entries;
    for (const Count round : {0, 1, 2}) {
      for (const ArmId arm : {0, 1}) {
        for (const Eigen::Index j : {0, 1, 2}) entries.push_back(block.set(round).at(arm, j));
        EXPECT_EQ(block.means(round)[arm], contexts.theta()[0] * block.set(round).at(arm, 0));
        EXPECT_EQ(block.Gap(round, arm), 0);
      }
    }
    return entries;
  };
  const std::vector<double> later = {0.25, 0, 0, 0.25, 0, 0, 0.25, 0, 0, 0.25, 0, 0};
  for (const double first : {0.0, 1.0}) {
    std::vector<double> expected = {first, 0, 0, first, 0, 0};
    expected.insert(expected.end(), later.begin(), later.end());
    EXPECT_EQ(draw(first, NodeId{1}), expected);
    EXPECT_EQ(draw(first, NodeId{2}), std::vector<double>(18, 0));
  }
}

// The real agents do as the derivation says; a public schedule sees no difference.
TEST(ProbeContexts, MoveTheFirstSynchronisationUnderTheDeterminantTriggerAlone) {
  const Spec spec = *ExhibitSpec(**FindExhibit("p3-leak"), Scale::kSmoke, {});
  const std::atomic<bool> stop = false;
  std::map<std::string, std::vector<Count>> first_sync;  // by all but the world
  for (const Point& point : spec.points) {
    const auto outcome = RunReplicate(point.settings, 0, stop);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    first_sync[point.settings.Text("algorithm.sync") + point.settings.Text("privacy.calibration")].push_back(
        outcome->checkpoints.back().first_sync);
  }
  ASSERT_EQ(first_sync.size(), 4u);
  for (const auto& [name, rounds] : first_sync) {
    ASSERT_EQ(rounds.size(), 2u);
    EXPECT_GT(rounds[0], 0) << name;
    EXPECT_GT(rounds[1], 0) << name;
    EXPECT_EQ(rounds[0] < rounds[1], name.starts_with("determinant")) << name;
    EXPECT_EQ(rounds[0] == rounds[1], name.starts_with("mlogt")) << name;
  }
}

}  // namespace
}  // namespace bandana::lab
