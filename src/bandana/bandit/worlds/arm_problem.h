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
  /// The best arm's mean exceeds every other by at least this gap, up to rounding. In [0, 1]. Means are drawn
  /// on [0, 1 - gap], and then the largest is raised by the gap.
  double gap = 0;
  /// How much agents' means differ from their average mu, in [0, 1]: the farthest agent is at distance
  /// heterogeneous * min(mu, 1 - mu).
  double heterogeneous = 0;
  /// The averages over agents, one per arm; `gap` does not apply then. Empty: drawn uniformly.
  std::vector<double> means;
};

/// Arms 0 .. K - 1 whose mean rewards, in [0, 1], may differ between agents 1 .. M. An arm's global mean is
/// the average of its means over agents. Regret is measured against the best global mean.
class ArmProblem {
 public:
  static constexpr Count kMostAgents = 1 << 20;
  static constexpr Count kMostArms = 1 << 20;
  static constexpr Count kMostMeans = 1 << 27;  ///< agents times arms, where means differ between agents

  /// Takes M rows of K means, agent after agent. Errors name the field means or agents of MabParams.
  static absl::StatusOr<ArmProblem> FromMeans(std::vector<double> means, Count agents);

  /// Takes K means that are the same for all agents.
  static absl::StatusOr<ArmProblem> Alike(std::vector<double> means, Count agents);

  /// Draws mu_ik = mu_k + heterogeneous min(mu_k, 1 - mu_k) (u_ik - ubar_k)/max_i |u_ik - ubar_k| for agent i
  /// and arm k, where u is uniform on [-1, 1] and ubar is its average over agents. For one agent it is mu_k.
  /// All means are in [0, 1], and their average over agents is mu_k. Errors name a field of MabParams.
  static absl::StatusOr<ArmProblem> Draw(const ArmDraw& draw, CoinGen& coin);

  Count agents() const { return agents_; }
  Count arms() const { return static_cast<Count>(global_.size()); }
  bool Contains(NodeId agent) const { return agent.value >= 1 && agent.value <= agents_; }
  bool Contains(ArmId arm) const { return arm >= 0 && arm < arms(); }

  double Mean(NodeId agent, ArmId arm) const;
  double GlobalMean(ArmId arm) const { return global_[static_cast<std::size_t>(arm)]; }
  bool agents_differ() const { return row_ > 0 && agents_ > 1; }  ///< means may differ between agents
  double lowest_mean() const;                                     ///< over all agents and arms
  ArmId best() const { return best_; }                            ///< the first if several are equal
  double Gap(ArmId arm) const { return GlobalMean(best_) - GlobalMean(arm); }

  /// Returns the smallest positive gap; 0 if all arms are equal.
  double smallest_gap() const { return smallest_gap_; }

 private:
  ArmProblem(std::vector<double> means, std::size_t row, Count arms, Count agents);
  std::vector<double> means_;
  std::size_t row_;  // length of an agent's row; 0: all agents share the first row
  Count agents_;
  std::vector<double> global_;
  ArmId best_ = 0;
  double smallest_gap_ = 0;
};

}  // namespace bandana
