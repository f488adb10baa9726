#include "bandana/algorithms/lin_ucb/lin_ucb.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "Eigen/Cholesky"
#include "bandana/core/check.h"
#include "fmt/format.h"

namespace bandana {

absl::Status ValidateLinUcb(const LinUcbSetting& params, const ActionMatrix& actions) {
  if (actions.rows() == 0) return InvalidField(Part::kFacts, "actions", 0, "at least one action");
  constexpr Count kMostRounds = std::numeric_limits<Epoch>::max();  // a round is an epoch
  if (!(params.horizon >= 1 && params.horizon <= kMostRounds)) {
    return InvalidField(Part::kFacts, "horizon", fmt::format("{}", params.horizon),
                        fmt::format("a whole number from 1 to {} for lin-ucb", kMostRounds));
  }
  if (params.beta.has_value() && !(*params.beta > 0 && *params.beta < 1)) {
    return InvalidField(Part::kParams, "beta", *params.beta, "a number in (0, 1)");
  }
  if (!(params.bonus >= 0 && std::isfinite(params.bonus))) {
    return InvalidField(Part::kParams, "bonus", params.bonus, "a finite number >= 0");
  }
  if (!(params.client_sd >= 0 && std::isfinite(params.client_sd))) {
    return InvalidField(Part::kFacts, "client_sd", params.client_sd, "a finite number >= 0");
  }
  if (!(params.reward.sd >= 0 && std::isfinite(params.reward.sd))) {
    return InvalidField(Part::kFacts, "reward", params.reward.sd, "a finite number >= 0");
  }
  constexpr Count kMostClients = 0xffffffff;  // NodeId
  if (!(params.population >= params.horizon && params.population < kMostClients)) {
    return InvalidField(Part::kFacts, "people", fmt::format("{}", params.population),
                        fmt::format("a whole number from {} to {}: LinUCB asks a new client every round",
                                    params.horizon, kMostClients - 1));
  }
  return absl::OkStatus();
}

Interval LinUcbBounds(const LinUcbSetting& params) {
  if (const std::optional<Interval> support = params.reward.support()) return *support;
  const double bound = 1 + 40 * std::hypot(params.reward.sd, params.client_sd);
  return {-bound, bound};
}

absl::StatusOr<LinUcbPolicy> LinUcbPolicy::Create(const LinUcbSetting& params, const ActionMatrix& actions) {
  BANDANA_RETURN_IF_ERROR(ValidateLinUcb(params, actions));
  return LinUcbPolicy(params, actions);
}

LinUcbPolicy::LinUcbPolicy(const LinUcbSetting& params, const ActionMatrix& actions)
    : params_(params),
      beta_(params.beta.value_or(1 / static_cast<double>(params.horizon))),
      noise_proxy_(std::hypot(params.reward.proxy(), params.client_sd * actions.rowwise().norm().maxCoeff())),
      actions_(actions),
      gram_(Matrix::Identity(actions.cols(), actions.cols())),
      moment_(Vector::Zero(actions.cols())) {
  Refresh();
}

double LinUcbPolicy::radius() const {
  return noise_proxy_ * std::sqrt(std::max(0.0, log_det_ + 2 * std::log(1 / beta_))) + 1;  // Theorem 2
}

ArmId LinUcbPolicy::ChooseArm() {
  changes_ = means_.array() + params_.bonus * radius() * leverages_.array().max(0).sqrt();
  const double largest = changes_.maxCoeff();
  return static_cast<ArmId>(std::find(changes_.begin(), changes_.end(), largest) - changes_.begin());
}

// Uses the formula of Sherman and Morrison: with u = V^-1 x and c = 1/(1 + x'u), V^-1 decreases by c u u',
// and c (reward - <estimate, x>) u is added to the estimate.
void LinUcbPolicy::Learn(ArmId arm, double reward) {
  BANDANA_CHECK(arm >= 0 && arm < actions_.rows());
  const Vector x = actions_.row(arm).transpose();
  gram_.noalias() += x * x.transpose();
  moment_ += reward * x;
  ++rounds_;
  if (rounds_ % kRefresh == 0) return Refresh();
  direction_.noalias() = gram_inverse_ * x;
  changes_.noalias() = actions_ * direction_;
  const double leverage = changes_[arm];
  const double shrink = 1 / (1 + leverage);
  const double step = shrink * (reward - means_[arm]);
  log_det_ += std::log1p(leverage);
  gram_inverse_.noalias() -= (shrink * direction_) * direction_.transpose();
  estimate_ += step * direction_;
  means_ += step * changes_;
  leverages_.array() -= shrink * changes_.array().square();
}

void LinUcbPolicy::Refresh() {
  const Eigen::LLT<Matrix> factor(gram_);
  gram_inverse_ = factor.solve(Matrix::Identity(gram_.rows(), gram_.cols()));
  log_det_ = 2 * factor.matrixLLT().diagonal().array().log().sum();
  estimate_ = factor.solve(moment_);
  means_.noalias() = actions_ * estimate_;
  leverages_ = (actions_ * gram_inverse_).cwiseProduct(actions_).rowwise().sum();
}

}  // namespace bandana
