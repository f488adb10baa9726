#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

using ContextView = Eigen::Map<const Vector>;

/// Rounds that another policy, the logging policy, has played. Each round has a context, the action that the
/// logging policy drew, the probability with which it drew it, and the reward of that action alone. Fields
/// are named as in the Open Bandit Pipeline (Y. Saito, S. Aihara, M. Matsutani, Y. Narita, "Open Bandit
/// Dataset and Pipeline", NeurIPS Datasets and Benchmarks 2021). The code that uses a log (bandit/replay.h,
/// bandit/off_policy.h) assumes that rounds are independent given the logging policy, and that pscore is its
/// true probability.
class LoggedData {
 public:
  struct Params {
    Count num_actions = 0;         ///< K >= 1
    Count dimension = 0;           ///< d >= 1
    std::vector<double> contexts;  ///< d numbers per round, round by round
    std::vector<ArmId> actions;    ///< in 0, ..., K - 1
    std::vector<double> rewards;
    std::vector<double> pscores;   ///< in (0, 1]
    ActionMatrix action_contexts;  ///< K rows, or none
  };
  /// Fails unless there is at least one round, all numbers are finite, and all fields have the same number of
  /// rounds.
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

  /// Returns rounds first, ..., last - 1, at least one. The set of actions stays the same, even if some are
  /// not played.
  LoggedData Part(Count first, Count last) const;

  /// Returns the features of the actions, one per row; no rows if none were given.
  const ActionMatrix& action_contexts() const { return params_.action_contexts; }

 private:
  explicit LoggedData(Params params);
  Params params_;
  double smallest_pscore_;
};

struct LoggedDataOptions {
  Count num_actions = 0;             ///< K; 0: the number of rows in action_context
  std::string action_context;        ///< a file with the actions' features, one action per row; empty: none
  std::vector<std::string> ignored;  ///< other columns that the file may have
};

/// Reads CSV with a header and columns in any order: context_0, ..., context_{d-1} (or x0, ..., x{d-1}),
/// action, reward, pscore, and optionally position, which must be the same in all rounds. A second file has
/// the actions' features under action_context_0, ... (or x0, ...), and optionally a column `action` that
/// counts from 0; without that column the rows are in order. Fails if there is any other column that
/// `ignored` does not name, a number that is not finite, a pscore outside (0, 1], an action out of range,
/// lines of different lengths, or no round. Errors name the file, line, column, value and what is accepted.
absl::StatusOr<LoggedData> ReadLoggedData(const std::string& path, const LoggedDataOptions& options);

}  // namespace bandana
