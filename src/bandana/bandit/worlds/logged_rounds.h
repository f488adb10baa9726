#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/bandit/policy_value.h"
#include "bandana/bandit/replay.h"
#include "bandana/bandit/world.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// The features of a logged round for a learner with one or many parameters. They are scaled by a public
/// bound. The bound must not be computed from the log, or it would reveal something about the people in it.
///   multi    x = context / bound, the same for all actions; one theta for each action
///   single   phi_a = vec(context action_context_a') / bound, row by row: d times p numbers; one theta
///
/// Norms exceed 1 if the bound is too small. Mechanisms then clip, and count it.
class LoggedFeatures {
 public:
  /// kSingle needs a log with action_contexts. bound: finite, > 0. Errors name `parameters` and
  /// `context_bound`.
  static absl::StatusOr<LoggedFeatures> Create(const LoggedData& log, ParameterKind parameters, double bound);

  Count dimension() const { return dimension_; }
  bool multi() const { return multi_; }

  /// Writes the features of all actions: K x dimension(), or 1 x dimension() if multi.
  void Write(const ContextView& context, ActionMatrix& features) const;

  /// Computes scores[a] = <features of a, theta>, or <features, theta_a> if multi.
  static void Scores(const ActionMatrix& features, bool multi, std::span<const double> thetas,
                     std::span<double> scores);

 private:
  LoggedFeatures() = default;
  ActionMatrix action_contexts_;  // used if single
  Count dimension_ = 0;
  double scale_ = 1;
  bool multi_ = true;
};

/// A log as a world with one user per round, by rejection (bandit/replay.h): a round counts if the learner
/// chooses the logged action and a coin accepts it. Gaps are NaN, because the rewards of other actions are
/// unknown.
class LoggedRounds final : public UserWorld {
 public:
  /// Uses the coins of Stream::kReward of (seed, replicate). `held_out`, if there is one, is another part of
  /// the log, on which policies are evaluated.
  LoggedRounds(Replay replay, LoggedFeatures features, std::uint64_t seed, std::uint32_t replicate,
               Facts facts = {}, std::shared_ptr<const LoggedData> held_out = nullptr);

  Count dimension() const { return features_.dimension(); }
  Count arms() const { return replay_.log().num_actions(); }
  bool multi() const { return features_.multi(); }
  const Replay& replay() const { return replay_; }

  const Facts& facts() const override { return facts_; }
  bool Next() override;
  const ActionMatrix& Contexts() override { return contexts_; }
  void Scores(std::span<const double> thetas, std::span<double> scores) override {
    LoggedFeatures::Scores(contexts_, multi(), thetas, scores);
  }
  std::span<const double> Context(ArmId arm) override {
    const Eigen::Index row = multi() ? 0 : arm;
    return {contexts_.data() + row * contexts_.cols(), static_cast<std::size_t>(contexts_.cols())};
  }
  /// May be called for one arm per round: calling it plays the arm.
  std::optional<double> Reward(ArmId arm) override;

  /// Adds value, value_low and value_high: the mean reward of rounds that counted; or, with a held-out part,
  /// the doubly robust estimate of what the greedy policy earns there. Adds offered and matched, which count
  /// rounds.
  absl::Status Measure(GreedyPolicy greedy, std::map<std::string, double>& series) override;

 private:
  absl::Status Evaluate(GreedyPolicy greedy);

  Replay replay_;
  LoggedFeatures features_;
  Facts facts_;
  std::shared_ptr<const LoggedData> held_out_;
  PhiloxSource bits_;
  CoinGen coin_;
  ActionMatrix contexts_;
  bool on_offer_ = false;  // whether the replay's round is the current one
  ArmId played_ = -1;
  std::optional<double> reward_;
  EarnedRewards earned_;
  PolicyValue greedy_value_{0, 0, 0};  // on the held-out part
  Count evaluated_ = -1;               // rounds that had counted when it was computed
};

}  // namespace bandana
