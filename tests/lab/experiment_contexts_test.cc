
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "tests/lab/worlds_of.h"

namespace bandana::lab {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSpec = R"(
horizon = 20000
[environment]
kind = "contextual-linear"
dimension = 2
actions = 5
reward = "rademacher"
policies = 32
[algorithm]
name = "private-elimination"
[privacy]
model = "none"
)";

Settings Resolved(const std::vector<std::string>& set = {}) {
  const absl::StatusOr<Spec> spec = ParseSpec(kSpec, "x.toml", set);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec->points[0].settings;
}

std::string WrongKey(const std::vector<std::string>& set) {
  const absl::StatusOr<Spec> spec = ParseSpec(kSpec, "x.toml", set);
  if (!spec.ok()) return InputErrorOf(spec.status()).value_or(InputError{}).key;
  const Settings& settings = spec->points[0].settings;
  const std::atomic<bool> stop = true;
  const auto outcome = RunReplicate(settings, 0, stop);
  return InputErrorOf(outcome.status()).value_or(InputError{}).key;
}

TEST(ContextsTest, DefaultsAreWrittenOut) {
  const Settings settings = Resolved();
  EXPECT_EQ(settings.Text("environment.contexts"), "sphere");
  EXPECT_EQ(settings.Integer("environment.context_samples"), 0);
  EXPECT_FALSE(settings.Has("environment.client_sd"));
}

TEST(ContextsTest, GIsComputedOnceForAllThatShareIt) {
  const auto first = MakePolicies(Resolved());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->thetas().rows(), 32);
  EXPECT_EQ(*first,
            *MakePolicies(Resolved({"privacy.model=central", "privacy.epsilon=1", "privacy.delta=1e-6"})));
  EXPECT_NE(*first, *MakePolicies(Resolved({"environment.actions=6"})));
  EXPECT_NE(*first, *MakePolicies(Resolved({"environment.contexts=gaussian"})));
  EXPECT_NE(*first, *MakePolicies(Resolved({"environment.policies=64"})));
  const auto one = MakeProblem(Resolved(), 1);
  const auto two = MakeProblem(Resolved(), 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ((*one)->actions(), (*two)->actions());
  EXPECT_NE((*one)->theta(), (*two)->theta());
}

TEST(ContextsTest, ANetOfPoliciesGrowsWithTheHorizon) {
  const auto at = [](const std::string& horizon) {
    return (*MakePolicies(Resolved({"environment.policy_spread=net", "horizon=" + horizon})))
        ->thetas()
        .rows();
  };
  const auto few = at("1000");
  EXPECT_EQ(few, at("1000"));
  EXPECT_GT(at("100000"), few);
}

TEST(ContextsTest, AFileIsReadAgainWhenItChanges) {
  const std::string path = ::testing::TempDir() + "lab_contexts_test.csv";
  const std::vector<std::string> set = {"environment.contexts=file", "environment.file=" + path,
                                        "environment.actions=2"};
  std::ofstream(path) << "1,0,0,1\n";
  const auto first = MakePolicies(Resolved(set));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->responses().rows(), 2);
  std::ofstream(path) << "1,0,0,1\n0.5,0,0,-0.5\n";
  const auto again = MakePolicies(Resolved(set));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->responses().rows(), 4);
  std::ofstream(path) << "1,0,0,1\n0.5,0,0\n";
  const auto bad = MakePolicies(Resolved(set));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(InputErrorOf(bad.status())->line, 2);
  std::filesystem::remove(path);
}

TEST(ContextsTest, ALearnerWithSamplesSeesEstimates) {
  const Settings settings = Resolved({"environment.context_samples=1000"});
  const auto problem = MakeProblem(settings, 0);
  ASSERT_TRUE(problem.ok());
  const Instance instance = MakeInstance(settings, 0).value();
  const ActionMatrix& actions = *instance.world->facts().actions;
  EXPECT_FALSE(actions.isApprox((*problem)->actions(), 1e-6));
  EXPECT_TRUE(actions.isApprox((*problem)->actions(), 0.2));
  const Instance known = MakeInstance(Resolved(), 0).value();
  EXPECT_EQ(*known.world->facts().actions, (*MakeProblem(Resolved(), 0))->actions());
}

TEST(ContextsTest, WhatDoesNotGoTogetherIsRefusedByName) {
  EXPECT_EQ(WrongKey({"environment.contexts=orthant"}), "environment.contexts");
  EXPECT_EQ(WrongKey({"environment.reward=gaussian"}), "environment.reward");
  EXPECT_EQ(WrongKey({"environment.reward=bernoulli"}), "environment.reward");  // its means would be negative
  EXPECT_EQ(WrongKey({"environment.actions=1"}), "environment.actions");
  EXPECT_EQ(WrongKey({"environment.contexts=clusters", "environment.dimension=1"}), "environment.dimension");
  EXPECT_EQ(WrongKey({"environment.policies=0"}), "environment.policies");
  EXPECT_EQ(WrongKey({"environment.context_samples=-1"}), "environment.context_samples");
  EXPECT_EQ(WrongKey({"environment.contexts=file", "environment.file=/nonexistent.csv"}), "environment.file");
  EXPECT_EQ(WrongKey({"algorithm.name=dp-dpe"}), "environment.kind");
}

TEST(ContextsTest, ClaimsAreJoint) {
  const std::vector<std::string> models[] = {
      {"privacy.model=central", "privacy.noise=laplace", "privacy.epsilon=1"},
      {"privacy.model=local", "privacy.noise=laplace", "privacy.epsilon=1"},
      {"privacy.model=shuffle", "privacy.shuffle=sum", "privacy.epsilon=1", "privacy.delta=1e-6"},
      {"privacy.model=shuffle", "privacy.shuffle=amplified", "privacy.epsilon=1", "privacy.delta=1e-6"}};
  for (const auto& model : models) {
    const auto claims = ClaimsOf(Resolved(model));
    ASSERT_TRUE(claims.ok()) << claims.status();
    ASSERT_FALSE(claims->empty());
    for (const Claim& claim : *claims) {
      EXPECT_THAT(claim.adversary, HasSubstr("joint differential privacy"));
      EXPECT_EQ(claim.unit, "one client's context and reward");
    }
  }
}

// In every model policies are eliminated, and the remaining ones have little regret.
TEST(ContextsTest, EveryModelRunsAndLearns) {
  const std::vector<std::string> models[] = {
      {},
      {"privacy.model=central", "privacy.noise=laplace", "privacy.epsilon=1"},
      {"privacy.model=local", "privacy.noise=laplace", "privacy.epsilon=5"},
      {"privacy.model=shuffle", "privacy.shuffle=sum", "privacy.epsilon=1", "privacy.delta=1e-6"},
      {"privacy.model=shuffle", "privacy.shuffle=amplified", "privacy.epsilon=1", "privacy.delta=1e-6"}};
  const std::atomic<bool> stop = false;
  for (const char* contexts : {"sphere", "gaussian", "clusters"}) {
    for (std::vector<std::string> set : models) {
      set.push_back(std::string("environment.contexts=") + contexts);
      const Settings settings = Resolved(set);
      const auto outcome = RunReplicate(settings, 0, stop);
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      EXPECT_EQ(outcome->checkpoints.back().t, 20'000);
      const auto problem = MakeProblem(settings, 0);
      const std::vector<ArmId>& left = outcome->phases.back().active;
      EXPECT_LT(left.size(), 32u) << contexts;
      EXPECT_TRUE(std::find(left.begin(), left.end(), (*problem)->best()) != left.end()) << contexts;
    }
  }
}

}  // namespace
}  // namespace bandana::lab
