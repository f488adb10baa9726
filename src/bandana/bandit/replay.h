#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/core/generators.h"

namespace bandana {

/// A log as an environment for a learner: L. Li, W. Chu, J. Langford, X. Wang, "Unbiased Offline Evaluation
/// of Contextual-bandit-based News Article Recommendation Algorithms", WSDM 2011, Algorithm 2
/// (PolicyEvaluator, with a finite data stream). Contexts come in the order of the log. If the learner
/// chooses another action than the log has, the round does not count, and the learner must not learn from it.
///
/// Departure: the paper's log is uniform. Here a matching round of pscore p counts with probability c / p,
/// where c is the multiplier. Assume that c is at most every probability p(a | x) > 0 of the logging policy,
/// and that this policy may play all that the learner plays. Then, for any history, context x and learner's
/// distribution pi(. | x), the round counts with probability
///   sum_a pi(a | x) p(a | x) c / p(a | x) = c.
///
/// So contexts that count have the distribution of all contexts, and given x and that the round counts, the
/// action is a with probability pi(a | x). If rounds are independent, the rounds that count are a run of the
/// learner in the real environment. Their number is binomial(n, c), independent of that run (Theorem 1 of the
/// paper, where c = 1/K).
///
/// Without a known c, the smallest pscore of the log is used. This is exact for a uniform log. For other
/// logs, c then depends on the data, and the logging policy may have had smaller probabilities that were not
/// drawn; the distribution is that of the real environment only in the limit of long logs.
class Replay {
 public:
  /// `multiplier` in (0, smallest pscore of the log].
  static absl::StatusOr<Replay> Create(std::shared_ptr<const LoggedData> log,
                                       std::optional<double> multiplier = std::nullopt);

  bool done() const { return offered_ == log_->rounds(); }

  /// Returns the context of the round on offer. Requires !done().
  ContextView context() const { return log_->context(offered_); }

  /// Plays the learner's choice in the round on offer. Returns its reward if the round counts. Moves to the
  /// next round. Uses one word of the coins in every round, so that learners with the same coins see the same
  /// coin in each round.
  std::optional<double> Play(ArmId choice, CoinGen& coin);

  /// Skips the round on offer: it does not count. Uses the coins as Play does.
  void Pass(CoinGen& coin);

  Count offered() const { return offered_; }    ///< rounds that were played or skipped
  Count matched() const { return matched_; }    ///< played rounds in which log and learner agree
  Count accepted() const { return accepted_; }  ///< matched rounds that counted
  double multiplier() const { return multiplier_; }
  const LoggedData& log() const { return *log_; }

 private:
  Replay(std::shared_ptr<const LoggedData> log, double multiplier)
      : log_(std::move(log)), multiplier_(multiplier) {}
  std::shared_ptr<const LoggedData> log_;
  double multiplier_;
  Count offered_ = 0;
  Count matched_ = 0;
  Count accepted_ = 0;
};

}  // namespace bandana
