#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/bandit/auto_lending.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/world.h"
#include "bandana/bandit/world_kind.h"
#include "bandana/core/options.h"

/// Worlds whose users come from data.
namespace bandana {

enum class ReplayLog {
  /// A file with the columns of the Open Bandit Pipeline (bandit/logged_data.h). Its rounds count where the
  /// learner chooses the logged action (bandit/worlds/logged_rounds.h). Regret is not known.
  kOpenBandit,
  /// Applicants for car loans, drawn from a file or from its synthetic twin, who are offered one of K prices
  /// (bandit/worlds/lending_rounds.h). A logistic regression of the file's outcomes is the truth, so regret
  /// is known.
  kAutoLending,
};

enum class LogEvaluation {
  kReplay,        ///< the value is what the learner earned in rounds that counted
  kDoublyRobust,  ///< the learner plays the first half, and its greedy policy is evaluated on the other
};

struct ReplayUsersParams {
  ReplayLog log = ReplayLog::kOpenBandit;
  Link link = Link::kLogistic;              ///< that learners assume
  std::optional<ParameterKind> parameters;  ///< empty: kMulti for kOpenBandit, kSingle for kAutoLending
  std::string file;                         ///< kAutoLending: empty for the synthetic twin
  std::string action_context;               ///< kOpenBandit: a file with the actions' features, or empty
  std::string ignore;                       ///< kOpenBandit: other columns of the files, with commas between
  LogEvaluation evaluation = LogEvaluation::kReplay;  ///< kOpenBandit
  LendingReward payoff = LendingReward::kAcceptance;  ///< kAutoLending
  Count loans = 20'000;                               ///< kAutoLending: applications in the synthetic twin
  std::optional<Count> actions;         ///< K; wanted for kOpenBandit; empty for kAutoLending: 25 prices
  std::optional<double> theta_bound;    ///< empty: 1 for kOpenBandit, |theta| of the truth for kAutoLending
  std::optional<double> reward_bound;   ///< empty: 1; 5 with the poisson link
  std::optional<double> context_bound;  ///< empty: 1
};

/// The options of the parameters in table "environment".
OptionsFor<ReplayUsersParams> ReplayUsersOptions();

/// Reads the files, and declares what is public of the world.
absl::StatusOr<std::unique_ptr<UserWorld>> MakeReplayUsers(const ReplayUsersParams& params,
                                                           const WorldDraw& draw);

/// The world "replay" for users.
WorldKind ReplayUsersKind();

}  // namespace bandana
