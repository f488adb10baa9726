// Tests of environment.kind = "glm" and algorithm.name = "lin-ucb", from a spec to its results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "tests/lab/worlds_of.h"

namespace bandana::lab {
namespace {

constexpr char kGlm[] = R"(horizon = 20000
seed = 5
environment = { kind = "glm", reward = "bernoulli", dimension = 2, actions = 8, population = 200_000 }
algorithm = { name = "dp-dpe", alpha = 1.0 }
privacy = { model = "none", epsilon = 5.0, delta = 1e-5 }
)";

constexpr char kLinUcb[] = R"(horizon = 2000
seed = 5
environment = { dimension = 3, actions = 20, client_sd = 0.1 }
algorithm = { name = "lin-ucb" }
privacy = { model = "none" }
)";

Settings SettingsOf(const char* spec, const std::vector<std::string>& set = {}) {
  const auto parsed = ParseSpec(spec, "x.toml", set);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed->points.front().settings;
}

absl::StatusOr<Outcome> RunOne(const Settings& settings, std::uint32_t replicate = 0) {
  const std::atomic<bool> stop = false;
  return RunReplicate(settings, replicate, stop);
}

TEST(GlmExperimentTest, ThereIsProbitButNoPoissonForPhases) {
  EXPECT_TRUE(CheckPoint(SettingsOf(kGlm, {"environment.link=probit"})).ok());
  const auto error = InputErrorOf(ParseSpec(kGlm, "x.toml", {"environment.link=poisson"}).status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->key, "environment.link");
}

TEST(GlmExperimentTest, RegretIsInMeansAndTheBestIsFound) {
  const Settings settings = SettingsOf(kGlm);
  const auto problem = MakeProblem(settings, 0).value();
  EXPECT_EQ(problem->link(), Link::kLogistic);
  EXPECT_GT(problem->means().minCoeff(), 0.268);
  EXPECT_LT(problem->means().maxCoeff(), 0.732);
  const auto outcome = RunOne(settings);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Checkpoint& end = outcome->checkpoints.back();
  EXPECT_EQ(end.t, 20'000);
  EXPECT_GT(end.regret, 0);
  EXPECT_LT(end.regret, 0.05 * 20'000);
  EXPECT_THAT(outcome->phases.back().active, testing::ElementsAre(problem->best()));
}

TEST(GlmExperimentTest, EveryAlgorithmAndModelRuns) {
  for (const char* name : {"dp-dpe", "pe", "private-elimination"}) {
    for (const char* model : {"central", "local", "shuffle"}) {
      const std::string spec =
          absl::StrReplaceAll(kGlm, {{"name = \"dp-dpe\", alpha = 1.0", fmt::format("name = \"{}\"", name)}});
      const auto outcome = RunOne(SettingsOf(spec.c_str(), {"privacy.model=" + std::string(model)}));
      ASSERT_TRUE(outcome.ok()) << name << " " << model << " " << outcome.status();
      EXPECT_EQ(outcome->checkpoints.back().t, 20'000);
    }
  }
}

// With almost no noise almost nothing of its width is left, so every decision is the one without noise.
TEST(GlmExperimentTest, WithoutNoiseEachModelDecidesAsNoneDoes) {
  const auto none = RunOne(SettingsOf(kGlm));
  ASSERT_TRUE(none.ok());
  for (const char* model : {"central", "local"}) {
    const auto outcome =
        RunOne(SettingsOf(kGlm, {"privacy.model=" + std::string(model), "privacy.epsilon=1e7"}));
    ASSERT_TRUE(outcome.ok()) << model << " " << outcome.status();
    ASSERT_EQ(outcome->phases.size(), none->phases.size());
    for (std::size_t i = 0; i < none->phases.size(); ++i) {
      EXPECT_EQ(outcome->phases[i].active, none->phases[i].active) << model;
      EXPECT_EQ(outcome->phases[i].pulls, none->phases[i].pulls) << model;
    }
    EXPECT_EQ(outcome->checkpoints.back().regret, none->checkpoints.back().regret) << model;
  }
}

struct Impossible {
  const char* spec;
  std::vector<std::string> set;
  std::string key;
};

TEST(GlmExperimentTest, WhatCannotRunIsNamed) {
  EXPECT_TRUE(CheckPoint(SettingsOf(kGlm)).ok());
  EXPECT_TRUE(CheckPoint(SettingsOf(kLinUcb)).ok());
  const Impossible cases[] = {
      {kGlm, {"environment.client_sd=1.1"}, "environment.client_sd"},
      {kGlm, {"algorithm.width=paper"}, "algorithm.width"},
      {kLinUcb, {"environment.population=1999"}, "environment.population"},
      {kLinUcb, {"horizon=3000000000"}, "horizon"},
      {kLinUcb, {"privacy.model=central", "privacy.epsilon=1", "privacy.delta=0.1"}, "privacy.model"},
  };
  for (const auto& [spec, set, key] : cases) {
    const auto parsed = ParseSpec(spec, "x.toml", set);
    const absl::Status status = parsed.ok() ? CheckPoint(parsed->points.front().settings) : parsed.status();
    ASSERT_FALSE(status.ok()) << set[0];
    ASSERT_TRUE(InputErrorOf(status).has_value()) << status;
    EXPECT_EQ(InputErrorOf(status)->key, key) << status;
    EXPECT_FALSE(InputErrorOf(status)->accepted.empty());
  }
}

// The link prescribes the law of rewards. Clients may still differ.
TEST(GlmExperimentTest, RewardsAreThoseOfTheLink) {
  const auto parsed = ParseSpec(kGlm, "x.toml", {"environment.reward=gaussian"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->points.front().settings, SettingsOf(kGlm));
  const std::vector<std::string>& ignored = parsed->without_effect;
  EXPECT_NE(std::find(ignored.begin(), ignored.end(), "environment.reward"), ignored.end());
  const auto instance = MakeInstance(SettingsOf(kGlm, {"environment.client_sd=0.1"}), 0);
  ASSERT_TRUE(instance.ok()) << instance.status();
  EXPECT_EQ(instance->world->facts().client_sd, 0.1);
  const Settings identity = SettingsOf(kGlm, {"environment.link=identity", "environment.reward=gaussian"});
  EXPECT_EQ(identity.Text("environment.reward"), "gaussian");
  EXPECT_TRUE(CheckPoint(identity).ok());
}

TEST(LinUcbExperimentTest, AsksAClientARoundAndLearns) {
  const auto outcome = RunOne(SettingsOf(kLinUcb));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Checkpoint& end = outcome->checkpoints.back();
  EXPECT_EQ(end.t, 2000);
  EXPECT_EQ(end.clients, 2000);
  EXPECT_GT(end.regret, 0);
  EXPECT_LT(end.regret, 0.5 * 2000);
  EXPECT_TRUE(outcome->phases.empty());
  const auto wider = RunOne(SettingsOf(kLinUcb, {"algorithm.beta=1e-300"}));
  ASSERT_TRUE(wider.ok());
  EXPECT_NE(wider->checkpoints.back().regret, end.regret);
}

}  // namespace
}  // namespace bandana::lab
