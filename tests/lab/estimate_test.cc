#include "bandana/lab/estimate.h"

#include <vector>

#include "bandana/core/status.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Spec FederatedSpec(const Overrides& overrides = {}) {
  return ParseSpec(R"(
horizon     = 1_000_000
replicates  = 10
checkpoints = [500_000, 1_000_000]
[environment]
kind      = "contextual-linear"
contexts  = "gap"
dimension = 10
actions   = 100
reward    = "bernoulli"
[algorithm]
name = "fed-ucb"
[federation]
agents = 100
[privacy]
model   = "silo"
epsilon = 1.0
delta   = 1e-5
[sweep]
"privacy.model" = ["none", "silo"]
)",
                   "federated.toml", overrides)
      .value();
}

// A machine that takes a tenth of a second to start and a hundredth for every round.
struct Machine {
  std::vector<Count> rounds;

  TimeReplicate Clock() {
    return [this](const Settings& settings) -> absl::StatusOr<double> {
      rounds.push_back(settings.Integer("horizon"));
      return 0.1 + 0.01 * static_cast<double>(rounds.back());
    };
  }
};

TEST(EstimateReplicate, DoublesUntilItTakesLongEnough) {
  Machine machine;
  const Spec spec = FederatedSpec();
  const auto estimate = EstimateReplicate(spec.points[0].settings, 0.7, machine.Clock());
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_THAT(machine.rounds, ElementsAre(16, 32, 64, 128));  // the last run takes 1.12 seconds more than the
                                                              // first
  EXPECT_EQ(estimate->rounds, 128);
  EXPECT_NEAR(estimate->seconds, 0.1 + 0.01 * 1e6, 1e-6);  // the tenth of a second to start counts once
}

TEST(EstimateReplicate, AShortRunIsRunToItsEnd) {
  Machine machine;
  const Spec spec = FederatedSpec({"horizon=40", "checkpoints=1"});
  const auto estimate = EstimateReplicate(spec.points[0].settings, 100, machine.Clock());
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_THAT(machine.rounds, ElementsAre(16, 32, 40));
  EXPECT_NEAR(estimate->seconds, 0.5, 1e-9);
}

TEST(EstimateReplicate, TheMeanRateServesWhereCutsDoNotDiffer) {
  const Spec spec = FederatedSpec();
  const auto first = EstimateReplicate(spec.points[0].settings, 0.3, [](const Settings&) { return 2.0; });
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_NEAR(first->seconds, 2.0 * 1e6 / 32, 1e-6);
}

TEST(EstimateReplicate, ErrorsArePassedOn) {
  const Spec spec = FederatedSpec();
  const auto failing = [](const Settings&) -> absl::StatusOr<double> { return absl::CancelledError(""); };
  EXPECT_EQ(EstimateReplicate(spec.points[0].settings, 1, failing).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(CutTo, KeepsThePrefixSumsOfTheWholeHorizon) {
  const Spec spec = FederatedSpec({"algorithm.sync=every"});
  const Settings cut = CutTo(spec.points[1].settings, 100).value();
  EXPECT_EQ(cut.Integer("horizon"), 100);
  EXPECT_NE(cut.Text("algorithm.prefix_sum"), "toeplitz");  // a run of 100 rounds would choose it
  EXPECT_NE(cut.Text("algorithm.prefix_sum"), "auto");
  EXPECT_EQ(Checkpoints(cut), std::vector<Count>{100});
}

TEST(CutTo, LeavesOutTheFewSynchronisationsOfALongSchedule) {
  const Settings cut = CutTo(FederatedSpec().points[1].settings, 100).value();
  EXPECT_EQ(cut.Text("algorithm.sync"), "batch");
  EXPECT_EQ(cut.Integer("algorithm.batch"), 1'000'000);
  EXPECT_EQ(CutTo(FederatedSpec({"algorithm.sync=every"}).points[1].settings, 100)->Text("algorithm.sync"),
            "every");
}

TEST(EstimateRun, CountsWhatIsLeft) {
  Machine machine;
  const Spec spec = FederatedSpec();
  const double each = 0.1 + 0.01 * 1e6;
  EXPECT_NEAR(EstimateRun(spec, 0, 2, machine.Clock())->seconds, 20 * each / 2, 1e-3);
  EXPECT_NEAR(EstimateRun(spec, 13, 2, machine.Clock())->seconds, 7 * each / 2, 1e-3);
  machine.rounds.clear();
  EXPECT_EQ(EstimateRun(spec, 20, 2, machine.Clock())->seconds, 0);
  EXPECT_TRUE(machine.rounds.empty());
}

TEST(EstimateRun, WhatIsSurelyShortIsNotTimed) {
  Machine machine;
  const Spec spec = FederatedSpec({"horizon=1000", "checkpoints=1", "federation.agents=2"});
  EXPECT_EQ(EstimateRun(spec, 0, 1, machine.Clock())->seconds, 0);
  EXPECT_TRUE(machine.rounds.empty());
}

TEST(EstimateRun, OtherAlgorithmsCountAsNothing) {
  Machine machine;
  const Spec spec = ParseSpec(R"(
horizon = 1_000_000_000
[environment]
dimension = 20
actions   = 1000
[algorithm]
name = "dp-dpe"
[privacy]
model = "none"
)",
                              "dpe.toml", {})
                        .value();
  EXPECT_EQ(EstimateRun(spec, 0, 1, machine.Clock())->seconds, 0);
}

TEST(ByTheClock, RunsACut) {
  const std::atomic<bool> stop = false;
  const Spec spec =
      FederatedSpec({"federation.agents=3", "environment.actions=5", "environment.dimension=2"});
  const auto seconds = ByTheClock(stop)(CutTo(spec.points[1].settings, 20).value());
  ASSERT_TRUE(seconds.ok()) << seconds.status();
  EXPECT_GT(*seconds, 0);
}

TEST(EstimateText, SaysNothingUpToAMinute) {
  EXPECT_EQ(Warning(RunEstimate{60, 2, 16, 16}), "");
  EXPECT_EQ(
      Warning(RunEstimate{31 * 3600.0, 2, 2048, 2048}),
      "the run will take about 31 h on 2 threads (measured on a short run of 2048 rounds); after Ctrl-C, "
      "--resume continues the run");
  EXPECT_THAT(Warning(RunEstimate{125, 1, 16, 64}),
              HasSubstr("about 2 min on 1 thread (measured on short runs of 16 to 64 rounds)"));
  EXPECT_THAT(Warning(RunEstimate{2e6, 1, 16, 64}), HasSubstr("about 23 days"));
}

}  // namespace
}  // namespace bandana::lab
