// Tests of environment.kind = "replay", from a spec and a log to the results.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bandana/bandit/auto_lending.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/spec.h"
#include "fmt/format.h"
#include "tests/bandit/auto_lending_file.h"
#include "tests/support.h"

namespace bandana::lab {
namespace {

namespace fs = std::filesystem;

/// Returns the probability that the action's reward is 1. Action 1 suits positive first entries, action 2
/// negative ones.
double MeanOf(const std::vector<double>& x, int action) {
  const double s = action == 0 ? 0 : action == 1 ? 2 * x[0] : -2 * x[0];
  return 1 / (1 + std::exp(-s));
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / (std::string("bandana_replay_") +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return (folder_ / name).string(); }

  /// Writes a uniform log. Contexts are on the unit circle, with a third entry of 0.
  void WriteLog(int rounds, double reward_of_one = 1) {
    test::Coins coins(7);
    std::ofstream out(At("log.csv"));
    out << "context_0,context_1,context_2,action,reward,pscore\n";
    for (int t = 0; t < rounds; ++t) {
      const double angle = 6.283185307179586 * UniformUnit(coins.gen);
      const std::vector<double> x = {std::cos(angle), std::sin(angle), 0};
      const auto action = static_cast<int>(UniformBelow(3, coins.gen));
      const double reward = UniformUnit(coins.gen) < MeanOf(x, action) ? reward_of_one : 0;
      out << fmt::format("{},{},{},{},{},{}\n", x[0], x[1], x[2], action, reward, 1 / 3.);
    }
    std::ofstream features(At("actions.csv"));
    features << "action_context_0,action_context_1,action_context_2\n1,0,0\n0,1,0\n0,0,1\n";
  }

  absl::StatusOr<Spec> Parse(const std::string& environment, const std::string& algorithm,
                             const std::string& privacy, int horizon) const {
    const std::string text = fmt::format(
        "horizon = {}\nseed = 3\ncheckpoints = [100, {}]\nenvironment = {{ kind = \"replay\", {} }}\n"
        "algorithm = {{ {} }}\nprivacy = {{ {} }}\n",
        horizon, horizon, environment, algorithm, privacy);
    return ParseSpec(text, At("x.toml"), {});
  }

  Settings SettingsOf(const std::string& environment, const std::string& algorithm = "name = \"ldp-sgd\"",
                      const std::string& privacy = "model = \"none\"", int horizon = 3000) const {
    const auto spec = Parse(environment, algorithm, privacy, horizon);
    EXPECT_TRUE(spec.ok()) << spec.status();
    return spec->points.front().settings;
  }

  std::vector<Checkpoint> Run(const Settings& settings) {
    const std::atomic<bool> stop = false;
    EXPECT_TRUE(CheckPoint(settings).ok()) << CheckPoint(settings);
    const auto outcome = RunReplicate(settings, 0, stop);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome->checkpoints;
  }

  std::string BadKey(const std::string& environment, const std::string& algorithm = "name = \"ldp-sgd\"",
                     const std::string& privacy = "model = \"none\"", int horizon = 3000) const {
    const auto spec = Parse(environment, algorithm, privacy, horizon);
    const auto error = InputErrorOf(spec.ok() ? CheckPoint(spec->points.front().settings) : spec.status());
    return error.has_value() ? error->key : "";
  }

  fs::path folder_;
};

constexpr char kLog[] = "file = \"log.csv\", actions = 3, theta_bound = 3.0";

// Computes the best policy's value, E 1 / (1 + exp(-2 |cos|)) by symmetry.
double BestValue() {
  double sum = 0;
  constexpr int kGrid = 10'000;
  for (int i = 0; i < kGrid; ++i) {
    sum += 1 / (1 + std::exp(-2 * std::abs(std::cos(6.283185307179586 * (i + 0.5) / kGrid))));
  }
  return sum / kGrid;
}

TEST_F(ReplayTest, RejectionReplayEarnsMoreAndMore) {
  WriteLog(12'000);
  for (const char* name : {"ldp-sgd", "ldp-ols", "lin-ucb", "thompson-sampling", "ldp-gloc"}) {
    const auto checkpoints = Run(SettingsOf(kLog, fmt::format("name = \"{}\"", name)));
    ASSERT_EQ(checkpoints.size(), 2U);
    const Checkpoint& end = checkpoints.back();
    EXPECT_TRUE(std::isnan(end.regret)) << "nobody knows it";
    EXPECT_EQ(end.clients, 3000) << name;
    EXPECT_GE(end.series.at("offered"), 8000);
    EXPECT_EQ(end.series.at("matched"), 3000) << "a uniform log counts wherever it agrees";
    EXPECT_LT(end.series.at("value_low"), end.series.at("value"));
    EXPECT_GT(end.series.at("value_high"), end.series.at("value"));
    EXPECT_GT(end.series.at("value"), 0.62)
        << name << ": 1/2 for whoever knows nothing, " << BestValue() << " at most";
    EXPECT_LT(end.series.at("value"), BestValue() + 0.05);
  }
}

TEST_F(ReplayTest, ALogMayEndBeforeTheHorizon) {
  WriteLog(1500);
  const auto checkpoints = Run(SettingsOf(kLog));
  EXPECT_EQ(checkpoints.front().clients, 100);
  EXPECT_EQ(checkpoints.back().t, 3000);
  EXPECT_EQ(checkpoints.back().series.at("offered"), 1500);
  EXPECT_GT(checkpoints.back().clients, 400);
  EXPECT_LT(checkpoints.back().clients, 600);
  // About 500 rounds count. A tenth of them, 16 for each action, is the warm-up, whose messages have one
  // slot.
  EXPECT_EQ(checkpoints.back().reals, 48 * 3 + (checkpoints.back().clients - 48) * 9);
}

TEST_F(ReplayTest, DoublyRobustJudgesTheGreedyPolicyOnTheOtherHalf) {
  WriteLog(12'000);
  const auto checkpoints = Run(SettingsOf(std::string(kLog) + ", evaluation = \"doubly-robust\""));
  const Checkpoint& end = checkpoints.back();
  EXPECT_LE(end.series.at("offered"), 6000) << "the first half";
  EXPECT_GT(end.series.at("value"), 0.68);
  EXPECT_LT(end.series.at("value_low"), BestValue());
  EXPECT_LT(end.series.at("value_high") - end.series.at("value_low"), 0.1);
  EXPECT_GT(end.series.at("value_high"), BestValue() - 0.05)
      << "nearly the best policy, which has " << BestValue();
}

TEST_F(ReplayTest, FeaturesOfActionsMakeOneParameterOfMany) {
  WriteLog(12'000);
  const Settings settings =
      SettingsOf(std::string(kLog) + ", parameters = \"single\", action_context = \"actions.csv\"");
  EXPECT_EQ(settings.Text("environment.action_context"), At("actions.csv"));
  const auto checkpoints = Run(settings);
  EXPECT_EQ(checkpoints.back().reals, 3000 * 9) << "one vector of 3 x 3";
  EXPECT_GT(checkpoints.back().series.at("value"), 0.62);
}

TEST_F(ReplayTest, PrivateLearnersClaimWhatTheirMessagesDo) {
  WriteLog(3000);
  const Settings settings = SettingsOf(kLog, "name = \"ldp-sgd\"", "model = \"local\", epsilon = 2.0", 500);
  Run(settings);
  const auto claims = ClaimsOf(settings);
  ASSERT_TRUE(claims.ok()) << claims.status();
  ASSERT_FALSE(claims->empty());
  for (const Claim& claim : *claims) {
    EXPECT_EQ(claim.only_if,
              "the person is a user of the world that the log stands for, and not somebody in the log");
  }
}

TEST_F(ReplayTest, BadInputIsNamed) {
  WriteLog(1500);
  EXPECT_EQ(BadKey("file = \"log.csv\", actions = 3, parameters = \"single\""), "environment.parameters");
  EXPECT_EQ(BadKey(kLog, "name = \"dp-dpe\""), "environment.kind");
  EXPECT_FALSE(CheckPoint(SettingsOf("file = \"none.csv\", actions = 3")).ok());
  EXPECT_FALSE(CheckPoint(SettingsOf("file = \"log.csv\", actions = 2")).ok());
  EXPECT_EQ(BadKey("log = \"auto-lending\", loans = 2000, link = \"probit\""), "environment.link");
  EXPECT_EQ(BadKey("log = \"auto-lending\", loans = 2000, parameters = \"multi\""), "environment.parameters");
  WriteLog(1500, 2);
  EXPECT_EQ(BadKey(kLog), "environment.reward_bound");
  EXPECT_EQ(BadKey(std::string(kLog) + ", link = \"identity\""), "environment.reward_bound");
  EXPECT_EQ(BadKey(std::string(kLog) + ", link = \"identity\", reward_bound = 2"), "");
}

TEST_F(ReplayTest, TheTwinOfTheLendingDataRunsWithoutAFile) {
  const Settings settings = SettingsOf("log = \"auto-lending\", loans = 2000");
  EXPECT_EQ(settings.Integer("environment.actions"), 25);
  const auto checkpoints = Run(settings);
  const Checkpoint& end = checkpoints.back();
  EXPECT_GT(end.regret, 0);
  EXPECT_LT(end.regret, 0.5 * 3000);
  EXPECT_EQ(end.clients, 3000);
  EXPECT_GT(end.series.at("value"), 0);
  EXPECT_GT(end.best_action_rate, 0);
}

TEST_F(ReplayTest, RevenueIsNotWonByTheLowestPrice) {
  const auto share = [&](const std::string& payoff) {
    return Run(SettingsOf("log = \"auto-lending\", loans = 2000, payoff = \"" + payoff + "\"",
                          "name = \"ldp-ols\"", "model = \"none\"", 2000))
        .back();
  };
  EXPECT_GT(share("acceptance").best_action_rate, 0.99);
  const Checkpoint revenue = share("revenue");
  EXPECT_GT(revenue.regret, 0);
  EXPECT_GT(revenue.series.at("value"), 0);
  EXPECT_LT(revenue.best_action_rate, 0.9);
  EXPECT_EQ(BadKey("log = \"auto-lending\", loans = 2000, payoff = \"revenue\", link = \"poisson\""),
            "environment.link");
}

TEST_F(ReplayTest, AFileOfLoansIsReadBack) {
  const auto loans = SyntheticTwin(4, 2000);
  test::WriteAutoLending(At("loans.csv"), *loans);
  const auto checkpoints = Run(SettingsOf("log = \"auto-lending\", file = \"loans.csv\", actions = 10"));
  EXPECT_GT(checkpoints.back().regret, 0);
}

TEST_F(ReplayTest, ResultsAndSummaryHaveTheValue) {
  WriteLog(3000);
  const std::string text = fmt::format(
      "horizon = 500\nseed = 3\nreplicates = 2\nenvironment = {{ kind = \"replay\", {} }}\n"
      "algorithm = {{ name = \"ldp-ols\" }}\nprivacy = {{ model = \"none\" }}\n",
      kLog);
  const auto spec = ParseSpec(text, At("x.toml"), {});
  ASSERT_TRUE(spec.ok()) << spec.status();
  const std::atomic<bool> stop = false;
  const auto summary = RunExperiment(*spec, {.out = At("out"), .quiet = true}, stop);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto& point = (*summary)["points"][0];
  EXPECT_GT(point["metrics"]["value"]["mean"].get<double>(), 0.4);
  EXPECT_EQ(point["metrics"]["matched"]["n"], 2);
  EXPECT_EQ(point["curve"]["value"]["mean"].size(), point["curve"]["t"].size());
  std::ifstream results(At("out/results.csv"));
  std::string header;
  std::getline(results, header);
  EXPECT_NE(header.find("value,value_low,value_high,offered,matched"), std::string::npos);
}

}  // namespace
}  // namespace bandana::lab
