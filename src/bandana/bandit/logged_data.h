#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

using ContextView = Eigen::Map<const Vector>;

/// Rounds that somebody else played: in each a context, the action that the logging policy drew, with which
/// probability it drew it, and the reward of that action alone. Fields are named as in the Open Bandit
/// Pipeline (Y. Saito, S. Aihara, M. Matsutani, Y. Narita, "Open Bandit Dataset and Pipeline", NeurIPS
/// Datasets and Benchmarks 2021). What uses a log (bandit/replay.h, bandit/off_policy.h) takes rounds to be
/// independent given the logging policy, and pscore to be the probability that it truly had.
class LoggedData {
 public:
  struct Params {
    Count num_actions = 0;         ///< K >= 1
    Count dimension = 0;           ///< d >= 1
    std::vector<double> contexts;  ///< d numbers a round, round by round
    std::vector<ArmId> actions;    ///< in 0, ..., K - 1
    std::vector<double> rewards;
    std::vector<double> pscores;   ///< in (0, 1]
    ActionMatrix action_contexts;  ///< K rows, or none
  };
  /// At least one round; finite numbers; as many of everything as there are rounds.
  static absl::StatusOr<LoggedData> Create(Params params);

  Count rounds() const { return static_cast<Count>(params_.actions.size()); }
  Count num_actions() const { return params_.num_actions; }
  Count dimension() const { return params_.dimension; }

  ContextView context(Count round) const {
    return {params_.contexts.data() + round * params_.dimension, params_.dimension};
  }
  ArmId action(Count round) const { return params_.actions[static_cast<std::size_t>(round)]; }
  double reward(Count round) const { return params_.rewards[static_cast<std::size_t>(round)]; }
  double pscore(Count round) const { return params_.pscores[static_cast<std::size_t>(round)]; }
  double smallest_pscore() const { return smallest_pscore_; }

  /// Rounds first, ..., last - 1: at least one of them. Of the same actions, played or not.
  LoggedData Part(Count first, Count last) const;

  /// Features of the actions, one a row; no rows if none were given.
  const ActionMatrix& action_contexts() const { return params_.action_contexts; }

 private:
  explicit LoggedData(Params params);
  Params params_;
  double smallest_pscore_;
};

struct LoggedDataOptions {
  Count num_actions = 0;             ///< K; 0: as many as action_context has rows
  std::string action_context;        ///< file of the actions' features, one action a row; empty: none
  std::vector<std::string> ignored;  ///< further columns that the file may have
};

/// Reads CSV with a header, columns in any order: context_0, ..., context_{d-1} (or x0, ..., x{d-1}), action,
/// reward, pscore, and maybe position, which must be the same in all rounds. A second file has the actions'
/// features under action_context_0, ... (or x0, ...) and maybe a column `action` that counts from 0; without
/// it rows are in order. Any other column that `ignored` does not name is an error. So are numbers that are
/// not finite, a pscore outside (0, 1], an action that is none, lines of different lengths and a file without
/// rounds; errors name file, line, column, value and what is accepted.
absl::StatusOr<LoggedData> ReadLoggedData(const std::string& path, const LoggedDataOptions& options);

}  // namespace bandana
