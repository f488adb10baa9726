#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/link.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

enum class ActionLaw {
  kSphere,  ///< uniform on the unit sphere
  /// The non-negative part of the sphere, for theta too: all means are in [0, 1].
  kOrthant,
  kGaussian,  ///< normal, scaled so that the longest action has norm 1
};

struct LinearProblemParams {
  Count dimension = 0;
  Count actions = 0;
  ActionLaw law = ActionLaw::kSphere;
  double theta_norm = 1;  ///< the norm of theta, in (0, 1]
};

/// Finitely many actions x, |x| <= 1, with mean reward mu(<theta, x>), |theta| <= 1. The link mu is the
/// identity unless Through sets another. The problem knows its own optimum.
class LinearProblem {
 public:
  /// Fails unless the actions are finite, non-empty, not all zero, and of norm at most 1; theta too.
  static absl::StatusOr<LinearProblem> Create(ActionMatrix actions, Vector theta);

  /// Takes actions that represent a larger set (a net, a class of policies). Regret is measured against
  /// `optimum`, the largest mean of that set, which must not be below the mean of any action.
  static absl::StatusOr<LinearProblem> Create(ActionMatrix actions, Vector theta, double optimum);

  /// Draws the instance of a replicate: all learners that are compared on it meet the same one.
  static absl::StatusOr<LinearProblem> Draw(const LinearProblemParams& params, std::uint64_t seed,
                                            std::uint32_t replicate);

  /// Takes the actions as given, and draws theta for the replicate.
  static absl::StatusOr<LinearProblem> DrawTheta(ActionMatrix actions, double theta_norm, std::uint64_t seed,
                                                 std::uint32_t replicate);

  /// Returns the problem with mean rewards mu(<theta, x>), for the optimum too: a generalized linear problem.
  /// The link of this problem must be the identity; `link` may be the identity.
  LinearProblem Through(Link link) &&;

  const ActionMatrix& actions() const { return actions_; }
  const Vector& theta() const { return theta_; }
  Link link() const { return link_; }
  const Vector& means() const { return means_; }
  ArmId best() const { return best_; }  ///< the best of the actions
  double optimum() const { return optimum_; }
  double Gap(ArmId arm) const { return optimum_ - means_[arm]; }

 private:
  LinearProblem(ActionMatrix actions, Vector theta);
  ActionMatrix actions_;
  Vector theta_;
  Link link_ = Link::kIdentity;
  Vector means_;
  ArmId best_;
  double optimum_;
};

/// Reads one action per line, numbers separated by commas. Empty lines and lines that start with # are
/// skipped.
absl::StatusOr<ActionMatrix> ReadActions(const std::string& path);

}  // namespace bandana
