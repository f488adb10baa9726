#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/sgd_steps.h"
#include "bandana/algorithms/users/user_policy.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/core/archive.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/status.h"
#include "bandana/federation/observations.h"
#include "bandana/federation/release.h"
#include "bandana/privacy/local_gradient.h"

/// LDP-SGD: P5, Algorithms 1 and 2 with equations (5) and (6). A user sends the gradient
/// (mu(<x, theta>) - r) x of its loss through the l2-ball mechanism. The server steps by it and projects
/// theta onto its ball. Without the projection one large first step can cost the whole run.
///   paper            here
///   theta^_t         iterate
///   zeta             least_slope
///   eta_t            step d / (zeta (n + n_0)), with n = t if all arms share one theta
///   kappa_l, p_*, c' parts of step
///
/// Departures:
/// - With K thetas, n is the number of the arm's pulls in the warm-up. After it n = t/K, the average number
///   of pulls of an arm. The paper's steps (SgdSteps::kPaper) become up to K times smaller than that: there
///   n = t - (K - 1) s_0 (Theorem 4.1). In the warm-up the theorem prints (t mod K) + 1 for n, which is the
///   number of the arm and never grows. We take floor(t / K) + 1.
/// - The paper's experiments in d = 20 have steps that fall as 1/sqrt(n) (SgdSteps::kRoot).
/// - n_0 = 0 in the paper. Then theta jumps about its ball for some (step d l / zeta)^2 rounds, where l is
///   the size of a message's noise, and users choose badly meanwhile. Here n_0 is `delay` times that.
/// - The paper does not project theta (SgdProjection::kNone). Predictions are clipped to their range even
///   then: the gradient of a longer theta would have no bound.
/// - If `average` is given, users choose by a mean of the iterates with weights that grow as n^average
///   (O. Shamir, T. Zhang, "Stochastic Gradient Descent for Non-smooth Optimization", ICML 2013, Section 4).
///   This reaches the best rate with the same step.
namespace bandana {

struct LdpSgdRules {
  UserModelShape shape;
  MeanFunction mean;
  double theta_norm = 1;  ///< the public radius of theta's ball
  double least_slope = 1;
  double step = 0;
  SgdSteps steps = SgdSteps::kPulls;
  double delay = 0;
  SgdProjection projection = SgdProjection::kBall;
  std::optional<double> average;  ///< empty: users choose by the last iterate, as in the paper
};

class LdpSgd final {
 public:
  static constexpr bool kLooksAtContexts = false;

  static absl::StatusOr<LdpSgd> Create(const LdpSgdRules& rules, const LocalGradient& gradient);

  struct Device {
    std::vector<double> scores;
    LocalMessage message;
    Count eliminated = 0;  // arms that equation (7) has left out, over all users: for simulations alone
  };
  Device MakeDevice() const { return {}; }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    return policy_.Choose(world, device.scores, device.eliminated);
  }

  template <class User>
  absl::StatusOr<Count> Report(User& user, ArmId arm, const Raw<LocalRecord>& record, Device& device) const {
    const double* theta = IterateOf(rules_.shape.multi ? arm : 0).data();
    const auto predict = [&](std::span<const double> x) {
      return rules_.mean(Dot(x.data(), theta, rules_.shape.dimension));
    };
    const GradientQuestion question{record, predict, policy_.public_arm()};
    BANDANA_RETURN_IF_ERROR(Release::FromUser(user, gradient_, question, device.message));
    return 1;
  }

  void Learn(const LocalMessage& message, Count users);

  template <class World>
  ArmId Greedy(World& world) const {
    return policy_.Greedy(world);
  }

  Count RealsSent(Count users) const { return slot_reals() * rules_.shape.SlotsSent(users); }
  void Describe(Observations& observations) const {
    observations.numbers["unsolved"] = 0;  // it solves no equations
  }

  const UserPolicy& policy() const { return policy_; }
  const LocalGradient& mechanism() const { return gradient_; }
  Count slot_reals() const { return rules_.shape.dimension; }

  template <class Archive>
  void State(Archive& archive) {
    archive(policy_, iterate_);
    archive.Check(iterate_.size() == policy_.thetas().size(), "it has the wrong number of parameters");
  }
  std::string Save() const { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) { return RestoreState(saved, *this); }

 private:
  LdpSgd(const LdpSgdRules& rules, const LocalGradient& gradient);
  std::span<const double> IterateOf(Count slot) const {
    const auto dimension = static_cast<std::size_t>(rules_.shape.dimension);
    return std::span(iterate_).subspan(static_cast<std::size_t>(slot) * dimension, dimension);
  }
  /// Steps in one slot. `n` determines the length of the step, `messages` the weight of the new iterate in
  /// the mean.
  void Step(Count slot, std::span<const double> gradient, double n, double messages);

  LdpSgdRules rules_;
  LocalGradient gradient_;
  double delay_;  // n_0
  UserPolicy policy_;
  std::vector<double> iterate_;  // where gradients are taken; policy_ has the means of iterates, or a copy
};

}  // namespace bandana
