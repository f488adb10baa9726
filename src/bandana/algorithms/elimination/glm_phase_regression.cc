#include "bandana/algorithms/elimination/glm_phase_regression.h"

#include <algorithm>
#include <cmath>

#include "bandana/algorithms/chernoff.h"
#include "bandana/core/check.h"

namespace bandana {
namespace {

constexpr double kSafeNorm = 1 + 1e-8;  // more than the tolerance to which norms are checked elsewhere
constexpr double kShareOfIntervals =
    0.1;  // share of the level for the event that averages are near their means

}  // namespace

GlmPhaseRegression::GlmPhaseRegression(Link link, double client_sd, const ActionMatrix& actions,
                                       const Design& design, std::span<const Pull> pulls)
    : actions_(actions),
      link_(link),
      client_sd_(client_sd),
      pulls_(pulls.begin(), pulls.end()),
      norms_(static_cast<Eigen::Index>(pulls.size())) {
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const double norm = actions.row(pulls[i].arm).norm();
    const double farthest = kSafeNorm * norm;  // |theta| <= 1
    const SpreadLink mean_link(link, client_sd * norm);
    predictors_.emplace_back(mean_link, Interval{mean_link.MeanOf(-farthest), mean_link.MeanOf(farthest)});
    norms_[static_cast<Eigen::Index>(i)] = norm;
  }
  const PhaseRegression regression(actions, design, pulls);
  solution_.resize(actions.cols(), static_cast<Eigen::Index>(pulls.size()));
  std::vector<double> unit(pulls.size(), 0);
  for (std::size_t i = 0; i < unit.size(); ++i) {
    unit[i] = 1;
    solution_.col(static_cast<Eigen::Index>(i)) = regression.Estimate(unit);
    unit[i] = 0;
  }
}

Vector GlmPhaseRegression::Estimate(std::span<const double> averages) const {
  BANDANA_CHECK(averages.size() == pulls_.size());
  Vector predictors(solution_.cols());
  for (std::size_t i = 0; i < averages.size(); ++i) {
    predictors[static_cast<Eigen::Index>(i)] = predictors_[i](averages[i]);
  }
  return solution_ * predictors;
}

GlmPhaseRegression::Coordinates GlmPhaseRegression::Bound(std::span<const double> averages,
                                                          const PhaseErrors& errors, double level) const {
  const double side = level / (2 * static_cast<double>(pulls_.size()));
  Coordinates coordinates{{}, Vector(solution_.cols()), 0};
  const double steepest = SteepestMean(link_);
  for (std::size_t i = 0; i < pulls_.size(); ++i) {
    const double pulls = errors.sampling == Sampling::kWatch ? static_cast<double>(pulls_[i].count) : 1;
    const double draws = static_cast<double>(errors.clients[i]) * pulls;
    NoiseLaw law = errors.privacy.empty() ? NoiseLaw{} : errors.privacy[i];
    law.proxy = std::hypot(law.proxy, errors.rule.reward.proxy() / std::sqrt(draws));
    NoiseLaw all = law;
    if (errors.sampling == Sampling::kWatch) {
      const double client = client_sd_ * norms_[static_cast<Eigen::Index>(i)] * steepest;
      all.proxy = std::hypot(all.proxy, client / std::sqrt(static_cast<double>(errors.clients[i])));
    }
    const double one = 1;
    const double radius =
        TailBound({.sub_gaussian = all.proxy * all.proxy, .weights = {&one, 1}, .laws = {&all, 1}}, side);
    // With probability at least 1 - 2 side the mean lies in `mean` and the average in `near`.
    const Interval& possible = predictors_[i].means();
    const Interval mean{std::clamp(averages[i] - radius, possible.low, possible.high),
                        std::clamp(averages[i] + radius, possible.low, possible.high)};
    const Interval near{mean.low - radius, mean.high + radius};
    const double variance = all.stddev() * all.stddev();
    coordinates.bias[static_cast<Eigen::Index>(i)] = predictors_[i].LargestCurvature(near) * variance / 2;
    const double slope = predictors_[i].SteepestSlope(near);
    coordinates.client_slope = std::max(coordinates.client_slope, slope * steepest);
    coordinates.laws.push_back({law.proxy * slope, law.laplace_scale * slope, law.laplace_terms});
  }
  return coordinates;
}

PhaseRegression::Survivors GlmPhaseRegression::EliminateExactly(std::span<const double> averages,
                                                                const Vector& estimate,
                                                                std::span<const ArmId> active,
                                                                const PhaseErrors& errors,
                                                                double level) const {
  BANDANA_CHECK(averages.size() == pulls_.size() && level > 0 && level < 1);
  BANDANA_CHECK(errors.privacy.empty() || errors.privacy.size() == pulls_.size());
  BANDANA_CHECK(errors.clients.size() == pulls_.size());
  BANDANA_CHECK(!errors.rule.clips() && errors.rule.client_sd == client_sd_ && errors.misspecification == 0);
  const Coordinates coordinates = Bound(averages, errors, kShareOfIntervals * level);
  const double part = (1 - kShareOfIntervals) * level;
  Vector proxies(solution_.cols());
  for (Eigen::Index i = 0; i < proxies.size(); ++i) proxies[i] = coordinates.laws[i].proxy;

  Vector values(static_cast<Eigen::Index>(active.size()));
  for (std::size_t i = 0; i < active.size(); ++i) {
    values[static_cast<Eigen::Index>(i)] = Dot(actions_, active[i], estimate);
  }
  Eigen::Index best;
  values.maxCoeff(&best);

  PhaseRegression::Survivors survivors{.active = {}, .widest = 0, .best = active[best]};
  const bool watched = client_sd_ > 0 && errors.sampling == Sampling::kWatch;
  const double client_scale =
      watched ? client_sd_ / std::sqrt(static_cast<double>(errors.clients.front())) : 0;
  Vector difference;
  Vector weights;
  for (std::size_t i = 0; i < active.size(); ++i) {
    difference = (actions_.row(active[best]) - actions_.row(active[i])).transpose();
    weights.noalias() = solution_.transpose() * difference;
    const double reach = difference.norm() + weights.cwiseAbs().dot(norms_);
    const double client = client_scale * coordinates.client_slope / 2 * reach;
    const double width =
        TailBound({.sub_gaussian = weights.cwiseProduct(proxies).squaredNorm() + client * client,
                   .weights = {weights.data(), pulls_.size()},
                   .laws = coordinates.laws},
                  part) +
        weights.cwiseAbs().dot(coordinates.bias);
    survivors.widest = std::max(survivors.widest, width);
    const double lead = values[best] - values[static_cast<Eigen::Index>(i)];
    if (!(lead > width)) survivors.active.push_back(active[i]);
  }
  return survivors;
}

}  // namespace bandana
