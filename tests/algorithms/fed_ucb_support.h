#pragma once

#include <Eigen/Eigenvalues>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bandana/algorithms/fed_ucb/fed_ucb.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_p2p.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/played_arm.h"
#include "bandana/sim/simulate.h"

namespace bandana {

/// Writes down what a role of rounds does.
template <class Player>
class Spy final : public RoundPlayer<double> {
 public:
  struct Arrival {
    Count round;
    Message message;
  };

  template <class... Arguments>
  explicit Spy(Arguments&&... arguments) : role_(std::forward<Arguments>(arguments)...) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    arrivals.push_back({round_, message});
    return role_.OnMessage(context, message);
  }
  Count rounds_ready() const override { return role_.rounds_ready(); }
  bool Plays(Count round) const override { return role_.Plays(round); }
  const ChosenArm& Act(Context& context, Count round, const Raw<DecisionSet<double>>& set) override {
    round_ = round;
    const ChosenArm& chosen = role_.Act(context, round, set);
    arms.push_back(PlayedArm::Of(chosen));
    return chosen;
  }
  absl::Status Observe(Context& context, Count round, const Raw<double>& reward) override {
    return role_.Observe(context, round, reward);
  }
  absl::Status EndRound(Context& context, Count round) override { return role_.EndRound(context, round); }
  void Describe(Observations& observations) const override { role_.Describe(observations); }
  std::string Save() const override { return role_.Save(); }
  absl::Status Restore(std::string_view saved) override { return role_.Restore(saved); }

  Player& role() { return role_; }

  std::vector<ArmId> arms;
  std::vector<Arrival> arrivals;

 private:
  Player role_;
  Count round_ = 0;
};

/// A player that hands every call to another one, which outlives it.
class Borrowed final : public RoundPlayer<double> {
 public:
  explicit Borrowed(RoundPlayer<double>& player) : player_(player) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    return player_.OnMessage(context, message);
  }
  Count rounds_ready() const override { return player_.rounds_ready(); }
  bool Plays(Count round) const override { return player_.Plays(round); }
  const ChosenArm& Act(Context& context, Count round, const Raw<DecisionSet<double>>& set) override {
    return player_.Act(context, round, set);
  }
  absl::Status Observe(Context& context, Count round, const Raw<double>& reward) override {
    return player_.Observe(context, round, reward);
  }
  absl::Status EndRound(Context& context, Count round) override { return player_.EndRound(context, round); }
  void Describe(Observations& observations) const override { player_.Describe(observations); }
  std::string Save() const override { return player_.Save(); }
  absl::Status Restore(std::string_view saved) override { return player_.Restore(saved); }

 private:
  RoundPlayer<double>& player_;
};

/// Returns a function that lends out the players of nodes 1, 2, ...
template <class Player>
Make<RoundPlayer<double>, NodeId> Lend(const std::vector<std::unique_ptr<Player>>& players) {
  return [&players](NodeId node) { return std::make_unique<Borrowed>(*players[node.value - 1]); };
}

struct FedSetting {
  Count horizon = 120;
  Count agents = 3;
  Count dimension = 4;
  Count arms = 12;
  SyncScheduleParams schedule{.sync = Sync::kEvery};
  LocalData local = LocalData::kReleased;
  std::optional<double> epsilon;  ///< no noise if empty
  int threads = 1;
  int gamma = 1;
};

inline RoundContexts ContextsOf(const FedSetting& setting) {
  return RoundContexts::Create({.contexts = RoundLaw::kGap,
                                .dimension = setting.dimension,
                                .actions = setting.arms,
                                .reward = RewardKind::kBernoulli,
                                .agents = setting.agents,
                                .horizon = setting.horizon,
                                .seed = 11})
      .value();
}

inline SyncSchedule ScheduleOf(const FedSetting& setting) {
  SyncScheduleParams params = setting.schedule;
  params.horizon = (setting.horizon + setting.gamma - 1) / setting.gamma;
  params.agents = setting.agents;
  return SyncSchedule::Create(params).value();
}

inline RegressionPrefixSum PrivatizerOf(const FedSetting& setting) {
  const SyncSchedule schedule = ScheduleOf(setting);
  if (!setting.epsilon.has_value()) {
    return RegressionPrefixSum::CreateBare({schedule.releases(), setting.dimension, 1, 1, 1},
                                           Declassify("a test without noise"))
        .value();
  }
  return RegressionPrefixSum::Create({.nominal = {*setting.epsilon, 1e-5},
                                      .calibration = Calibration::kTight,
                                      .sampler = Sampler::kFast,
                                      .mechanism = PrefixSumMechanism::kToeplitz,
                                      .steps = schedule.releases(),
                                      .dimension = setting.dimension,
                                      .context_norm = 1,
                                      .reward_bound = 1,
                                      .reward_weight = 1})
      .value();
}

inline FedUcbWidth WidthOf(const FedSetting& setting, Count silos) {
  return FedUcbWidth::Create({.dimension = setting.dimension,
                              .silos = silos,
                              .releases = ScheduleOf(setting).releases(),
                              .sums = ScheduleOf(setting).releases(),
                              .reward_proxy = 0.5,
                              .failure = 0.05,
                              .noise_spread = std::sqrt(static_cast<double>(silos))})
      .value();
}

inline DpGuarantee BudgetOf(const FedSetting& setting) {
  return {setting.epsilon.value_or(0), setting.epsilon.has_value() ? 1e-5 : 0};
}

/// The result of one run.
struct FedRun {
  std::vector<std::vector<ArmId>> arms;  ///< one list per agent
  std::vector<Checkpoint> checkpoints;
  std::int64_t synchronisations = 0;
};

inline FedRun RunCentral(const FedSetting& setting) {
  using Agent = Spy<FedUcbAgent<RegressionPrefixSum, double>>;
  RoundContexts contexts = ContextsOf(setting);
  const RegressionPrefixSum privatizer = PrivatizerOf(setting);
  const FedUcbWidth width = WidthOf(setting, setting.agents);
  const double first = privatizer.noise() * std::sqrt(static_cast<double>(setting.agents));
  std::vector<std::unique_ptr<Agent>> agents;
  for (Count i = 0; i < setting.agents; ++i) {
    agents.push_back(std::make_unique<Agent>(FedUcbAgentParams{.horizon = setting.horizon,
                                                               .silos = setting.agents,
                                                               .local = setting.local,
                                                               .first_noise = first},
                                             width, privatizer, Declassify("a test")));
  }
  const auto controller = [&](NodeId) {
    return std::make_unique<FedUcbController<RegressionPrefixSum>>(ScheduleOf(setting), width, privatizer);
  };
  const Federation federation{.roles = RoundRoles{.controller = controller, .agent = Lend(agents)},
                              .topology = Topology::Star(setting.agents),
                              .budget = BudgetOf(setting)};
  FedRun run{.checkpoints =
                 Simulate(federation, contexts, {.seed = 11, .threads = setting.threads})->checkpoints};
  run.synchronisations = run.checkpoints.back().rounds;
  for (const auto& agent : agents) run.arms.push_back(agent->arms);
  return run;
}

/// LinUCB as in a textbook, on the records of all agents up to round `known(t)` before round t. While nothing
/// is known, all arms of norm 1 are equal except for rounding; then it plays the arms in `played`.
template <class Known>
std::vector<std::vector<ArmId>> PooledLinUcb(const FedSetting& setting,
                                             const std::vector<std::vector<ArmId>>& played, Known known) {
  const RoundContexts contexts = ContextsOf(setting);
  const auto d = static_cast<Eigen::Index>(setting.dimension);
  std::vector<Matrix> grams{Matrix::Zero(d, d)};  // of all rounds so far, one entry per round
  std::vector<Vector> moments{Vector::Zero(d)};
  std::vector<std::vector<ArmId>> arms(static_cast<std::size_t>(setting.agents));
  DecisionBlock<double> block(1, setting.arms, setting.dimension);
  for (Count t = 1; t <= setting.horizon; ++t) {
    const auto at = static_cast<std::size_t>(known(t));
    const Matrix v = grams[at] + Matrix::Identity(d, d);
    const Matrix inverse = v.inverse();
    const Vector theta = inverse * moments[at];
    const double least = Eigen::SelfAdjointEigenSolver<Matrix>(v).eigenvalues()[0];
    const double level = 0.05 / 2;
    const double radius =
        0.5 * std::sqrt(2 * std::log(1 / level) + std::log(v.determinant())) + 1 / std::sqrt(least);
    Matrix gram = grams.back();
    Vector moment = moments.back();
    for (Count i = 0; i < setting.agents; ++i) {
      contexts.Draw(NodeId{static_cast<std::uint32_t>(i + 1)}, t, block);
      const DecisionSet<double> set = block.set(0);
      ArmId best = 0;
      double highest = -INFINITY;
      for (ArmId arm = 0; arm < setting.arms; ++arm) {
        Vector x(d);
        for (Eigen::Index j = 0; j < d; ++j) x[j] = set.at(arm, j);
        const double score = x.dot(theta) + radius * std::sqrt(x.dot(inverse * x));
        if (score > highest + 1e-12) {
          highest = score;
          best = arm;
        }
      }
      if (at == 0) best = played[static_cast<std::size_t>(i)][static_cast<std::size_t>(t - 1)];
      arms[static_cast<std::size_t>(i)].push_back(best);
      Vector x(d);
      for (Eigen::Index j = 0; j < d; ++j) x[j] = set.at(best, j);
      gram += x * x.transpose();
      moment += contexts.Reward(block, 0, best) * x;
    }
    grams.push_back(gram);
    moments.push_back(moment);
  }
  return arms;
}

/// Returns the number of rounds in which two lists of decisions differ.
inline Count Differences(const std::vector<std::vector<ArmId>>& a, const std::vector<std::vector<ArmId>>& b) {
  Count differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t t = 0; t < a[i].size(); ++t) {
      differences += a[i][t] == b[i][t] ? 0 : 1;
    }
  }
  return differences;
}

}  // namespace bandana
