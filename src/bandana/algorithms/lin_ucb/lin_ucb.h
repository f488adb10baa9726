#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/core/archive.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/status.h"
#include "bandana/core/without_replacement.h"
#include "bandana/federation/collector.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/privacy_options.h"
#include "bandana/privacy/privatizer.h"

/// LinUCB, adapted: P1's baseline without privacy (Section VII-B, Fig. 3, Table II).
/// Y. Abbasi-Yadkori, D. Pal, C. Szepesvari, "Improved Algorithms for Linear Stochastic Bandits", NIPS 2011.
///
/// In every round a new client u pulls one arm once. The deviation <theta_u - theta, x> of its own parameter
/// theta_u counts as noise: the reward is <theta, x> plus noise of squared proxy
/// s^2 = proxy^2 + client_sd^2 max|x|^2.
///
///   paper            here
///   V_t              gram, with lambda = 1
///   theta^_t         estimate
///   R                noise_proxy, s above
///   S                1, the bound on |theta|
///   delta            LinUcbSetting::beta
///   Theorem 2        radius(), times LinUcbSetting::bonus where arms are compared
namespace bandana {

struct LinUcbParams {
  std::optional<double> beta = {};  ///< probability that a confidence set of the run fails; empty: 1/T
  double bonus = 1;                 ///< the factor of the confidence width
};

absl::StatusOr<Federation> CreateLinUcb(const LinUcbParams& params, const Privacy& privacy,
                                        const Facts& facts);

/// The parameters and facts that determine the policy.
struct LinUcbSetting {
  Count horizon = 0;           ///< T
  std::optional<double> beta;  ///< the probability that some confidence set of the run fails; empty: 1/T
  double bonus = 1;            ///< the factor of the confidence width; only 1 is proved
  Count population = 0;        ///< clients are numbered 1 .. population; every round asks a new one
  RewardModel reward;
  double client_sd = 0;
};

/// Fails if a parameter is out of range, if there is no action, or if the population is smaller than the
/// horizon.
absl::Status ValidateLinUcb(const LinUcbSetting& params, const ActionMatrix& actions);

/// Returns the interval to which a client's one reward is clipped. For Gaussian rewards it reaches 40
/// standard deviations beyond [-1, 1], so that in practice nothing is clipped.
Interval LinUcbBounds(const LinUcbSetting& params);

/// The decisions of LinUCB, without messages, for k arms of dimension d. A round costs O(d^2 + k d): a pull
/// changes V^-1 by a matrix of rank one, and all leverages x' V^-1 x and all <estimate, x> are updated. Every
/// kRefresh rounds they are computed from scratch, so that rounding errors do not add up.
class LinUcbPolicy {
 public:
  static constexpr Count kRefresh = 1024;

  static absl::StatusOr<LinUcbPolicy> Create(const LinUcbSetting& params, const ActionMatrix& actions);

  /// Returns the arm with the largest <estimate, x> + bonus radius |x|_(V^-1). Ties go to the smallest index.
  ArmId ChooseArm();

  void Learn(ArmId arm, double reward);

  /// Returns the radius of the ellipsoid |estimate - theta|_V <= radius. With probability at least 1 - beta
  /// it contains theta in all rounds at once.
  double radius() const;

  Count rounds() const { return rounds_; }
  bool Has(ArmId arm) const { return arm >= 0 && arm < actions_.rows(); }
  bool finished() const { return rounds_ >= params_.horizon; }
  const Vector& estimate() const { return estimate_; }
  const LinUcbSetting& params() const { return params_; }

  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.horizon, "horizon");
    a.Same(beta_, "beta");
    a.Same(params_.bonus, "bonus");
    a.Same(noise_proxy_, "noise");
    a.Sized(gram_, gram_inverse_, moment_, estimate_, means_, leverages_);
    a(log_det_, rounds_);
    a.Check(rounds_ >= 0 && rounds_ <= params_.horizon, "it has more rounds than the horizon");
  }

 private:
  LinUcbPolicy(const LinUcbSetting& params, const ActionMatrix& actions);
  void Refresh();

  LinUcbSetting params_;
  double beta_;
  double noise_proxy_;
  Matrix actions_;  // k x d; columns are contiguous, so that products with a vector use SIMD over the arms
  Matrix gram_;
  Matrix gram_inverse_;
  double log_det_ = 0;  // ln det of gram_
  Vector moment_;       // sum of reward x
  Vector estimate_;
  Vector means_;      // <estimate, x> for each arm x
  Vector leverages_;  // x' V^-1 x for each arm x
  Vector direction_;  // V^-1 x for the last arm
  Vector changes_;    // scratch space, one entry per arm
  Count rounds_ = 0;
};

/// Asks one client per round, each at most once, for one pull of the arm that the policy chooses.
template <Privatizer P>
class LinUcbServer final : public Node {
 public:
  static absl::StatusOr<LinUcbServer> Create(const LinUcbSetting& params, const ActionMatrix& actions,
                                             P privatizer) {
    BANDANA_ASSIGN_OR_RETURN(LinUcbPolicy policy, LinUcbPolicy::Create(params, actions));
    return LinUcbServer(std::move(policy), std::move(privatizer));
  }

  absl::Status OnStart(Context& context) override { return StartRound(context); }

  absl::Status OnMessage(Context& context, const Message& message) override {
    BANDANA_ASSIGN_OR_RETURN(const auto reward, collector_.Take(context, message));
    if (!reward.has_value()) return absl::OkStatus();
    policy_.Learn(plan_->pulls[0].arm, reward->value().entries[0]);
    return policy_.finished() ? absl::OkStatus() : StartRound(context);
  }

  bool finished() const override { return policy_.finished(); }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(policy_, collector_, unasked_, plan_);
    a.Check(plan_ == nullptr || (plan_->pulls.size() == 1 && policy_.Has(plan_->pulls.front().arm)),
            "its plan does not match its policy");
  }
  const LinUcbPolicy& policy() const { return policy_; }

 private:
  LinUcbServer(LinUcbPolicy policy, P privatizer)
      : policy_(std::move(policy)),
        collector_(std::move(privatizer)),
        unasked_(static_cast<std::uint64_t>(policy_.params().population)) {}

  absl::Status StartRound(Context& context) {
    const auto epoch = static_cast<Epoch>(policy_.rounds() + 1);
    plan_ = std::make_shared<const Plan>(
        Plan{.epoch = epoch,
             .pulls = {{policy_.ChooseArm(), 1}},
             .query = {.bounds = {LinUcbBounds(policy_.params())}, .clients = 1}});
    context.Play(plan_->pulls);
    const NodeId client{static_cast<std::uint32_t>(1 + unasked_.Draw(context.coin(epoch)))};
    return collector_.Ask(context, plan_, {client});
  }

  LinUcbPolicy policy_;
  Collector<P> collector_;
  WithoutReplacement unasked_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace bandana
