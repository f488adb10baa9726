// Elimination with logistic means: the best action survives, and regret grows slower than time.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "tests/lab/worlds_of.h"

namespace bandana::lab {
namespace {

Settings Glm(const std::vector<std::string>& set) {
  const auto spec = ParseSpec(R"(horizon = 40000
seed = 21
environment = { kind = "glm", reward = "bernoulli", dimension = 3, actions = 15, population = 500_000 }
algorithm = { name = "dp-dpe", alpha = 0.8 }
privacy = { epsilon = 2.0, delta = 1e-3 }
)",
                              "x.toml", set);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec->points.front().settings;
}

// beta = 1/(k T), so a run loses the best action with probability at most about k L beta < 1e-3. In all 4 x
// 25 runs the probability is below 0.05, and in fact far below, since exact rates are a hundredth of the
// level.
TEST(GeneralizedLinearTest, TheBestActionSurvives) {
  constexpr int kRuns = 25;
  const std::atomic<bool> stop = false;
  for (const char* model : {"none", "central", "local", "shuffle"}) {
    const Settings settings = Glm({"privacy.model=" + std::string(model)});
    int decided = 0;
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      const auto problem = MakeProblem(settings, run).value();
      const auto outcome = RunReplicate(settings, run, stop);
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      const std::vector<ArmId>& active = outcome->phases.back().active;
      EXPECT_TRUE(std::binary_search(active.begin(), active.end(), problem->best())) << model << " " << run;
      decided += active.size() < 15;
    }
    EXPECT_GT(decided, model == std::string("local") ? 0 : kRuns * 3 / 4) << model << ": nothing was learned";
  }
}

TEST(GeneralizedLinearTest, RegretGrowsSlowerThanTime) {
  constexpr int kRuns = 10;
  const std::atomic<bool> stop = false;
  for (const char* model : {"none", "central"}) {
    double early = 0, late = 0;
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      for (const bool longer : {false, true}) {
        const auto outcome = RunReplicate(
            Glm({"privacy.model=" + std::string(model), longer ? "horizon=400000" : "horizon=25000"}), run,
            stop);
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        (longer ? late : early) += outcome->checkpoints.back().regret / kRuns;
      }
    }
    EXPECT_GT(early, 0);
    EXPECT_LT(std::log(late / early) / std::log(16), 0.75) << model << " " << early << " " << late;
    RecordProperty(std::string(model) + "_slope", std::to_string(std::log(late / early) / std::log(16)));
  }
}

}  // namespace
}  // namespace bandana::lab
