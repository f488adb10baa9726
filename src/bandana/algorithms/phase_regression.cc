#include "bandana/algorithms/phase_regression.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Cholesky"
#include "bandana/algorithms/chernoff.h"
#include "bandana/core/check.h"

namespace bandana {
namespace {

struct Ranking {
  Vector values;      // <estimate, x> of the active actions
  Eigen::Index best;  // the first of the largest
};

Ranking Rank(const ActionMatrix& actions, const Vector& estimate, std::span<const ArmId> active) {
  Ranking ranking{Vector(static_cast<Eigen::Index>(active.size())), 0};
  for (std::size_t i = 0; i < active.size(); ++i) {
    ranking.values[static_cast<Eigen::Index>(i)] = Dot(actions, active[i], estimate);
  }
  ranking.values.maxCoeff(&ranking.best);
  return ranking;
}

}  // namespace

PhaseRegression::PhaseRegression(const ActionMatrix& actions, const Design& design,
                                 std::span<const Pull> pulls)
    : actions_(actions), basis_(design.basis), pulls_(pulls.begin(), pulls.end()) {
  BANDANA_CHECK(pulls.size() == design.support.size());
  const auto size = static_cast<Eigen::Index>(pulls.size());
  support_.resize(size, basis_.cols());
  counts_.resize(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    support_.row(i) = actions.row(pulls[i].arm) * basis_;
    counts_[i] = static_cast<double>(pulls[i].count);
  }
  const Matrix gram = support_.transpose() * counts_.asDiagonal() * support_;
  gram_inverse_ = gram.llt().solve(Matrix::Identity(gram.rows(), gram.cols()));
}

Vector PhaseRegression::Estimate(std::span<const double> averages) const {
  const Eigen::Map<const Vector> y(averages.data(), static_cast<Eigen::Index>(averages.size()));
  return basis_ * (gram_inverse_ * (support_.transpose() * counts_.cwiseProduct(y)));
}

// Averages over the support of what a direction to one of its actions gives: known before the phase.
ClipWeights PhaseRegression::TypicalWeights(const ClipRule& rule, const Matrix& weights) const {
  ClipWeights typical;
  for (Eigen::Index i = 0; i < support_.rows(); ++i) {
    const Vector a = weights * support_.row(i).transpose();
    const ClipWeights one(rule, pulls_, {a.data(), static_cast<std::size_t>(a.size())});
    typical.largest += one.largest;
    typical.reward += one.reward;
    typical.client += one.client;
    typical.joint += one.joint;
  }
  return typical;
}

PhaseRegression::Survivors PhaseRegression::EliminateExactly(const Vector& estimate,
                                                             std::span<const ArmId> active,
                                                             const PhaseErrors& errors, double level) const {
  const ClipRule& rule = errors.rule;
  BANDANA_CHECK(errors.privacy.empty() || errors.privacy.size() == pulls_.size());
  const double clients = static_cast<double>(errors.clients);
  const double part = rule.clips() ? level / 2 : level;                    // the clip has the other half
  const Matrix weights = counts_.asDiagonal() * support_ * gram_inverse_;  // a = weights v
  Matrix proxy = gram_inverse_ * (rule.reward.proxy() * rule.reward.proxy() / clients) +
                 Matrix::Identity(basis_.cols(), basis_.cols()) * (rule.client_sd * rule.client_sd / clients);
  const bool gaussian = std::all_of(errors.privacy.begin(), errors.privacy.end(),
                                    [](const NoiseLaw& law) { return law.laplace_terms == 0; });
  if (gaussian && !errors.privacy.empty()) {
    Vector privacy(support_.rows());
    for (Eigen::Index i = 0; i < privacy.size(); ++i) privacy[i] = errors.privacy[i].proxy;
    proxy += weights.transpose() * privacy.cwiseAbs2().asDiagonal() * weights;
  }
  const ClipBound clip = MakeClipBound(rule, pulls_, errors.clients, part, TypicalWeights(rule, weights));

  const Ranking ranking = Rank(actions_, estimate, active);
  const Eigen::RowVectorXd best = actions_.row(active[ranking.best]);
  Survivors survivors{.active = {}, .widest = 0, .best = active[ranking.best]};
  constexpr std::size_t kBlock = 256;
  ActionMatrix differences;
  for (std::size_t begin = 0; begin < active.size(); begin += kBlock) {
    const std::span<const ArmId> block = active.subspan(begin, std::min(kBlock, active.size() - begin));
    differences.resize(static_cast<Eigen::Index>(block.size()), actions_.cols());
    for (std::size_t i = 0; i < block.size(); ++i) {
      differences.row(static_cast<Eigen::Index>(i)) = best - actions_.row(block[i]);
    }
    const Matrix v = differences * basis_;
    const Vector squared = (v * proxy).cwiseProduct(v).rowwise().sum().cwiseMax(0);
    Vector widths = (2 * std::log(1 / part) * squared).cwiseSqrt();
    if (rule.clips() || !gaussian) {
      const Matrix a = weights * v.transpose();  // one pair a column
      for (Eigen::Index i = 0; i < a.cols(); ++i) {
        const std::span<const double> pair(a.col(i).data(), pulls_.size());
        if (!gaussian) widths[i] = ChernoffBound(squared[i], pair, errors.privacy, part);
        if (rule.clips()) widths[i] += clip * ClipWeights(rule, pulls_, pair);
      }
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double width = widths[static_cast<Eigen::Index>(i)];
      const double lead = ranking.values[ranking.best] - ranking.values[static_cast<Eigen::Index>(begin + i)];
      survivors.widest = std::max(survivors.widest, width);
      if (!(lead > width)) survivors.active.push_back(block[i]);
    }
  }
  return survivors;
}

PhaseRegression::Survivors PhaseRegression::EliminateBy(double width, const Vector& estimate,
                                                        std::span<const ArmId> active) const {
  const Ranking ranking = Rank(actions_, estimate, active);
  Survivors survivors{.active = {}, .widest = width, .best = active[ranking.best]};
  for (std::size_t i = 0; i < active.size(); ++i) {
    const double lead = ranking.values[ranking.best] - ranking.values[static_cast<Eigen::Index>(i)];
    if (!(lead > width)) survivors.active.push_back(active[i]);
  }
  return survivors;
}

}  // namespace bandana
