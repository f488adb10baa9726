#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/bandit/world.h"
#include "bandana/bandit/world_kind.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

template <class P>
class OptionsFor;

enum class RoundLaw {
  kGap,     ///< one arm is better by `gap`, as in P3's experiments
  kSphere,  ///< arms uniform on the unit sphere
  kProbe,   ///< a stream of which an adversary knows all but one record
};

/// The two streams of RoundLaw::kProbe, which are neighbours.
enum class ProbeWorld {
  kA,  ///< the first record of agent 1 is at e_1
  kB,  ///< the first record of agent 1 is at 0
};

enum class Precision { kDouble, kFloat };

/// The fields from `contexts` to `agents` are options of a spec.
struct RoundContextsParams {
  RoundLaw contexts = RoundLaw::kSphere;
  Count dimension = 0;  ///< d; at least 2 with kGap
  Count actions = 0;    ///< K, the arms of one round; at least 2 with kGap
  double gap = 0.1;     ///< in [0, 0.3], with kGap
  ProbeWorld world = ProbeWorld::kA;
  Precision precision = Precision::kDouble;
  double theta_norm = 1;                        ///< the norm of theta, in (0, 1]; kGap draws it instead
  RewardKind reward = RewardKind::kRademacher;  ///< kBernoulli with kGap, kRademacher otherwise
  Count agents = 0;                             ///< M

  /// With kProbe: all records of agent 1 after the first are at probe_level e_1; in [0, 1]. It depends on the
  /// algorithm whose trigger is to be given away: FedUcbProbeLevel computes it.
  std::optional<double> probe_level;

  // Which instance is drawn.
  Count horizon = 0;
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
};

/// Returns the options of the parameters, in the tables "environment" and "federation".
OptionsFor<RoundContextsParams> RoundContextsOptions();

/// Fails unless there is a world with these parameters.
absl::Status CheckRoundContexts(const RoundContextsParams& params);

/// A world in which every agent meets K new arms in every round, and a pull of arm x gives a reward of mean
/// <theta, x>. P3: A. Dubey, A. Pentland, "Differentially-Private Federated Linear Bandits", NeurIPS 2020,
/// Section 4.4.
///
/// kGap: |theta| is uniform on [max(0.8, 0.7 + gap), 1]. One of the K arms, at a random position, has a mean
/// that is uniform on [0.6 + gap, 0.7 + gap]; the means of the others are uniform on [0.5, 0.6]. Given its
/// mean, an arm is uniform on the unit vectors that have this mean. All directions are uniform.
///
/// kProbe: whatever agent 1 does, its record of the first round is at e_1 or at 0, and all later ones are at
/// probe_level e_1. The records of the other agents are at 0. Two such streams that differ only in `world`
/// are neighbours.
///
/// A round is a function of (seed, replicate, agent, round) alone; how rounds are grouped into blocks does
/// not matter. Its distribution is exact except for the single precision of Box and Muller's polar
/// coordinates, which give two entries at a time: 2^-22 in the radius's distribution function, 2^-24 of a
/// turn. All else is in double. Vectors are scaled down by a few units in the last place so that no norm
/// exceeds 1. Sets of float are the sets of double, rounded; the means are those of the double sets.
class RoundContexts final : public RoundWorld {
 public:
  static absl::StatusOr<RoundContexts> Create(const RoundContextsParams& params);

  /// Returns the facts of the world with these parameters, before it is made. They bound the norms of theta
  /// and of contexts by 1, as P3 does, whatever theta_norm is.
  static Facts FactsOf(const RoundContextsParams& params);

  const Facts& facts() const override { return facts_; }
  bool single_precision() const override { return params_.precision == Precision::kFloat; }
  void Fill(NodeId agent, Count first_round, DecisionBlock<double>& block) override;
  void Fill(NodeId agent, Count first_round, DecisionBlock<float>& block) override;
  double Reward(const DecisionBlock<double>& block, NodeId agent, Count at, ArmId arm) override;
  double Reward(const DecisionBlock<float>& block, NodeId agent, Count at, ArmId arm) override;

  const Vector& theta() const { return theta_; }
  const RoundContextsParams& params() const { return params_; }

  /// Draws the rounds first_round, ..., first_round + block.rounds() - 1 of `agent`. The block must have the
  /// same number of arms and dimension. Rounds are below 2^31.
  template <class Scalar>
  void Draw(NodeId agent, Count first_round, DecisionBlock<Scalar>& block) const;

  /// Returns the reward of `arm` in the block's `round`. Every call returns the same.
  template <class Scalar>
  double Reward(const DecisionBlock<Scalar>& block, Count round, ArmId arm) const {
    const double mean = block.means(round)[arm];
    const double uniform = block.uniform(round);
    if (params_.reward == RewardKind::kBernoulli) return uniform < mean ? 1 : 0;
    return 2 * uniform < 1 + mean ? 1 : -1;
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
  Facts facts_;
  Vector theta_;
  double theta_norm_;
  // kGap: v with |v|^2 = 2. The reflection I - v v' maps axis_ e_1 to theta/|theta|.
  Vector mirror_;
  double axis_ = 1;
};

/// The world "contextual-linear" for rounds.
WorldKind RoundContextsKind();

extern template void RoundContexts::Draw(NodeId, Count, DecisionBlock<double>&) const;
extern template void RoundContexts::Draw(NodeId, Count, DecisionBlock<float>&) const;

}  // namespace bandana
