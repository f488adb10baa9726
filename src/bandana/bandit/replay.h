#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/core/generators.h"

namespace bandana {

/// A log as a world for a learner: L. Li, W. Chu, J. Langford, X. Wang, "Unbiased Offline Evaluation of
/// Contextual-bandit-based News Article Recommendation Algorithms", WSDM 2011, Algorithm 2 (PolicyEvaluator,
/// with a finite data stream). Contexts come in the order of the log. A round in which the learner chooses
/// another action than the log has does not count, and the learner must not learn from it.
///
/// Departure: the paper's log is uniform. Here a matching round of pscore p counts with probability c / p, c
/// the multiplier. If c is at most every probability p(a | x) > 0 of the logging policy and that policy may
/// play all that the learner does, then whatever came before and whatever the context x and the learner's law
/// pi(. | x), the round counts with probability
///   sum_a pi(a | x) p(a | x) c / p(a | x) = c,
/// so that contexts that count have the law of all contexts, and given x and that it counts the action is a
/// with probability pi(a | x). With independent rounds, what counts is a run of the learner in the world
/// itself; the number of rounds is binomial(n, c), independent of it (Theorem 1 of the paper, where c = 1/K).
///
/// Without a known c the smallest pscore of the log is taken: exact for a uniform log. Otherwise c then hangs
/// on the data, the logging policy may have had smaller probabilities that were not drawn, and the law is
/// that of the world in the limit of long logs only.
class Replay {
 public:
  /// `multiplier` in (0, smallest pscore of the log].
  static absl::StatusOr<Replay> Create(std::shared_ptr<const LoggedData> log,
                                       std::optional<double> multiplier = std::nullopt);

  bool done() const { return offered_ == log_->rounds(); }

  /// Of the round on offer, unless done().
  ContextView context() const { return log_->context(offered_); }

  /// The learner's choice in the round on offer; its reward if the round counts. Then the next one is on
  /// offer. Uses one word of the coins in every round, so that learners with the same coins see the same ones
  /// fall.
  std::optional<double> Play(ArmId choice, CoinGen& coin);

  /// Nobody chooses: the round on offer does not count. The same use of coins.
  void Pass(CoinGen& coin);

  Count offered() const { return offered_; }    ///< rounds that were played
  Count matched() const { return matched_; }    ///< of these, where log and learner agree
  Count accepted() const { return accepted_; }  ///< of these, that counted
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
