#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

enum class RoundLaw {
  kGap,     ///< one arm stands out by `gap`, as in P3's experiments
  kSphere,  ///< arms uniform on the unit sphere
  kProbe,   ///< a stream that an adversary knows up to one record
};

struct RoundContextsParams {
  Count dimension = 0;  ///< d; at least 2 with kGap
  Count arms = 0;       ///< K; at least 2 with kGap
  RoundLaw law = RoundLaw::kGap;
  double gap = 0;                              ///< in [0, 0.3], with kGap
  double theta_norm = 1;                       ///< in (0, 1]; kGap draws it
  double probe_level = 0;                      ///< s in [0, 1], with kProbe
  double probe_first = 0;                      ///< in [0, 1], with kProbe
  RewardKind reward = RewardKind::kBernoulli;  ///< or kRademacher
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
};

/// Where every agent meets K new arms in every round, and a pull of arm x gives a reward of mean <theta, x>.
/// P3: A. Dubey, A. Pentland, "Differentially-Private Federated Linear Bandits", NeurIPS 2020, Section 4.4.
///
/// kGap: |theta| is uniform on [max(0.8, 0.7 + gap), 1]; of the K arms one, anywhere, has a mean uniform on
/// [0.6 + gap, 0.7 + gap], the others on [0.5, 0.6]; given its mean, an arm is uniform on the unit vectors
/// that have it. All directions are uniform.
///
/// kProbe: whatever agent 1 does, its record of the first round is at probe_first e_1 and all later ones are
/// at probe_level e_1; the other agents' are at 0. Two such streams that differ in probe_first are
/// neighbours.
///
/// A round is a function of (seed, replicate, agent, round) alone, however rounds are drawn in blocks. Its
/// law is exact but for single precision in Box and Muller's polar coordinates, of which every two entries
/// have a pair: 2^-22 in the radius's distribution function, 2^-24 of a turn. All else is in double. Vectors
/// are scaled by a few units in the last place so that no norm exceeds 1. Sets of float are those of double,
/// rounded; means are the latter's.
class RoundContexts {
 public:
  static absl::StatusOr<RoundContexts> Create(const RoundContextsParams& params);

  const Vector& theta() const { return theta_; }
  const RoundContextsParams& params() const { return params_; }

  /// Rounds `first_round`, ..., first_round + block.rounds() - 1 of `agent`. The block must be of as many
  /// arms and dimensions. Rounds are below 2^31.
  template <class Scalar>
  void Draw(NodeId agent, Count first_round, DecisionBlock<Scalar>& block) const;

  /// What a pull of `arm` gives in the block's `round`: the same at every call.
  template <class Scalar>
  double Reward(const DecisionBlock<Scalar>& block, Count round, ArmId arm) const {
    const double mean = block.means(round)[arm];
    const double uniform = block.uniform(round);
    if (params_.reward == RewardKind::kBernoulli) return uniform < mean ? 1 : 0;
    return 2 * uniform < 1 + mean ? 1 : -1;
  }

  template <class Scalar>
  static double Gap(const DecisionBlock<Scalar>& block, Count round, ArmId arm) {
    return block.Gap(round, arm);
  }

 private:
  RoundContexts(const RoundContextsParams& params, Vector theta);

  template <class Scalar>
  void DrawGapRound(const std::uint64_t* words, Count round, DecisionBlock<Scalar>& block) const;
  template <class Scalar>
  void DrawSphereRound(const std::uint64_t* words, Count round, DecisionBlock<Scalar>& block) const;
  template <class Scalar>
  void DrawProbeRound(const std::uint64_t* words, double length, Count round,
                      DecisionBlock<Scalar>& block) const;

  RoundContextsParams params_;
  Vector theta_;
  double theta_norm_;
  Vector mirror_;  // kGap: v, |v|^2 = 2, whose reflection I - v v' takes `axis_` e_1 to theta/|theta|
  double axis_ = 1;
};

extern template void RoundContexts::Draw(NodeId, Count, DecisionBlock<double>&) const;
extern template void RoundContexts::Draw(NodeId, Count, DecisionBlock<float>&) const;

}  // namespace bandana
