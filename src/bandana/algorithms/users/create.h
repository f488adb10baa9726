#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/sgd_steps.h"
#include "bandana/bandit/world.h"
#include "bandana/core/ids.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/privacy_options.h"

/// The algorithms for a new user in every round: parameters, and functions that assemble a federation.
/// Defaults of `step`, `delay`, `bonus` and `gram_shift` were found by `bandana reproduce p5-tuning`.
///
/// Fields that several of them have:
///   gram_shift       how much is added to the diagonal of a noisy Gram matrix, in units of the largest
///                    eigenvalue of its noise; empty: as in P5, Theorem 3.1
///   lazy             estimates are solved for again when the number of messages has grown by this share
///   reward_weight    weight of the reward beside the context in one release
///   warm_up          s_0, how often each arm is played before contexts decide, if every arm has its
///                    own theta; empty: 2 T^(2/3) / K, but at most a tenth of the horizon in all
///   elimination_gap  h: after the warm-up, arms that are more than h/2 below the best are not played
namespace bandana {

/// LDP-SGD (ldp_sgd.h).
struct LdpSgdParams {
  double step = 3;
  SgdSteps steps = SgdSteps::kPulls;
  double delay = 1;
  SgdProjection projection = SgdProjection::kBall;
  std::optional<double> average;
  std::optional<Count> warm_up;
  double elimination_gap = 1;
  L2BallRandomizer randomizer = L2BallRandomizer::kPrivUnit;
};

/// LDP-OLS (ldp_ols.h).
struct LdpOlsParams {
  std::optional<double> gram_shift = 2;
  double lazy = 0.001;
  double reward_weight = 1;
  std::optional<Count> warm_up;
  double elimination_gap = 1;
};

/// LDP-UCB (ldp_ucb.h).
struct LdpUcbParams {
  std::optional<double> gram_shift;
  double bonus = 0.003;
  double lazy = 0.001;
  double reward_weight = 1;
  std::optional<Count> warm_up;
};

/// LDP-GLOC (ldp_gloc.h).
struct LdpGlocParams {
  double step = 0.3;
  std::optional<double> gram_shift;
  double bonus = 1;
  double lazy = 0.001;
  double reward_weight = 1;
  std::optional<Count> warm_up;
};

/// Thompson sampling (thompson_sampling.h).
struct ThompsonSamplingParams {
  double spread = 1;
  double lazy = 0.001;
  std::optional<Count> warm_up;
};

/// LinUCB where every user has a context: LDP-UCB without noise (ldp_ucb.h).
struct ContextLinUcbParams {
  double bonus = 1;
  double lazy = 0.001;
  std::optional<Count> warm_up;
};

/// The first four take TrustModel::kNone and kLocal, the last two only kNone.
absl::StatusOr<Federation> CreateLdpSgd(const LdpSgdParams& params, const Privacy& privacy,
                                        const Facts& facts);
absl::StatusOr<Federation> CreateLdpOls(const LdpOlsParams& params, const Privacy& privacy,
                                        const Facts& facts);
absl::StatusOr<Federation> CreateLdpUcb(const LdpUcbParams& params, const Privacy& privacy,
                                        const Facts& facts);
absl::StatusOr<Federation> CreateLdpGloc(const LdpGlocParams& params, const Privacy& privacy,
                                         const Facts& facts);
absl::StatusOr<Federation> CreateThompsonSampling(const ThompsonSamplingParams& params,
                                                  const Privacy& privacy, const Facts& facts);
absl::StatusOr<Federation> CreateContextLinUcb(const ContextLinUcbParams& params, const Privacy& privacy,
                                               const Facts& facts);

}  // namespace bandana
