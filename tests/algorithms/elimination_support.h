#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/core/status.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "gmock/gmock.h"
#include "tests/sim/simulator.h"

/// Whole runs of an elimination algorithm, for the rules of any paper.
namespace bandana::test {

using ProblemPtr = std::shared_ptr<const LinearProblem>;

inline ProblemPtr Shared(absl::StatusOr<LinearProblem> problem) {
  EXPECT_TRUE(problem.ok()) << problem.status();
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

inline ProblemPtr DrawnProblem(int dimension, int actions, std::uint32_t replicate = 0) {
  return Shared(LinearProblem::Draw({.dimension = dimension, .actions = actions}, 1, replicate));
}

inline std::shared_ptr<const ActionMatrix> ActionsOf(const ProblemPtr& problem) {
  return {problem, &problem->actions()};
}

inline NoPrivacyMean Bare() { return NoPrivacyMean(Declassify("test")); }

struct Outcome {
  absl::Status status;
  Checkpoint end;
  std::vector<PhaseRecord> history;
  std::vector<ArmId> active;
  bool finished = false;
};

struct RunOptions {
  std::uint64_t seed = 1;
  std::uint32_t replicate = 0;
  bool groups = true;
  DpGuarantee budget = {1e30, 1};
};

/// Runs the simulator. The population's size and its rewards are the ones that the rules assume.
template <Privatizer P>
Outcome Simulate(const ProblemPtr& problem, const absl::StatusOr<EliminationRules>& rules,
                 const P& privatizer, const RunOptions& options = {}) {
  auto server = EliminationServer<P>::Create(rules, ActionsOf(problem), privatizer);
  if (!server.ok()) return {.status = server.status(), .end = {}, .history = {}, .active = {}};
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = rules->clip.reward,
                                              .client_sd = rules->clip.client_sd,
                                              .size = rules->population,
                                              .seed = options.seed,
                                              .replicate = options.replicate});
  EXPECT_TRUE(population.ok()) << population.status();
  Recorder recorder(*problem, {});
  const sim::SimParams sim{.seed = options.seed,
                           .replicate = options.replicate,
                           .topology = TopologyFor<P>(rules->population),
                           .budget_per_client = options.budget,
                           .groups = options.groups};
  const absl::Status status = sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      sim, *server, privatizer, *population, recorder);
  return {status, recorder.now(), server->policy().history(), server->policy().active(), server->finished()};
}

/// Returns the field that is refused, or "accepted".
inline std::string RefusedKey(const ProblemPtr& problem, const absl::StatusOr<EliminationRules>& rules) {
  const absl::Status status =
      rules.ok() ? EliminationPolicy::Create(*rules, ActionsOf(problem)).status() : rules.status();
  if (status.ok()) return "accepted";
  const auto error = InputErrorOf(status);
  return error.has_value() ? error->key : "no input error";
}

/// Runs rules_of(problem, population) with every population from 1 to `most`. The check before a run assumes
/// the largest supports. With smaller ones another phase can fit, and a run may use up its clients: some
/// must, and their errors must say where.
template <class RulesOf>
void ExpectThatSomePopulationsRunOut(Count most, RulesOf rules_of) {
  const ProblemPtr problem = DrawnProblem(2, 2);
  int ran_out = 0;
  for (Count population = 1; population <= most; ++population) {
    const absl::StatusOr<EliminationRules> rules = rules_of(problem, population);
    if (RefusedKey(problem, rules) != "accepted") continue;
    const Outcome run = Simulate(problem, rules, Bare());
    EXPECT_LE(run.end.clients, population);
    if (run.status.ok()) continue;
    ++ran_out;
    ASSERT_TRUE(InputErrorOf(run.status).has_value()) << run.status;
    EXPECT_EQ(InputErrorOf(run.status)->key, "people");
    EXPECT_THAT(std::string(run.status.message()), ::testing::HasSubstr("runs out in phase"));
    EXPECT_FALSE(run.finished);
  }
  EXPECT_GT(ran_out, 0);
}

/// Eight actions in a plane of R^5: four directions, each twice.
inline ProblemPtr PlaneProblem() {
  ActionMatrix actions(8, 5);
  actions.setZero();
  for (Eigen::Index i = 0; i < 8; ++i) {
    const double angle = 0.7 * static_cast<double>(i % 4);
    actions.row(i) << 0.6 * std::cos(angle), 0.8 * std::cos(angle), 0, std::sin(angle), 0;
  }
  return Shared(LinearProblem::Create(actions, Vector::Constant(5, 0.4)));
}

/// Makes a privatizer of type P with the fast sampler, for up to a billion clients.
template <class P>
P MadePrivate(DpGuarantee nominal, Calibration calibration = Calibration::kTight, double loss = 0.1) {
  if constexpr (std::is_same_v<P, NoPrivacyMean>) {
    return Bare();
  } else if constexpr (std::is_same_v<P, ShuffleSumMean>) {
    return *P::Create({nominal, calibration, Sampler::kFast, Transport::kBits, {0, 1}, 1 << 30, loss});
  } else if constexpr (std::is_same_v<P, ShuffledLaplaceMean>) {
    return *P::Create({nominal, calibration, Sampler::kFast, {0, 1}, 1'000'000'000});
  } else if constexpr (std::is_same_v<P, CentralLaplaceMean> || std::is_same_v<P, LocalLaplaceMean>) {
    return *P::Create({nominal.epsilon, calibration, Sampler::kFast});
  } else {
    return *P::Create({nominal, calibration, Sampler::kFast});
  }
}

}  // namespace bandana::test
