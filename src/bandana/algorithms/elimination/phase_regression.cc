#include "bandana/algorithms/elimination/phase_regression.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Cholesky"
#include "bandana/core/check.h"

namespace bandana {
namespace {

struct Ranking {
  Vector values;      // <estimate, x> of the active actions
  Eigen::Index best;  // the first index with the largest value
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
    : actions_(actions), basis_(design.basis) {
  BANDANA_CHECK(pulls.size() == design.support.size());
  const auto size = static_cast<Eigen::Index>(pulls.size());
  geometry_.pulls.assign(pulls.begin(), pulls.end());
  geometry_.support.resize(size, basis_.cols());
  Vector counts(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    geometry_.support.row(i) = actions.row(pulls[i].arm) * basis_;
    counts[i] = static_cast<double>(pulls[i].count);
  }
  const Matrix gram = geometry_.support.transpose() * counts.asDiagonal() * geometry_.support;
  const Eigen::LLT<Matrix> root(gram);
  const Matrix identity = Matrix::Identity(gram.rows(), gram.cols());
  geometry_.gram_inverse = root.solve(identity);
  geometry_.root_inverse = root.matrixL().solve(identity) * std::sqrt(counts.sum());
  geometry_.weights = counts.asDiagonal() * geometry_.support * geometry_.gram_inverse;
}

Vector PhaseRegression::Estimate(std::span<const double> averages) const {
  const Eigen::Map<const Vector> y(averages.data(), static_cast<Eigen::Index>(averages.size()));
  return basis_ * (geometry_.weights.transpose() * y);
}

Vector PhaseRegression::EstimateFrom(std::span<const double> reports,
                                     std::span<const Interval> bounds) const {
  const Eigen::Map<const Vector> mean(reports.data(), static_cast<Eigen::Index>(reports.size()));
  std::vector<double> middles;
  for (const Interval& bound : bounds) middles.push_back((bound.low + bound.high) / 2);
  return basis_ * (geometry_.root_inverse.transpose() * mean) + Estimate(middles);
}

bool PhaseRegression::Fits(const PhaseErrors& errors) const {
  const std::size_t size = geometry_.pulls.size();
  const auto numbers = static_cast<std::size_t>(geometry_.factors(errors.report).rows());
  const auto none_or = [](std::size_t entries, std::size_t wanted) {
    return entries == 0 || entries == wanted;
  };
  return errors.clients.size() == size && none_or(errors.bounds.size(), size) &&
         none_or(errors.means.size(), size) && none_or(errors.privacy.size(), numbers);
}

Eigen::Index PhaseRegression::SupportIndexOf(ArmId arm) const {
  const auto& pulls = geometry_.pulls;
  const auto place = std::lower_bound(pulls.begin(), pulls.end(), arm,
                                      [](const Pull& pull, ArmId wanted) { return pull.arm < wanted; });
  const bool found = place != pulls.end() && place->arm == arm;
  return found ? place - pulls.begin() : PhaseWidths::Ends::kElsewhere;
}

PhaseRegression::Survivors PhaseRegression::EliminateExactly(const Vector& estimate,
                                                             std::span<const ArmId> active,
                                                             const PhaseErrors& errors, double level) const {
  const PhaseWidths widths(geometry_, errors, level);
  const Ranking ranking = Rank(actions_, estimate, active);
  const ArmId best = active[ranking.best];
  Survivors survivors{.active = {}, .widest = 0, .best = best};
  constexpr std::size_t kBlock = 256;
  ActionMatrix differences;
  std::vector<PhaseWidths::Ends> ends;
  for (std::size_t begin = 0; begin < active.size(); begin += kBlock) {
    const std::span<const ArmId> block = active.subspan(begin, std::min(kBlock, active.size() - begin));
    differences.resize(static_cast<Eigen::Index>(block.size()), actions_.cols());
    ends.assign(block.size(), {.first = SupportIndexOf(best)});
    for (std::size_t i = 0; i < block.size(); ++i) {
      differences.row(static_cast<Eigen::Index>(i)) = actions_.row(best) - actions_.row(block[i]);
      ends[i].second = SupportIndexOf(block[i]);
    }
    const Vector of_block = widths.Of(differences * basis_, ends);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double width = block[i] == best ? 0 : of_block[static_cast<Eigen::Index>(i)];
      const double lead = ranking.values[ranking.best] - ranking.values[static_cast<Eigen::Index>(begin + i)];
      survivors.widest = std::max(survivors.widest, width);
      if (!(lead > width)) survivors.active.push_back(block[i]);
    }
  }
  return survivors;
}

std::vector<Interval> PhaseRegression::MeanBounds(const Vector& estimate, std::span<const ArmId> arms,
                                                  const PhaseErrors& errors, double level) const {
  ActionMatrix chosen(static_cast<Eigen::Index>(arms.size()), actions_.cols());
  std::vector<PhaseWidths::Ends> ends(arms.size(), {.second = PhaseWidths::Ends::kNothing});
  for (std::size_t i = 0; i < arms.size(); ++i) {
    chosen.row(static_cast<Eigen::Index>(i)) = actions_.row(arms[i]);
    ends[i].first = SupportIndexOf(arms[i]);
  }
  const Vector widths = PhaseWidths(geometry_, errors, level).Of(chosen * basis_, ends);
  const Vector values = chosen * estimate;
  std::vector<Interval> bounds(arms.size());
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    bounds[i] = {values[at] - widths[at], values[at] + widths[at]};
  }
  return bounds;
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
