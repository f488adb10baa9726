#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/privacy/wire.h"
#include "gmock/gmock.h"
#include "tests/algorithms/fed_ucb_support.h"
#include "tests/federation/hand_context.h"

// FedUCB with a controller, if messages or agents are lost.
namespace bandana {
namespace {

struct LossCase {
  FedUcbParams params{.sync = Sync::kBatch, .batch = 20};
  Privacy privacy{.model = TrustModel::kSilo, .epsilon = 1, .delta = 1e-5, .sampler = Sampler::kFast};
  std::vector<Failure> failures;
  double dropout = 0;
  int threads = 1;
  std::uint64_t seed = 11;
};

Outcome RunOf(const LossCase& c) {
  RoundContexts contexts = ContextsOf({.horizon = 100, .agents = 4});
  const Federation federation = CreateFedUcb(c.params, c.privacy, contexts.facts()).value();
  auto outcome = Simulate(federation, contexts,
                          {.seed = c.seed,
                           .threads = c.threads,
                           .decisions = true,
                           .failures = c.failures,
                           .dropout = c.dropout});
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return *std::move(outcome);
}

std::vector<ArmId> ArmsOf(const Outcome& outcome, std::size_t agent) {
  std::vector<ArmId> arms;
  for (const Pull& pull : outcome.decisions[agent]) arms.push_back(pull.arm);
  return arms;
}

// An agent that is lost after sync 1 plays until sync 2, whose share does not arrive. Nobody else does
// anything differently before that: neither what is played nor what is drawn depends on who is lost later.
TEST(FedUcbLosses, ALostAgentChangesNothingBeforeItIsMissed) {
  const Outcome all = RunOf({});
  const Outcome lost = RunOf({.failures = {{.a = NodeId{2}, .round = 1}}});
  for (const std::size_t agent : {0, 1, 2, 3}) {
    const std::vector<ArmId> expected = ArmsOf(all, agent);
    const std::vector<ArmId> arms = ArmsOf(lost, agent);
    ASSERT_EQ(arms.size(), agent == 1 ? 40u : 100u) << agent;
    for (std::size_t t = 0; t < 40; ++t) EXPECT_EQ(arms[t], expected[t]) << agent << " " << t;
  }
  EXPECT_EQ(all.checkpoints.back().series.count("lost_messages"), 0u);
  EXPECT_EQ(lost.checkpoints.back().series.at("lost_messages"), 1);
  EXPECT_EQ(lost.checkpoints.back().series.at("syncs"), 4);
}

TEST(FedUcbLosses, AreTheSameOnEveryThreadAndInEveryRun) {
  for (const Sync sync : {Sync::kBatch, Sync::kDeterminant}) {
    LossCase c{
        .params = {.sync = sync, .batch = 20}, .failures = {{.a = NodeId{3}, .round = 2}}, .dropout = 0.4};
    const Outcome one = RunOf(c);
    c.threads = 3;
    const Outcome three = RunOf(c);
    for (const std::size_t agent : {0, 1, 2, 3}) EXPECT_EQ(ArmsOf(one, agent), ArmsOf(three, agent));
    EXPECT_EQ(one.checkpoints.back().series, three.checkpoints.back().series);
  }
}

// The odometer ends a run in which anybody pays more than the budget: a share that is sent again is free.
TEST(FedUcbLosses, DropoutLosesSomeSharesAndTheRunGoesOn) {
  const Outcome some = RunOf({.dropout = 0.5});
  const double lost = some.checkpoints.back().series.at("lost_messages");
  EXPECT_GT(lost, 2);
  EXPECT_LT(lost, 14);  // of 16 shares
  for (const std::size_t agent : {0, 1, 2, 3}) EXPECT_EQ(ArmsOf(some, agent).size(), 100u);
  EXPECT_NE(RunOf({.dropout = 0.5, .seed = 12}).checkpoints.back().series.at("lost_messages"), lost);
}

// An agent whose link is cut after sync 1 knows the sums of sync 1, and plays on by them.
TEST(FedUcbLosses, AnAgentWithoutALinkPlaysOnByWhatItKnows) {
  const Outcome cut =
      RunOf({.failures = {{.kind = Failure::Kind::kLink, .a = kServerNode, .b = NodeId{4}, .round = 1}}});
  for (const std::size_t agent : {0, 1, 2, 3}) EXPECT_EQ(ArmsOf(cut, agent).size(), 100u);
  EXPECT_EQ(cut.checkpoints.back().series.at("syncs"), 4);
  EXPECT_EQ(cut.checkpoints.back().series.at("lost_messages"), 4) << "a share, and three models";
}

/// A controller of two silos without noise, whose shares are handed over one by one.
class LateShares : public testing::Test {
 protected:
  LateShares() {
    controller_.ExpectLosses();
    EXPECT_TRUE(controller_.OnStart(context_).ok());
  }

  // Returns the share of a silo whose next step has one record, along axis `axis`.
  Share NextShare(std::uint32_t silo, Eigen::Index axis) {
    RegressionStream& stream = silo == 1 ? one_ : two_;
    std::vector<double> x(4, 0);
    x[static_cast<std::size_t>(axis)] = 1;
    mechanism_.Record(ChosenArm(0, x), Raw<double>(1.0), stream);
    EXPECT_TRUE(mechanism_.EndStep(stream).ok());
    const StepQuery query{.step = stream.steps(), .silos = 2};
    const Report report = mechanism_.Randomize(query, Raw<RegressionStream*>(&stream), noise_.gen).value();
    return {static_cast<Epoch>(stream.steps()), 0, Wire::FromUnits(NodeId{silo}, Wire::Units(report))};
  }

  void Hand(std::uint32_t silo, const Share& share) {
    EXPECT_TRUE(controller_.OnMessage(context_, test::HandContext::From(NodeId{silo}, share)).ok());
  }

  // The grid divides the diagonal by sqrt2, so that it is off by rounding.
  void ExpectDiagonal(const Vector& expected) const {
    EXPECT_LT((controller_.sums()->value().gram.diagonal() - expected).norm(), 1e-8);
  }

  FedSetting setting_{.agents = 2, .schedule = {.sync = Sync::kBatch, .batch = 10}};
  RegressionPrefixSum mechanism_ = PrivatizerOf(setting_);
  RegressionStream one_{mechanism_}, two_{mechanism_};
  FedUcbController<RegressionPrefixSum> controller_{ScheduleOf(setting_), WidthOf(setting_, 2), mechanism_};
  test::HandContext context_{Topology::Star(2), kServerNode};
  test::Noise noise_{1};
};

TEST_F(LateShares, AreAddedAsTheyWereRecorded) {
  const Share late = NextShare(2, 1);
  Hand(1, NextShare(1, 0));
  EXPECT_EQ(controller_.sums(), nullptr) << "it waits for silo 2";
  EXPECT_TRUE(controller_.OnSilence(context_, 9).ok());
  EXPECT_EQ(controller_.sums(), nullptr) << "the round of the sync has not ended";
  EXPECT_TRUE(controller_.OnSilence(context_, 10).ok());
  ExpectDiagonal(Vector::Unit(4, 0));
  Hand(1, NextShare(1, 2));
  const Share next = NextShare(2, 3);
  Hand(2, next);
  EXPECT_EQ(controller_.synchronisations(), 1) << "a share without the one before it does not count";
  Hand(2, late);
  Hand(2, late);
  Hand(2, next);
  EXPECT_EQ(controller_.synchronisations(), 2);
  ExpectDiagonal(Vector::Ones(4));
}

TEST_F(LateShares, ASiloThatIsGoneStaysInTheSumsWithWhatItReleased) {
  Hand(1, NextShare(1, 0));
  Hand(2, NextShare(2, 1));
  EXPECT_EQ(controller_.synchronisations(), 1);
  Hand(1, NextShare(1, 0));
  EXPECT_TRUE(controller_.OnSilence(context_, 20).ok());
  EXPECT_EQ(controller_.synchronisations(), 2);
  ExpectDiagonal(2 * Vector::Unit(4, 0) + Vector::Unit(4, 1));
}

TEST_F(LateShares, NobodyIsHeard) {
  EXPECT_TRUE(controller_.OnSilence(context_, 10).ok());
  EXPECT_EQ(controller_.sums(), nullptr);
  EXPECT_EQ(controller_.synchronisations(), 1);
}

// The noise of the sums is that of the silos in them.
TEST(FedUcbTotals, HaveTheNoiseOfTheirSilos) {
  const FedSetting setting{.epsilon = 1};
  const RegressionPrefixSum mechanism = PrivatizerOf(setting);
  test::Noise noise(4);
  std::vector<std::unique_ptr<RegressionEstimator>> silos;
  for (const std::int64_t steps : {1, 3}) {
    silos.push_back(std::make_unique<RegressionEstimator>(mechanism));
    RegressionStream stream(mechanism);
    for (std::int64_t step = 1; step <= steps; ++step) {
      ASSERT_TRUE(mechanism.EndStep(stream).ok());
      const StepQuery query{.step = step, .silos = 1};
      const Report report = mechanism.Randomize(query, Raw<RegressionStream*>(&stream), noise.gen).value();
      BasicReportSum<StepQuery> sum;
      ASSERT_TRUE(mechanism.Add(query, Wire::FromUnits(NodeId{1}, Wire::Units(report)), sum).ok());
      ASSERT_TRUE(silos.back()->Add(mechanism.Open(query, *mechanism.Seal(sum, noise.gen)).value()).ok());
    }
  }
  const std::vector<const RegressionEstimator*> both = {silos[0].get(), silos[1].get()};
  const Released<RegressionSums> total = RegressionEstimator::Total(both);
  const double expected =
      mechanism.noise() * std::sqrt(mechanism.strategy().Variance(1) + mechanism.strategy().Variance(3));
  EXPECT_NEAR(total.value().gram_noise, expected, 1e-9 * expected);
  const Matrix sum = silos[0]->Sums().value().gram + silos[1]->Sums().value().gram;
  EXPECT_EQ(total.value().gram, sum);
}

}  // namespace
}  // namespace bandana
