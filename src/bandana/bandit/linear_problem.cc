#include "bandana/bandit/linear_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/csv.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kMeanSlack = 1e-9;  // for a mean that was computed in another order

void FillNormal(Eigen::Ref<Vector> vector, CoinGen& coin) {
  for (double& entry : vector) entry = StandardNormal(coin);
}

Vector DrawDirection(Count dimension, double norm, bool non_negative, CoinGen& coin) {
  Vector direction(dimension);
  do {
    FillNormal(direction, coin);
  } while (!(direction.norm() > 0));
  direction *= norm / direction.norm();
  if (non_negative) direction = direction.cwiseAbs();
  return direction;
}

absl::Status CheckThetaNorm(double norm) {
  if (norm > 0 && norm <= 1) return absl::OkStatus();
  return InvalidField(Part::kParams, "theta_norm", norm, "a number in (0, 1]");
}

PhiloxSource InstanceBits(std::uint64_t seed, std::uint32_t replicate) {
  return PhiloxSource(
      {.seed = seed, .replicate = replicate, .node = kServerNode, .stream = Stream::kInstance});
}

absl::Status BadActions(const std::string& message) {
  return InvalidField(Part::kParams, {.message = message,
                                      .key = "actions",
                                      .accepted = "at least one action; every action is finite with a norm "
                                                  "of at most 1, and not all actions are zero"});
}

}  // namespace

LinearProblem::LinearProblem(ActionMatrix actions, Vector theta)
    : actions_(std::move(actions)), theta_(std::move(theta)), means_(actions_.rows()) {
  for (Eigen::Index i = 0; i < actions_.rows(); ++i) means_[i] = Dot(actions_, i, theta_);
  Eigen::Index best;
  means_.maxCoeff(&best);
  best_ = static_cast<ArmId>(best);
  optimum_ = means_[best_];
}

absl::StatusOr<LinearProblem> LinearProblem::Create(ActionMatrix actions, Vector theta) {
  if (actions.rows() == 0 || actions.cols() == 0) return BadActions("the action set is empty");
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    const double norm = actions.row(i).norm();
    if (!(norm <= kNormSlack)) return BadActions(fmt::format("action {} has norm {}", i, norm));
  }
  if (actions.isZero(0)) return BadActions("every action is zero");
  if (theta.size() != actions.cols()) {
    return absl::InvalidArgumentError(
        fmt::format("theta has {} entries, but the actions have {}", theta.size(), actions.cols()));
  }
  if (!(theta.norm() <= kNormSlack)) {
    return absl::InvalidArgumentError(
        fmt::format("theta has norm {}, but at most 1 is accepted", theta.norm()));
  }
  return LinearProblem(std::move(actions), std::move(theta));
}

absl::StatusOr<LinearProblem> LinearProblem::Create(ActionMatrix actions, Vector theta, double optimum) {
  BANDANA_ASSIGN_OR_RETURN(LinearProblem problem, Create(std::move(actions), std::move(theta)));
  if (!(problem.optimum_ <= optimum + kMeanSlack)) {
    return absl::InvalidArgumentError(
        fmt::format("the optimum is {}, but an action has the larger mean {}", optimum, problem.optimum_));
  }
  problem.optimum_ = std::max(problem.optimum_, optimum);
  return problem;
}

LinearProblem LinearProblem::Through(Link link) && {
  BANDANA_CHECK(link_ == Link::kIdentity);
  link_ = link;
  for (double& mean : means_) mean = MeanOf(link, mean);
  optimum_ = MeanOf(link, optimum_);
  return std::move(*this);
}

absl::StatusOr<LinearProblem> LinearProblem::Draw(const LinearProblemParams& params, std::uint64_t seed,
                                                  std::uint32_t replicate) {
  if (!(params.dimension >= 1 && params.dimension <= 1'000'000)) {
    return InvalidField(Part::kParams, "dimension", static_cast<double>(params.dimension),
                        "a whole number from 1 to 1000000");
  }
  constexpr Count kMostEntries = Count{1} << 29;  // 4 GiB
  const Count most_actions =
      std::min<Count>(kMostEntries / params.dimension, std::numeric_limits<ArmId>::max());
  if (!(params.actions >= 1 && params.actions <= most_actions)) {
    return InvalidField(
        Part::kParams, "actions", fmt::format("{}", params.actions),
        fmt::format("a whole number from 1 to {}: at most 2^29 / dimension actions are possible",
                    most_actions));
  }
  BANDANA_RETURN_IF_ERROR(CheckThetaNorm(params.theta_norm));
  PhiloxSource bits = InstanceBits(seed, replicate);
  CoinGen coin(bits);
  const bool non_negative = params.law == ActionLaw::kOrthant;
  Vector theta = DrawDirection(params.dimension, params.theta_norm, non_negative, coin);
  ActionMatrix actions(params.actions, params.dimension);
  for (Count i = 0; i < params.actions; ++i) {
    if (params.law == ActionLaw::kGaussian) {
      Vector row(params.dimension);
      FillNormal(row, coin);
      actions.row(i) = row;
    } else {
      actions.row(i) = DrawDirection(params.dimension, 1, non_negative, coin);
    }
  }
  if (params.law == ActionLaw::kGaussian) actions /= actions.rowwise().norm().maxCoeff();
  return Create(std::move(actions), std::move(theta));
}

absl::StatusOr<LinearProblem> LinearProblem::DrawTheta(ActionMatrix actions, double theta_norm,
                                                       std::uint64_t seed, std::uint32_t replicate) {
  BANDANA_RETURN_IF_ERROR(CheckThetaNorm(theta_norm));
  if (actions.cols() == 0) return BadActions("the action set is empty");
  PhiloxSource bits = InstanceBits(seed, replicate);
  CoinGen coin(bits);
  Vector theta = DrawDirection(actions.cols(), theta_norm, false, coin);
  return Create(std::move(actions), std::move(theta));
}

absl::StatusOr<ActionMatrix> ReadActions(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(
      CsvReader reader,
      CsvReader::Open(path, {.key = "file",
                             .lines = "one action per line",
                             .accepted = "finite numbers separated by commas, equally many on every line"}));
  std::vector<double> entries;
  std::size_t dimension = 0;
  while (reader.Next()) {
    const std::size_t count = reader.fields().size();
    for (std::size_t i = 0; i < count; ++i) {
      BANDANA_ASSIGN_OR_RETURN(const double entry, reader.Number(i));
      entries.push_back(entry);
    }
    if (dimension == 0) dimension = count;
    if (count != dimension) {
      return reader.Error({.message = fmt::format("this action has {} numbers, but the first action has {}",
                                                  count, dimension)});
    }
  }
  BANDANA_RETURN_IF_ERROR(reader.status());
  if (entries.empty()) return reader.FileError({.message = "the file holds no action"});
  return ActionMatrix(Eigen::Map<const ActionMatrix>(entries.data(),
                                                     static_cast<Eigen::Index>(entries.size() / dimension),
                                                     static_cast<Eigen::Index>(dimension)));
}

}  // namespace bandana
