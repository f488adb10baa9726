#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "bandana/bandit/net.h"
#include "bandana/bandit/net_span.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status BadSample(std::string message) {
  InputError error;
  error.message = std::move(message);
  error.key = "actions";
  return InvalidField(Part::kParams, error);
}

/// The kept rows by cell. The sides of a cell equal the radius, along the three axes on which the sample is
/// widest. So everything within the radius of a row is in one of 27 cells.
class Cells {
 public:
  Cells(const ActionMatrix& sample, double radius) : sample_(sample), radius_(radius) {
    const Vector width = sample.colwise().maxCoeff() - sample.colwise().minCoeff();
    axes_.resize(sample.cols());
    std::iota(axes_.begin(), axes_.end(), 0);
    std::sort(axes_.begin(), axes_.end(),
              [&](auto a, auto b) { return std::pair(-width[a], a) < std::pair(-width[b], b); });
    axes_.resize(std::min<std::size_t>(axes_.size(), 3));
  }

  bool Covers(Eigen::Index row) const {
    const Cell home = CellOf(row);
    Cell cell;
    for (int step = 0; step < 27; ++step) {
      const std::array<int, 3> shift = {step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1};
      bool real = true;
      for (std::size_t a = 0; a < 3; ++a) {
        real = real && (a < axes_.size() || shift[a] == 0);
        cell[a] = home[a] + shift[a];
      }
      if (real && CoversFrom(cell, row)) return true;
    }
    return false;
  }

  void Keep(Eigen::Index row) { kept_[CellOf(row)].push_back(row); }

 private:
  using Cell = std::array<double, 3>;

  Cell CellOf(Eigen::Index row) const {
    Cell cell = {0, 0, 0};
    for (std::size_t a = 0; a < axes_.size(); ++a) cell[a] = std::floor(sample_(row, axes_[a]) / radius_);
    return cell;
  }

  bool CoversFrom(const Cell& cell, Eigen::Index row) const {
    const auto it = kept_.find(cell);
    if (it == kept_.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](Eigen::Index other) {
      return (sample_.row(row) - sample_.row(other)).squaredNorm() <= radius_ * radius_;
    });
  }

  const ActionMatrix& sample_;
  double radius_;
  std::vector<Eigen::Index> axes_;
  absl::flat_hash_map<Cell, std::vector<Eigen::Index>> kept_;
};

/// Adds the row farthest from the span until no row is farther than the tolerance.
void CompleteSpan(const ActionMatrix& sample, double longest, std::vector<ArmId>& net) {
  const auto row = [&](Eigen::Index i) { return sample.data() + i * sample.cols(); };
  const double tolerance = kDesignRankTolerance * longest;
  internal::Span span(sample.cols());
  for (const ArmId arm : net) {
    if (span.full()) return;
    span.Add(row(arm), tolerance);
  }
  while (!span.full()) {
    Eigen::Index farthest = 0;
    double distance = 0;
    for (Eigen::Index i = 0; i < sample.rows(); ++i) {
      if (const double d = span.Distance(row(i)); d > distance) {
        distance = d;
        farthest = i;
      }
    }
    if (!span.Add(row(farthest), tolerance)) return;
    net.push_back(static_cast<ArmId>(farthest));
  }
}

}  // namespace

absl::StatusOr<std::vector<ArmId>> SampledNet(const ActionMatrix& sample, double radius) {
  if (!(radius > 0 && std::isfinite(radius))) {
    return InvalidField(Part::kParams, "net_radius", radius, "a finite number > 0");
  }
  if (sample.size() == 0) return BadSample("the sample is empty");
  double longest = 0;
  for (Eigen::Index i = 0; i < sample.rows(); ++i) {
    const double norm = sample.row(i).norm();
    if (!std::isfinite(norm)) return BadSample(fmt::format("action {} has norm {}", i, norm));
    longest = std::max(longest, norm);
  }
  Cells cells(sample, radius);
  std::vector<ArmId> net;
  for (Eigen::Index i = 0; i < sample.rows(); ++i) {
    if (cells.Covers(i)) continue;
    cells.Keep(i);
    net.push_back(static_cast<ArmId>(i));
  }
  CompleteSpan(sample, longest, net);
  std::sort(net.begin(), net.end());
  return net;
}

}  // namespace bandana
