#include "bandana/bandit/glm_problem.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "bandana/core/bit_source.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kMostTheta = 100;
constexpr Count kMostEntries = Count{1} << 24;

absl::Status BadCount(const char* field, Count value, std::string accepted) {
  return InvalidField(Part::kParams, field, fmt::format("{}", value), std::move(accepted));
}

absl::Status CheckSize(const GlmProblemParams& params) {
  const bool margin = params.contexts == UserContexts::kMargin;
  const bool multi = params.parameters == ParameterKind::kMulti;
  const Count least = margin ? (multi ? 3 : 2) : 1;
  if (!(params.dimension >= least && params.dimension <= kMostEntries / 2)) {
    return BadCount("dimension", params.dimension, fmt::format("a whole number from {} to 2^23", least));
  }
  if (margin && !multi && params.arms != 2) {
    return BadCount("actions", params.arms, "2 with contexts = \"margin\" and parameters = \"single\"");
  }
  if (!(params.arms >= 2 && params.arms <= kMostEntries / params.dimension)) {
    return BadCount("actions", params.arms,
                    "a whole number from 2 to 2^24 / dimension: a user must have a choice");
  }
  return absl::OkStatus();
}

absl::Status CheckMargin(const GlmProblemParams& params) {
  if (params.contexts != UserContexts::kMargin) {
    if (params.margin == 0) return absl::OkStatus();
    return InvalidField(Part::kParams, "margin", params.margin, "a margin only with contexts = \"margin\"");
  }
  if (!(params.margin >= 0.01 && params.margin <= 100)) {
    return InvalidField(Part::kParams, "margin", params.margin, "a number in [0.01, 100]");
  }
  if (params.mean.link() != Link::kIdentity) {
    return InvalidField(Part::kParams, "link", "a link other than identity",
                        "identity with contexts = \"margin\"");
  }
  return absl::OkStatus();
}

// Returns the thetas of kMargin with several parameters, from a direction of d - 1 entries.
ActionMatrix MarginThetas(const GlmProblemParams& params, const Vector& direction) {
  ActionMatrix thetas = ActionMatrix::Zero(params.arms, params.dimension);
  thetas.row(0).tail(params.dimension - 1) = direction;
  thetas.row(1) = -thetas.row(0);
  for (Eigen::Index i = 2; i < thetas.rows(); ++i) thetas(i, 0) = -1;
  return params.theta_norm * thetas;
}

/// Checks the reward for the identity link.
absl::Status CheckLinearReward(const GlmProblemParams& params) {
  switch (params.reward.kind) {
    case RewardKind::kGaussian:
      if (params.reward.sd >= 0 && std::isfinite(params.reward.sd)) return absl::OkStatus();
      return InvalidField(Part::kParams, "reward_sd", params.reward.sd, "a finite number >= 0");
    case RewardKind::kBernoulli:
      return InvalidField(Part::kParams, "reward", "bernoulli",
                          "gaussian, rademacher or uniform with link = \"identity\": means may "
                          "be negative");
    case RewardKind::kRademacher:
    case RewardKind::kUniform:
      break;
  }
  if (params.contexts == UserContexts::kGaussian) {
    return InvalidField(Part::kParams, "reward", "a bounded law",
                        "gaussian with contexts = \"gaussian\": means have no bound");
  }
  if (params.theta_norm <= 1) return absl::OkStatus();
  return InvalidField(Part::kParams, "theta_norm", params.theta_norm,
                      "at most 1, because rewards and their means must be in [-1, 1]");
}

absl::Status CheckReward(const GlmProblemParams& params) {
  if (params.reward.mean_varies) {
    return InvalidField(Part::kParams, "reward", "means that vary", "means that follow from the context");
  }
  switch (params.mean.link()) {
    case Link::kIdentity:
      return CheckLinearReward(params);
    case Link::kLogistic:
    case Link::kProbit:
      if (params.reward.kind == RewardKind::kBernoulli) return absl::OkStatus();
      return InvalidField(Part::kParams, "reward", "a law other than bernoulli", "bernoulli with this link");
    case Link::kPoisson:
      break;
  }
  return absl::OkStatus();
}

absl::Status Check(const GlmProblemParams& params) {
  BANDANA_RETURN_IF_ERROR(CheckSize(params));
  BANDANA_RETURN_IF_ERROR(CheckMargin(params));
  if (!(params.theta_norm > 0 && params.theta_norm <= kMostTheta && std::isnormal(params.theta_norm))) {
    return InvalidField(Part::kParams, "theta_norm", params.theta_norm,
                        fmt::format("a number in (0, {}]", kMostTheta));
  }
  return CheckReward(params);
}

}  // namespace

GlmProblem::GlmProblem(const GlmProblemParams& params, ActionMatrix thetas)
    : params_(params), thetas_(std::move(thetas)) {}

absl::StatusOr<GlmProblem> GlmProblem::Draw(const GlmProblemParams& params, std::uint64_t seed,
                                            std::uint32_t replicate) {
  BANDANA_RETURN_IF_ERROR(Check(params));
  PhiloxSource bits({.seed = seed, .replicate = replicate, .node = kServerNode, .stream = Stream::kInstance});
  CoinGen coin(bits);
  const bool multi = params.parameters == ParameterKind::kMulti;
  if (multi && params.contexts == UserContexts::kMargin) {
    Vector direction = Vector::Zero(params.dimension - 1);
    while (!(direction.norm() > 0)) {
      for (double& entry : direction) entry = StandardNormal(coin);
    }
    return GlmProblem(params, MarginThetas(params, direction.normalized()));
  }
  ActionMatrix thetas(multi ? params.arms : 1, params.dimension);
  for (Eigen::Index i = 0; i < thetas.rows(); ++i) {
    double norm = 0;
    while (!(norm > 0)) {
      for (double& entry : thetas.row(i)) entry = StandardNormal(coin);
      norm = thetas.row(i).norm();
    }
    thetas.row(i) *= params.theta_norm / norm;
  }
  return GlmProblem(params, std::move(thetas));
}

absl::StatusOr<GlmProblem> GlmProblem::Create(const GlmProblemParams& params, ActionMatrix thetas) {
  BANDANA_RETURN_IF_ERROR(Check(params));
  const Count rows = params.parameters == ParameterKind::kMulti ? params.arms : 1;
  if (thetas.rows() != rows || thetas.cols() != params.dimension) {
    return absl::InvalidArgumentError(fmt::format("the thetas are {} x {}, but they must be {} x {}",
                                                  thetas.rows(), thetas.cols(), rows, params.dimension));
  }
  for (Eigen::Index i = 0; i < rows; ++i) {
    if (const double norm = thetas.row(i).norm(); !(norm <= params.theta_norm * kNormSlack)) {
      return absl::InvalidArgumentError(
          fmt::format("theta {} has norm {}, but at most {} is accepted", i, norm, params.theta_norm));
    }
  }
  if (thetas.isZero(0)) return absl::InvalidArgumentError("every theta is zero");
  return GlmProblem(params, std::move(thetas));
}

std::optional<Interval> GlmProblem::support() const {
  switch (params_.mean.link()) {
    case Link::kLogistic:
    case Link::kProbit:
      return Interval{0, 1};
    case Link::kPoisson:
      return Interval{0, static_cast<double>(params_.mean.bound())};
    case Link::kIdentity:
      break;
  }
  if (params_.reward.kind != RewardKind::kGaussian) return params_.reward.support();
  if (params_.reward.sd > 0 || !bounded_contexts()) return std::nullopt;
  return Interval{-params_.theta_norm, params_.theta_norm};
}

double GlmProblem::EstimationError(std::span<const double> estimates) const {
  if (estimates.size() != static_cast<std::size_t>(thetas_.size()))
    return std::numeric_limits<double>::quiet_NaN();
  const Eigen::Map<const ActionMatrix> given(estimates.data(), thetas_.rows(), thetas_.cols());
  return (given - thetas_).rowwise().norm().sum();
}

// Returns the first n with U < P(N <= n), at most the bound. If exp(-l) is 0, this is the bound.
double GlmProblem::DrawCount(double predictor, CoinGen& coin) const {
  const double l = std::exp(std::min(predictor, 700.0));
  const auto bound = static_cast<int>(params_.mean.bound());
  double left = UniformUnit(coin);
  double mass = std::exp(-l);
  for (int n = 0; n < bound; ++n) {
    if (left < mass) return n;
    left -= mass;
    mass *= l / (n + 1);
  }
  return bound;
}

}  // namespace bandana
