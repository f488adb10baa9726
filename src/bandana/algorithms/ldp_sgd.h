#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/user_frame.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/core/archive.h"
#include "bandana/core/generators.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/savable.h"
#include "bandana/privacy/local_gradient.h"

/// LDP-SGD: P5, Algorithms 1 and 2 with equations (5) and (6).
/// Y. Han, Z. Liang, Y. Wang, J. Zhang, "Generalized Linear Bandits with Local Differential Privacy",
/// NeurIPS 2021.
///
/// A user sends the gradient (mu(<x, theta>) - r) x of its loss through the l2-ball mechanism. The server
/// steps by it and projects theta onto its ball: without that one large first step can cost the whole run.
///   paper            here
///   eta_t            step d / (zeta (n + n_0)), n = t; with K thetas n is an arm's pulls in the warm-up and
///                    t/K after it, as many as an arm has on average: the paper's, t - (K-1) s_0 over K,
///                    tends to K times that, and to smaller steps.
///                    n_0 = 0 in the paper. Then theta jumps about its ball for some (step d l / zeta)^2
///                    rounds, l the size of a message's noise, and its users with it; n_0 is `delay` times
///                    that
///   kappa_l, p_*, c' all in step
///   zeta             least_slope
///   theta^_t         iterate; `average` 0 and more: users choose by a mean of the iterates with weights that
///                    grow as n^average (O. Shamir, T. Zhang, "Stochastic Gradient Descent for Non-smooth
///                    Optimization", ICML 2013, Section 4), which needs no other step for the best rate
namespace bandana {

struct LdpSgdParams {
  UserFrame frame;
  MeanFunction mean;
  double theta_norm = 1;  ///< radius of theta's ball, public
  double least_slope = 1;
  double step = 0;
  double delay = 0;
  std::optional<double> average;  ///< nothing: users choose by the last iterate, as printed
};

class LdpSgd final : public Savable {
 public:
  static absl::StatusOr<LdpSgd> Create(const LdpSgdParams& params, const LocalGradient& gradient);

  struct Device {
    std::vector<double> scores;
    LocalMessage message;
  };
  Device MakeDevice() const { return {}; }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    return policy_.Choose(world, device.scores);
  }

  Count Report(ArmId arm, const Raw<LocalRecord>& record, NoiseGen& noise, Device& device,
               RangeCounts* counts) const {
    const double* theta = IterateOf(params_.frame.multi ? arm : 0).data();
    const auto predict = [&](std::span<const double> x) {
      return params_.mean(Dot(x.data(), theta, params_.frame.dimension));
    };
    if (policy_.warming_up()) {
      gradient_.RandomizePublic(record, predict, noise, device.message, counts);
    } else {
      gradient_.Randomize(record, predict, noise, device.message, counts);
    }
    return 1;
  }

  void Learn(const LocalMessage& message, Count users);

  const UserPolicy& policy() const { return policy_; }
  Count slot_reals() const { return params_.frame.dimension; }

  template <class Archive>
  void State(Archive& archive) {
    archive(policy_, iterate_);
    archive.Check(iterate_.size() == policy_.thetas().size(), "parameters of another number");
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

 private:
  LdpSgd(const LdpSgdParams& params, const LocalGradient& gradient);
  std::span<const double> IterateOf(Count slot) const {
    const auto dimension = static_cast<std::size_t>(params_.frame.dimension);
    return std::span(iterate_).subspan(static_cast<std::size_t>(slot) * dimension, dimension);
  }
  /// `n` sets the step; `messages` how much the iterate counts in the mean of so many.
  void Step(Count slot, std::span<const double> gradient, double n, double messages);

  LdpSgdParams params_;
  LocalGradient gradient_;
  double delay_;  // n_0
  UserPolicy policy_;
  std::vector<double> iterate_;  // at which gradients are taken; policy_ has the means, or the same
};

}  // namespace bandana
