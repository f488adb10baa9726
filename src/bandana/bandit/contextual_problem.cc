#include "bandana/bandit/contextual_problem.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "bandana/bandit/net.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

constexpr NodeId kDirectionsNode{1};  // streams of the instance that differ from theta's, which has node 0
constexpr NodeId kSamplesNode{2};

PhiloxSource InstanceBits(std::uint64_t seed, NodeId node) {
  return PhiloxSource({.seed = seed, .node = node, .stream = Stream::kInstance});
}

// Returns the first of each group of equal rows, in ascending order.
std::vector<Eigen::Index> DistinctRows(const ActionMatrix& matrix) {
  const auto row = [&](Eigen::Index i) { return matrix.data() + i * matrix.cols(); };
  const auto compare = [&](Eigen::Index a, Eigen::Index b) {
    return std::lexicographical_compare_three_way(row(a), row(a) + matrix.cols(), row(b),
                                                  row(b) + matrix.cols());
  };
  std::vector<Eigen::Index> order(static_cast<std::size_t>(matrix.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    const auto order_of = compare(a, b);
    return order_of < 0 || (order_of == 0 && a < b);
  });
  const auto same = [&](Eigen::Index a, Eigen::Index b) { return compare(a, b) == 0; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

absl::StatusOr<ActionMatrix> PolicyDirections(Count dimension, Count policies, std::uint64_t seed) {
  BANDANA_CHECK(dimension >= 1);
  constexpr Count kMostEntries = Count{1} << 27;
  if (!(policies >= 1 && policies <= kMostEntries / dimension)) {
    return InvalidField(Part::kParams, "policies", static_cast<double>(policies),
                        "a whole number from 1 to 2^27 / dimension");
  }
  if (dimension == 1) return ActionMatrix((ActionMatrix(2, 1) << 1, -1).finished());
  ActionMatrix thetas(policies, dimension);
  if (dimension == 2) {
    for (Count j = 0; j < policies; ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(policies);
      thetas.row(j) << std::cos(angle), std::sin(angle);
    }
    return thetas;
  }
  PhiloxSource bits = InstanceBits(seed, kDirectionsNode);
  CoinGen coin(bits);
  for (Count j = 0; j < policies; ++j) {
    do {
      for (Count i = 0; i < dimension; ++i) thetas(j, i) = StandardNormal(coin);
    } while (!(thetas.row(j).norm() > 0));
    thetas.row(j).normalize();
  }
  return thetas;
}

absl::StatusOr<ActionMatrix> PolicyNet(Count dimension, double horizon, Count most_entries) {
  BANDANA_CHECK(dimension >= 1 && horizon > 0);
  if (dimension == 1) return PolicyDirections(1, 2, 0);
  NetParams net{.set = ActionSet::kSphere,
                .dimension = dimension,
                .radius = NetRadiusFor(ActionSet::kSphere, horizon, 1),
                .most_entries = most_entries};
  if (!NetSize(net).ok()) {
    BANDANA_ASSIGN_OR_RETURN(net.radius, SmallestNetRadius(net.set, dimension, most_entries));
  }
  return MakeNet(net);
}

absl::StatusOr<std::shared_ptr<const PolicySet>> PolicySet::Create(Params params) {
  BANDANA_CHECK(params.law != nullptr && params.thetas.rows() > 0);
  BANDANA_CHECK(params.thetas.cols() == params.law->dimension());
  BANDANA_CHECK((params.thetas.rowwise().squaredNorm().array() > 0).all());
  if (!(params.samples >= 0)) {
    return InvalidField(Part::kParams, "context_samples", static_cast<double>(params.samples),
                        "a whole number >= 0");
  }
  std::shared_ptr<PolicySet> set(new PolicySet);
  set->law_ = std::move(params.law);
  set->samples_ = params.samples;
  set->sample_level_ = params.sample_level;
  set->seed_ = params.seed;
  const std::optional<ActionMatrix> exact = set->law_->Responses(params.thetas);
  set->exact_ = exact.has_value();
  if (params.samples == 0) {
    if (!exact.has_value()) {
      return InvalidField(Part::kParams, "context_samples", 0.0,
                          "a whole number >= 1: this context law has no closed form");
    }
    const std::vector<Eigen::Index> kept = DistinctRows(*exact);
    set->responses_ = (*exact)(kept, Eigen::all);
    set->thetas_ = params.thetas(kept, Eigen::all);
    return set;
  }
  BANDANA_ASSIGN_OR_RETURN(const SampledResponses sampled, set->Sample(params.thetas));
  const std::vector<Eigen::Index> kept = DistinctRows(sampled.responses);
  set->responses_ = sampled.responses(kept, Eigen::all);
  set->thetas_ = params.thetas(kept, Eigen::all);
  set->misspecification_ = sampled.error;
  if (exact.has_value()) set->truth_ = (*exact)(kept, Eigen::all);
  return set;
}

// Uses the same contexts in every call. In each of them theta's own pick is the best, so no estimate exceeds
// BestValue.
absl::StatusOr<SampledResponses> PolicySet::Sample(const ActionMatrix& thetas) const {
  PhiloxSource bits = InstanceBits(seed_, kSamplesNode);
  CoinGen coin(bits);
  return SampleResponses(*law_, thetas, samples_, sample_level_, coin);
}

double PolicySet::BestValue(const Vector& theta) const {
  const ActionMatrix own = theta.transpose();
  if (exact_) return law_->Responses(own)->row(0).dot(theta);
  return Sample(own)->responses.row(0).dot(theta);
}

absl::StatusOr<ContextualProblem> ContextualProblem::Create(std::shared_ptr<const PolicySet> policies,
                                                            Vector theta) {
  BANDANA_CHECK(policies != nullptr);
  if (!(theta.size() == policies->thetas().cols() && theta.norm() > 0)) {
    return absl::InvalidArgumentError("theta is zero, or it does not have the dimension of the contexts");
  }
  const double best = policies->BestValue(theta);
  BANDANA_ASSIGN_OR_RETURN(LinearProblem linear,
                           LinearProblem::Create(policies->truth(), std::move(theta), best));
  return ContextualProblem(std::move(policies), std::make_shared<const LinearProblem>(std::move(linear)));
}

absl::StatusOr<ContextualProblem> ContextualProblem::Draw(std::shared_ptr<const PolicySet> policies,
                                                          double theta_norm, std::uint64_t seed,
                                                          std::uint32_t replicate) {
  BANDANA_ASSIGN_OR_RETURN(const LinearProblem drawn,
                           LinearProblem::DrawTheta(policies->truth(), theta_norm, seed, replicate));
  return Create(std::move(policies), drawn.theta());
}

}  // namespace bandana
