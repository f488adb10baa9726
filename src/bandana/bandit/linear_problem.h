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
  kSphere,    ///< uniform on the unit sphere
  kOrthant,   ///< its non-negative part, and theta too: all means are in [0, 1]
  kGaussian,  ///< normal, scaled so that the longest has norm 1: lengths differ
};

struct LinearProblemParams {
  Count dimension = 0;
  Count actions = 0;
  ActionLaw law = ActionLaw::kSphere;
  double theta_norm = 1;  ///< in (0, 1]
};

/// Finitely many actions x, |x| <= 1, with mean reward mu(<theta, x>), |theta| <= 1; mu is the identity
/// unless asked otherwise. It knows its own optimum.
class LinearProblem {
 public:
  /// Checks that actions are finite, non-empty, not all zero, and of norm at most 1, theta too.
  static absl::StatusOr<LinearProblem> Create(ActionMatrix actions, Vector theta);

  /// The same for actions that stand for a larger set (a net, a class of policies): regret is against
  /// `optimum`, the set's largest mean, which must not be below that of an action.
  static absl::StatusOr<LinearProblem> Create(ActionMatrix actions, Vector theta, double optimum);

  /// The instance of a replicate: the same for everything that is compared on it.
  static absl::StatusOr<LinearProblem> Draw(const LinearProblemParams& params, std::uint64_t seed,
                                            std::uint32_t replicate);

  /// The actions as given, and theta drawn for the replicate.
  static absl::StatusOr<LinearProblem> DrawTheta(ActionMatrix actions, double theta_norm, std::uint64_t seed,
                                                 std::uint32_t replicate);

  /// The same actions and theta with mean rewards mu(<theta, x>), the optimum too: a generalized linear
  /// problem. Only of a problem whose link is the identity, which it may also stay.
  LinearProblem Through(Link link) &&;

  const ActionMatrix& actions() const { return actions_; }
  const Vector& theta() const { return theta_; }
  Link link() const { return link_; }
  const Vector& means() const { return means_; }
  ArmId best() const { return best_; }  ///< of the actions
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

/// One action a line, numbers separated by commas; empty lines and lines that start with # are skipped.
absl::StatusOr<ActionMatrix> ReadActions(const std::string& path);

}  // namespace bandana
