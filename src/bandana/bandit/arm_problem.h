#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"

namespace bandana {

/// How the means of arms are drawn.
struct ArmDraw {
  Count agents = 0;
  Count arms = 0;
  /// The best arm's mean is above every other by at least this much, up to rounding. In [0, 1]; means on
  /// [0, 1 - gap] are drawn, and the largest is put up by the gap.
  double gap = 0;
  /// How far agents' means are from their average mu, in [0, 1]: heterogeneous * min(mu, 1 - mu) for the
  /// farthest of them.
  double heterogeneous = 0;
  /// Averages over agents, as many as arms (and no gap then). Empty: drawn uniformly.
  std::vector<double> means;
};

/// Arms 0 .. K - 1 whose mean rewards, in [0, 1], may differ between agents 1 .. M. An arm is worth the
/// average of its means over agents: regret is against the best of these global means.
class ArmProblem {
 public:
  static constexpr Count kMostAgents = 1 << 20;
  static constexpr Count kMostArms = 1 << 20;
  static constexpr Count kMostMeans = 1 << 27;  ///< agents times arms, where they differ

  /// M rows of K means, agent after agent. Errors name environment.means or federation.agents.
  static absl::StatusOr<ArmProblem> FromMeans(std::vector<double> means, Count agents);

  /// K means that are everybody's.
  static absl::StatusOr<ArmProblem> Alike(std::vector<double> means, Count agents);

  /// mu_ik = mu_k + heterogeneous min(mu_k, 1 - mu_k) (u_ik - ubar_k)/max_i |u_ik - ubar_k|, u uniform on
  /// [-1, 1], ubar its average over agents; mu_k alone for one agent. All are in [0, 1], and their average is
  /// mu_k. Errors name environment.means, environment.actions, environment.gap, environment.heterogeneous or
  /// federation.agents.
  static absl::StatusOr<ArmProblem> Draw(const ArmDraw& draw, CoinGen& coin);

  Count agents() const { return agents_; }
  Count arms() const { return static_cast<Count>(global_.size()); }
  bool Contains(NodeId agent) const { return agent.value >= 1 && agent.value <= agents_; }
  bool Contains(ArmId arm) const { return arm >= 0 && arm < arms(); }

  double Mean(NodeId agent, ArmId arm) const;
  double GlobalMean(ArmId arm) const { return global_[static_cast<std::size_t>(arm)]; }
  double lowest_mean() const;           ///< of anybody's
  ArmId best() const { return best_; }  ///< the first of equals
  double Gap(ArmId arm) const { return GlobalMean(best_) - GlobalMean(arm); }

  /// The least positive one; 0 if all arms are equal.
  double smallest_gap() const { return smallest_gap_; }

 private:
  ArmProblem(std::vector<double> means, std::size_t row, Count arms, Count agents);
  std::vector<double> means_;
  std::size_t row_;  // length of an agent's row; 0: all have the first
  Count agents_;
  std::vector<double> global_;
  ArmId best_ = 0;
  double smallest_gap_ = 0;
};

}  // namespace bandana
