#include "bandana/algorithms/fed_ucb/probe.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "bandana/algorithms/fed_ucb/sync_schedule.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"

namespace bandana {
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
    const RoundContexts contexts =
        *RoundContexts::Create({.contexts = RoundLaw::kProbe,
                                .dimension = 3,
                                .actions = 2,
                                .world = first == 1 ? ProbeWorld::kA : ProbeWorld::kB,
                                .probe_level = 0.25,
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

struct Leak {
  Calibration calibration;
  FedUcbParams params;
  Count horizon;
};

// Returns the round of the first sync in that world: the exhibit p3-leak.
Count FirstSync(const Leak& leak, ProbeWorld which) {
  const Privacy privacy{.model = TrustModel::kSilo,
                        .epsilon = 1,
                        .delta = 0.1,
                        .calibration = leak.calibration,
                        .sampler = Sampler::kFast};
  RoundContextsParams params{.contexts = RoundLaw::kProbe,
                             .dimension = 2,
                             .actions = 2,
                             .world = which,
                             .agents = 2,
                             .horizon = leak.horizon,
                             .seed = 35};
  params.probe_level = FedUcbProbeLevel(leak.params, privacy, RoundContexts::FactsOf(params)).value();
  RoundContexts world = RoundContexts::Create(params).value();
  const Federation federation = CreateFedUcb(leak.params, privacy, world.facts()).value();
  const Outcome outcome = Simulate(federation, world, {.seed = 35}).value();
  return static_cast<Count>(outcome.checkpoints.back().series.at("first_sync"));
}

// The real agents do as the derivation says; a public schedule sees no difference.
TEST(ProbeContexts, MoveTheFirstSyncUnderTheDeterminantTriggerAlone) {
  for (const Sync sync : {Sync::kDeterminant, Sync::kMLogT}) {
    const FedUcbParams ours{.sync = sync, .most_syncs = 4};
    const FedUcbParams printed{
        .width = RegressionWidth::kPaper, .sync = sync, .most_syncs = 4, .shift = Shift::kAgent};
    for (const Leak& leak :
         {Leak{Calibration::kTight, ours, 1000}, Leak{Calibration::kPaper, printed, 10'000}}) {
      const Count a = FirstSync(leak, ProbeWorld::kA);
      const Count b = FirstSync(leak, ProbeWorld::kB);
      EXPECT_GT(a, 0);
      EXPECT_GT(b, 0);
      EXPECT_EQ(a < b, sync == Sync::kDeterminant);
      EXPECT_EQ(a == b, sync == Sync::kMLogT);
    }
  }
}

// Line 12 as printed: S starts at M rho_min I, and Theorem 1's D has the rho_min of one agent.
TEST(ProbeContexts, ThePrintedTriggerActsWhenThePaperSays) {
  const FedUcbParams printed{.width = RegressionWidth::kPaper,
                             .sync = Sync::kDeterminant,
                             .most_syncs = 4,
                             .local = LocalData::kRaw,
                             .shift = Shift::kAgent};
  const Leak leak{Calibration::kPaper, printed, 10'000};
  const double lambda = std::sqrt(32.0) * 3 * 2 * std::log(4 / 0.1) *
                        (4 * std::sqrt(2.0) + 2 * std::log(2 * 4 * 2 / 0.05));  // m = 1 + log2 4
  const double log = std::log(3 + 10'000 / (2 * lambda));
  const double threshold = 2 * 10'000 * 2 / (log + 1);
  const Regularizer start{2 * lambda, 2 * lambda, 6 * lambda};
  const auto probe = MakeProbe(threshold, start, 2, 10'000);
  ASSERT_TRUE(probe.has_value());
  const Count a = FirstSync(leak, ProbeWorld::kA);
  EXPECT_GE(a, probe->round - 1);
  EXPECT_LE(a, probe->round);
  EXPECT_EQ(FirstSync(leak, ProbeWorld::kB), probe->round + 1);
  FedUcbParams sooner = printed;
  sooner.threshold = threshold / 4;
  const Leak early{Calibration::kPaper, sooner, 10'000};
  EXPECT_LT(FirstSync(early, ProbeWorld::kA), probe->round / 3);
}

TEST(FedUcbProbeLevel, FailsIfTheTriggerIsNeverSetOff) {
  const Privacy privacy{.model = TrustModel::kSilo, .epsilon = 0.01, .delta = 1e-6};
  const RoundContextsParams params{
      .contexts = RoundLaw::kProbe, .dimension = 2, .actions = 2, .agents = 2, .horizon = 10};
  const auto level = FedUcbProbeLevel({.sync = Sync::kDeterminant}, privacy, RoundContexts::FactsOf(params));
  ASSERT_FALSE(level.ok());
  EXPECT_EQ(InputErrorOf(level.status())->key, "horizon");
  EXPECT_EQ(PartOf(level.status()), Part::kFacts);
}

}  // namespace
}  // namespace bandana
