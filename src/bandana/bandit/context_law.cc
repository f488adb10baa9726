#include "bandana/bandit/context_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bandana/bandit/context_coordinates.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status CheckSize(Count actions, Count dimension, Count least_dimension) {
  constexpr Count kMostEntries = Count{1} << 24;
  if (!(dimension >= least_dimension && dimension <= kMostEntries / 2)) {
    return InvalidField(Part::kParams, "dimension", static_cast<double>(dimension),
                        fmt::format("a whole number from {} to 2^23", least_dimension));
  }
  if (!(actions >= 2 && actions <= kMostEntries / dimension)) {
    return InvalidField(Part::kParams, "actions", static_cast<double>(actions),
                        "a whole number from 2 to 2^24 / dimension: a context must offer a choice");
  }
  return absl::OkStatus();
}

absl::Status BadContext(Count context, const std::string& message) {
  return InvalidField(Part::kParams, {.message = fmt::format("context {}: {}", context, message),
                                      .key = "contexts",
                                      .accepted = "actions that are finite and of norm at most 1"});
}

// Rows are contiguous: an action is a plain array.
double FillNormal(CoinGen& coin, double* row, Eigen::Index size) {
  double squares = 0;
  for (Eigen::Index i = 0; i < size; ++i) {
    row[i] = StandardNormal(coin);
    squares += row[i] * row[i];
  }
  return std::sqrt(squares);
}

void FillDirection(CoinGen& coin, double* row, Eigen::Index size) {
  double norm = 0;
  while (!(norm > 0)) norm = FillNormal(coin, row, size);
  for (Eigen::Index i = 0; i < size; ++i) row[i] /= norm;
}

double* RowOf(ActionMatrix& matrix, Eigen::Index row) { return matrix.data() + row * matrix.cols(); }

/// Sums the actions that every policy picks, over contexts. Scores come from one matrix product. If the two
/// best scores are too close for its rounding, PickAction decides, as it does for the client.
class PickSums {
 public:
  explicit PickSums(const ActionMatrix& thetas)
      : thetas_(thetas),
        transposed_(thetas.transpose()),
        margins_(thetas.rowwise().norm() *
                 (8 * static_cast<double>(thetas.cols() + 2) * std::numeric_limits<double>::epsilon())),
        sums_(ActionMatrix::Zero(thetas.rows(), thetas.cols())) {}

  void Add(const Eigen::Ref<const ActionMatrix>& context) {
    scores_.noalias() = context * transposed_;
    for (Eigen::Index policy = 0; policy < thetas_.rows(); ++policy) {
      const double* scores = scores_.data() + policy * scores_.rows();
      Eigen::Index best = 0;
      double second = -kInfinity;
      for (Eigen::Index a = 1; a < scores_.rows(); ++a) {
        if (scores[a] > scores[best]) {
          second = scores[best];
          best = a;
        } else {
          second = std::max(second, scores[a]);
        }
      }
      if (!(scores[best] - second > margins_[policy])) best = PickAction(context, thetas_.row(policy));
      sums_.row(policy) += context.row(best);
    }
    ++contexts_;
  }

  ActionMatrix Means() const { return sums_ / static_cast<double>(contexts_); }

 private:
  const ActionMatrix& thetas_;
  Matrix transposed_;
  Vector margins_;
  ActionMatrix sums_;
  Matrix scores_;
  Count contexts_ = 0;
};

}  // namespace

ArmId PickAction(const ActionMatrix& context, const Vector& theta) {
  BANDANA_CHECK(context.rows() > 0 && context.cols() == theta.size());
  ArmId best = 0;
  double most = Dot(context, 0, theta);
  for (Eigen::Index a = 1; a < context.rows(); ++a) {
    const double score = Dot(context, a, theta);
    if (score > most) {
      most = score;
      best = static_cast<ArmId>(a);
    }
  }
  return best;
}

SampledContexts::SampledContexts(ActionMatrix stacked, Count actions)
    : ContextLaw(actions, stacked.cols()), stacked_(std::move(stacked)) {}

absl::StatusOr<std::shared_ptr<const SampledContexts>> SampledContexts::Create(ActionMatrix stacked,
                                                                               Count actions) {
  BANDANA_CHECK(actions >= 1);
  if (stacked.size() == 0) return BadContext(0, "it is missing");
  BANDANA_CHECK(stacked.rows() % actions == 0);
  for (Eigen::Index row = 0; row < stacked.rows(); ++row) {
    const double norm = stacked.row(row).norm();
    if (!(norm <= kNormSlack)) {
      return BadContext(row / actions, fmt::format("action {} has norm {}", row % actions, norm));
    }
  }
  return std::shared_ptr<const SampledContexts>(new SampledContexts(std::move(stacked), actions));
}

void SampledContexts::Draw(CoinGen& coin, ActionMatrix& context) const {
  const auto which = static_cast<Eigen::Index>(UniformBelow(static_cast<std::uint64_t>(size()), coin));
  context = stacked_.middleRows(which * actions(), actions());
}

std::optional<ActionMatrix> SampledContexts::Responses(const ActionMatrix& thetas) const {
  PickSums sums(thetas);
  for (Count i = 0; i < size(); ++i) sums.Add(stacked_.middleRows(i * actions(), actions()));
  return sums.Means();
}

Interval SampledContexts::Means(const Vector& theta) const {
  const Vector means = stacked_ * theta;
  return {means.minCoeff(), means.maxCoeff()};
}

std::optional<ActionMatrix> RotationInvariantContexts::Responses(const ActionMatrix& thetas) const {
  return ActionMatrix(scale_ * thetas.rowwise().normalized());
}

Interval RotationInvariantContexts::Means(const Vector& theta) const { return {-theta.norm(), theta.norm()}; }

absl::StatusOr<std::shared_ptr<const SphereContexts>> SphereContexts::Create(Count actions, Count dimension) {
  BANDANA_RETURN_IF_ERROR(CheckSize(actions, dimension, 1));
  const double scale = MeanLargestSphereCoordinate(dimension, actions);
  return std::shared_ptr<const SphereContexts>(new SphereContexts(actions, dimension, scale));
}

void SphereContexts::Draw(CoinGen& coin, ActionMatrix& context) const {
  context.resize(actions(), dimension());
  for (Count a = 0; a < actions(); ++a) FillDirection(coin, RowOf(context, a), dimension());
}

absl::StatusOr<std::shared_ptr<const GaussianContexts>> GaussianContexts::Create(Count actions,
                                                                                 Count dimension) {
  BANDANA_RETURN_IF_ERROR(CheckSize(actions, dimension, 1));
  const double scale = MeanLargestGaussianCoordinate(dimension, actions);
  return std::shared_ptr<const GaussianContexts>(new GaussianContexts(actions, dimension, scale));
}

void GaussianContexts::Draw(CoinGen& coin, ActionMatrix& context) const {
  context.resize(actions(), dimension());
  const double root = std::sqrt(static_cast<double>(dimension()));
  for (Count a = 0; a < actions(); ++a) {
    double* row = RowOf(context, a);
    const double scale = 1 / std::max(FillNormal(coin, row, dimension()), root);
    for (Count i = 0; i < dimension(); ++i) row[i] *= scale;
  }
}

ClusterContexts::ClusterContexts(Params params)
    : ContextLaw(params.actions, params.centres.cols()), params_(std::move(params)) {}

absl::StatusOr<std::shared_ptr<const ClusterContexts>> ClusterContexts::Create(Params params) {
  const auto refuse = [](const std::string& message, const std::string& accepted) {
    return InvalidField(Part::kParams, {.message = message, .key = "contexts", .accepted = accepted});
  };
  BANDANA_RETURN_IF_ERROR(CheckSize(params.actions, params.centres.cols(), 2));
  if (!(params.radius > 0 && params.radius <= 1 && std::isnormal(params.radius))) {
    return refuse(fmt::format("the radius is {}", params.radius), "a number in (0, 1]");
  }
  if (params.centres.rows() == 0 ||
      params.weights.size() != static_cast<std::size_t>(params.centres.rows())) {
    return refuse(
        fmt::format("there are {} centres and {} weights", params.centres.rows(), params.weights.size()),
        "at least one centre, and one weight per centre");
  }
  double total = 0;
  for (const double weight : params.weights) {
    if (!(weight > 0 && weight <= 1))
      return refuse(fmt::format("a weight is {}", weight), "a number in (0, 1]");
    total += weight;
  }
  if (!(std::abs(total - 1) <= 1e-9))
    return refuse(fmt::format("the weights add up to {}", total), "weights that add up to 1");
  for (double& weight : params.weights) weight /= total;
  for (Eigen::Index b = 0; b < params.centres.rows(); ++b) {
    const double norm = params.centres.row(b).norm();
    if (!(norm + params.radius <= kNormSlack)) {
      return refuse(fmt::format("centre {} has norm {}", b, norm), "at most 1 - radius");
    }
  }
  return std::shared_ptr<const ClusterContexts>(new ClusterContexts(std::move(params)));
}

absl::StatusOr<std::shared_ptr<const ClusterContexts>> ClusterContexts::Two(Count actions, Count dimension) {
  BANDANA_RETURN_IF_ERROR(CheckSize(actions, dimension, 2));
  ActionMatrix centres = ActionMatrix::Zero(2, dimension);
  centres(0, 0) = 0.5;
  centres(1, 0) = -0.5;
  return Create({.actions = actions, .centres = centres, .weights = {2.0 / 3, 1.0 / 3}, .radius = 0.5});
}

void ClusterContexts::Draw(CoinGen& coin, ActionMatrix& context) const {
  context.resize(actions(), dimension());
  for (Count a = 0; a < actions(); ++a) {
    double left = UniformUnit(coin);
    std::size_t cluster = 0;
    while (cluster + 1 < params_.weights.size() && left >= params_.weights[cluster]) {
      left -= params_.weights[cluster++];
    }
    double* row = RowOf(context, a);
    FillDirection(coin, row, dimension());
    for (Count i = 0; i < dimension(); ++i) {
      row[i] = params_.centres(static_cast<Eigen::Index>(cluster), i) + params_.radius * row[i];
    }
  }
}

std::optional<ActionMatrix> ClusterContexts::Responses(const ActionMatrix& thetas) const {
  ActionMatrix responses(thetas.rows(), thetas.cols());
  for (Eigen::Index i = 0; i < thetas.rows(); ++i) {
    responses.row(i) = Response(thetas.row(i).normalized()).transpose();
  }
  return responses;
}

// An action m_b + radius xi wins, with xi's coordinate t along the direction u, at the density K F(<m_b, u> +
// radius t)^(K - 1), where F is the distribution function of one action's score. Given t, the mean of xi is t
// u.
Vector ClusterContexts::Response(const Vector& direction) const {
  const Vector heights = params_.centres * direction;
  Vector response = Vector::Zero(direction.size());
  for (Eigen::Index b = 0; b < heights.size(); ++b) {
    const WinningCluster win =
        WinOfCluster(dimension(), actions(), heights, params_.weights, params_.radius, b);
    response += win.probability * params_.centres.row(b).transpose();
    response += (params_.radius * win.coordinate) * direction;
  }
  return response;
}

Interval ClusterContexts::Means(const Vector& theta) const {
  const Vector heights = params_.centres * theta;
  const double reach = params_.radius * theta.norm();
  return {heights.minCoeff() - reach, heights.maxCoeff() + reach};
}

absl::StatusOr<SampledResponses> SampleResponses(const ContextLaw& law, const ActionMatrix& thetas,
                                                 Count samples, double level, CoinGen& coin) {
  if (!(samples >= 1)) {
    return InvalidField(Part::kParams, "context_samples", static_cast<double>(samples),
                        "a whole number >= 1");
  }
  BANDANA_CHECK(level > 0 && level < 1);
  PickSums sums(thetas);
  ActionMatrix context(law.actions(), law.dimension());
  for (Count i = 0; i < samples; ++i) {
    law.Draw(coin, context);
    sums.Add(context);
  }
  const double log_term = std::log(2 * static_cast<double>(thetas.rows()) / level);
  return SampledResponses{.responses = sums.Means(),
                          .error = std::sqrt(2 * log_term / static_cast<double>(samples))};
}

}  // namespace bandana
