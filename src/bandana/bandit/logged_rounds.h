#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/bandit/replay.h"
#include "bandana/bandit/user_rounds.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// What a learner with one or many parameters sees of a logged round, scaled by a bound that is public: a
/// number that does not come out of the log, or it would say something about the people in it.
///   multi    x = context / bound, for all actions; a theta for each
///   single   phi_a = vec(context action_context_a') / bound, row by row: d times p numbers; one theta
/// Norms may exceed 1 if the bound is not one: mechanisms clip, and count it.
class LoggedFeatures {
 public:
  /// kSingle takes a log with action_contexts. bound: finite, > 0. Errors name environment.parameters and
  /// environment.context_bound.
  static absl::StatusOr<LoggedFeatures> Create(const LoggedData& log, ParameterKind parameters, double bound);

  Count dimension() const { return dimension_; }
  bool multi() const { return multi_; }

  /// Of all actions: K x dimension(), or 1 x dimension() if multi.
  void Write(const ContextView& context, ActionMatrix& features) const;

  /// scores[a] = <features of a, theta or theta_a>.
  static void Scores(const ActionMatrix& features, bool multi, std::span<const double> thetas,
                     std::span<double> scores);

 private:
  LoggedFeatures() = default;
  ActionMatrix action_contexts_;  // single
  Count dimension_ = 0;
  double scale_ = 1;
  bool multi_ = true;
};

/// A log as a world with one user a round, by rejection (bandit/replay.h): a round counts if the learner
/// chooses what the log has and a coin falls for it. Gaps are NaN: nobody knows what else would have come.
class LoggedRounds {
 public:
  static constexpr bool kFull = true;

  /// Coins are those of Stream::kReward of (seed, replicate).
  LoggedRounds(Replay replay, LoggedFeatures features, std::uint64_t seed, std::uint32_t replicate);

  Count dimension() const { return features_.dimension(); }
  Count arms() const { return replay_.log().num_actions(); }
  bool multi() const { return features_.multi(); }
  const Replay& replay() const { return replay_; }

  bool Next();
  const ActionMatrix& Contexts() const { return contexts_; }
  void Scores(std::span<const double> thetas, std::span<double> scores) const {
    LoggedFeatures::Scores(contexts_, multi(), thetas, scores);
  }
  std::span<const double> Context(ArmId arm) const {
    const Eigen::Index row = multi() ? 0 : arm;
    return {contexts_.data() + row * contexts_.cols(), static_cast<std::size_t>(contexts_.cols())};
  }
  /// Of one arm a round: asking for it is playing it.
  std::optional<double> Reward(ArmId arm);
  static double Gap(ArmId /*arm*/) { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  Replay replay_;
  LoggedFeatures features_;
  PhiloxSource bits_;
  CoinGen coin_;
  ActionMatrix contexts_;
  bool on_offer_ = false;  // the replay's round is the one that is on
  ArmId played_ = -1;
  std::optional<double> reward_;
};

static_assert(UserWorld<LoggedRounds>);

}  // namespace bandana
