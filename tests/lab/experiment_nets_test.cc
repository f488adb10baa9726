
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "tests/lab/worlds_of.h"

namespace bandana::lab {
namespace {

using ::testing::HasSubstr;

constexpr char kSpec[] = R"(horizon = 20000
seed = 11
environment = { action_set = "sphere", dimension = 2, theta_norm = 0.5, reward = "rademacher" }
algorithm.name = "dp-dpe"
privacy = { model = "central", epsilon = 5.0, delta = 1e-5 }
)";

Settings Resolved(const Overrides& overrides) {
  const absl::StatusOr<Spec> spec = ParseSpec(kSpec, "x.toml", overrides);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec->points.front().settings;
}

NetChoice NetWith(const Overrides& overrides) {
  const auto net = NetOf(Resolved(overrides));
  EXPECT_TRUE(net.ok() && net->has_value()) << net.status();
  return **net;
}

double RegretOf(const Settings& settings) {
  const std::atomic<bool> stop = false;
  const absl::StatusOr<Outcome> outcome = RunReplicate(settings, 0, stop);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? outcome->checkpoints.back().regret : -1;
}

TEST(NetsTest, AutoCostsARegretOfAtMostOne) {
  for (const std::string set : {"ball", "sphere", "box"}) {
    const NetChoice net = NetWith({"environment.action_set=" + set});
    EXPECT_LE(*net.cost, 1 + 1e-9) << set;
    const auto problem = MakeProblem(Resolved({"environment.action_set=" + set}), 3);
    ASSERT_TRUE(problem.ok()) << problem.status();
    EXPECT_LE(20000 * (*problem)->Gap((*problem)->best()), 1 + 1e-9) << set;
    EXPECT_NEAR((*problem)->theta().norm(), 0.5, 1e-12);
  }
  EXPECT_NEAR(NetWith({}).radius, std::sqrt(2.0 / (0.5 * 20000)), 1e-12);
}

TEST(NetsTest, AutoTakesTheSmallestNetThatFitsWhereOneThatCostsNothingDoesNot) {
  const Settings settings = Resolved({"environment.dimension=5", "horizon=1000000"});
  const NetChoice net = **NetOf(settings);
  EXPECT_GT(*net.cost, 1);
  EXPECT_NEAR(*net.cost, 1e6 * 0.5 * net.radius * net.radius / 2, 1e-6);
  const NetParams params{
      .set = ActionSet::kSphere, .dimension = 5, .radius = net.radius, .most_entries = net.most_entries};
  EXPECT_LE(*NetSize(params) * 5, kAutoNetEntries);
  EXPECT_GE(*NetSize(params) * 5, kAutoNetEntries / 2) << "it could be finer";
}

TEST(NetsTest, GivenRadiiAreKeptAndPaired) {
  const auto coarse = MakeProblem(Resolved({"algorithm.net_radius=0.5"}), 1);
  const auto fine = MakeProblem(Resolved({"algorithm.net_radius=0.01"}), 1);
  ASSERT_TRUE(coarse.ok() && fine.ok());
  EXPECT_LT((*coarse)->actions().rows(), 10);
  EXPECT_GT((*fine)->actions().rows(), 300);
  EXPECT_EQ((*coarse)->theta(), (*fine)->theta());
  EXPECT_NEAR((*coarse)->optimum(), 0.5, 1e-12);
}

TEST(NetsTest, SampledNetsOfBothKinds) {
  const Overrides draws = {"algorithm.net=sampled", "algorithm.net_radius=0.2", "algorithm.net_samples=400"};
  EXPECT_FALSE(NetWith(draws).cost.has_value()) << "nothing is known between the draws";
  const auto drawn = MakeProblem(Resolved(draws), 1);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  EXPECT_LT((*drawn)->actions().rows(), 40);
  EXPECT_NEAR((*drawn)->optimum(), 0.5, 1e-12) << "the sphere's";

  Overrides finite = {"environment.action_set=finite", "environment.actions=500"};
  const auto all = MakeProblem(Resolved(finite), 1);
  EXPECT_EQ((*all)->actions().rows(), 500);
  finite.insert(finite.end(), {"algorithm.net=sampled", "algorithm.net_radius=0.2"});
  EXPECT_NEAR(*NetWith(finite).cost, 20000 * 0.5 * 0.2, 1e-9);
  const auto thinned = MakeProblem(Resolved(finite), 1);
  EXPECT_LT((*thinned)->actions().rows(), 40);
  EXPECT_EQ((*thinned)->theta(), (*all)->theta());
  EXPECT_EQ((*thinned)->optimum(), (*all)->optimum());
  finite.back() = "algorithm.net_radius=auto";
  EXPECT_EQ(NetWith(finite).radius, 1.0 / 20000);
}

TEST(NetsTest, FiniteSetsHaveNoNetUnlessAsked) {
  for (const std::string net : {"auto", "none"}) {
    const auto none =
        NetOf(Resolved({"environment.action_set=finite", "environment.actions=5", "algorithm.net=" + net}));
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_FALSE(none->has_value());
  }
}

TEST(NetsTest, ErrorsAreNamed) {
  const auto error = [](const Overrides& overrides) {
    return InputErrorOf(MakeProblem(Resolved(overrides), 1).status()).value_or(InputError{});
  };
  EXPECT_EQ(error({"algorithm.net=none"}).key, "algorithm.net");
  const InputError large = error({"environment.dimension=6", "algorithm.net_radius=0.00001"});
  EXPECT_EQ(large.key, "algorithm.net_radius");
  EXPECT_EQ(large.value, "1e-05");
  EXPECT_THAT(large.message, HasSubstr("actions"));
  EXPECT_THAT(large.accepted, HasSubstr("for instance"));
  EXPECT_EQ(error({"environment.action_set=box", "environment.dimension=60"}).key, "environment.dimension");
  EXPECT_EQ(error({"environment.dimension=2000000"}).key, "environment.dimension");

  const auto refused = [](const Overrides& overrides) {
    return InputErrorOf(ParseSpec(kSpec, "x.toml", overrides).status()).value_or(InputError{}).key;
  };
  for (const std::string bad : {"0", "-1", "1.5", "nan", "inf", "paper"}) {
    EXPECT_EQ(refused({"algorithm.net_radius=" + bad}), "algorithm.net_radius") << bad;
  }
  EXPECT_EQ(refused({"algorithm.net=ball"}), "algorithm.net");
  EXPECT_EQ(refused({"environment.action_set=cube"}), "environment.action_set");
  EXPECT_EQ(refused({"algorithm.net=sampled", "algorithm.net_samples=0"}), "algorithm.net_samples");
  EXPECT_EQ(refused({"environment.action_set=finite"}), "environment.actions") << "is needed then";
}

// The regret is against the whole sphere: a net that is too coarse pays for it to the end.
TEST(NetsTest, EliminationRunsOnInfiniteSets) {
  const Settings settings = Resolved({"privacy.model=none", "algorithm.net_radius=1"});
  const auto problem = MakeProblem(settings, 0);
  ASSERT_TRUE(problem.ok()) << problem.status();
  const double coarse = RegretOf(settings);
  EXPECT_GE(coarse, 20000 * (*problem)->Gap((*problem)->best()));
  const double fine = RegretOf(Resolved({"privacy.model=none"}));
  EXPECT_GT(fine, 0);
  EXPECT_LT(fine, 20000 * 0.5 / 2) << "it learns";
  EXPECT_LT(fine, coarse);
}

// Warm starts give other designs with the same guarantees: no action is eliminated that should stay.
TEST(NetsTest, WarmStartsRun) {
  const Overrides finite = {"environment.action_set=finite", "environment.actions=200",
                            "environment.dimension=6", "privacy.model=none", "algorithm.warm_start=true"};
  const Settings warm = Resolved(finite);
  const auto problem = MakeProblem(warm, 0);
  const std::atomic<bool> stop = false;
  const absl::StatusOr<Outcome> outcome = RunReplicate(warm, 0, stop);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const std::vector<ArmId>& active = outcome->phases.back().active;
  EXPECT_LT(active.size(), 200u);
  EXPECT_NE(std::find(active.begin(), active.end(), (*problem)->best()), active.end());
}

TEST(NetsTest, EveryEliminationTakesThem) {
  for (const std::string name : {"dp-dpe", "pe", "private-elimination"}) {
    const Settings settings = Resolved({"algorithm.name=" + name, "algorithm.net_radius=0.1"});
    EXPECT_TRUE(CheckPoint(settings).ok()) << name << ": " << CheckPoint(settings);
  }
}

}  // namespace
}  // namespace bandana::lab
