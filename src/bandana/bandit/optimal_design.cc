#include "bandana/bandit/optimal_design.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

using Index = Eigen::Index;
using Lanes = Eigen::Array4d;

constexpr Index kLanes = 4;
/// Upper bounds are kept in floating point. An action within this factor of the maximum is never skipped.
constexpr double kBoundSlack = 1 + 1e-9;

Index Padded(Index n) { return (n + kLanes - 1) / kLanes * kLanes; }

Lanes Load(const double* x) { return Eigen::Map<const Lanes>(x); }

/// Computes x' t in columns j to j + 3, over the first `depth` rows of t, whose width is a multiple of four.
Lanes Product(const double* x, Index depth, const ActionMatrix& t, Index j) {
  Lanes sum = Lanes::Zero();
  const double* block = t.data() + j;
  for (Index c = 0; c < depth; ++c) sum += x[c] * Load(block + c * t.cols());
  return sum;
}

/// Returns the first row with the largest value. bound[i] * inflate is at least row i's value. value(i)
/// computes it and may lower bound[i].
template <class Value>
Index LazyArgMax(const std::vector<double>& bound, double inflate, Value value) {
  Index best = std::max_element(bound.begin(), bound.end()) - bound.begin();
  double most = value(best);
  double threshold = most / (inflate * kBoundSlack);
  for (Index i = 0; i < std::ssize(bound); ++i) {
    if (bound[i] < threshold) [[likely]]
      continue;
    const double v = value(i);
    if (v > most || (v == most && i < best)) {
      best = i;
      most = v;
      threshold = most / (inflate * kBoundSlack);
    }
  }
  return best;
}

/// The active rows, scaled by a power of two so that squares neither overflow nor vanish.
struct ActiveRows {
  const ActionMatrix& actions;
  std::vector<ArmId> arms;  // ascending
  double scale = 1;

  Index size() const { return std::ssize(arms); }
  Index dim() const { return actions.cols(); }
  const double* row(Index i) const { return actions.data() + arms[i] * dim(); }
  auto scaled(Index i) const { return Eigen::Map<const Vector>(row(i), dim()) * scale; }
};

absl::Status BadDesign(const std::string& message) {
  return InvalidField(Part::kFacts, {.message = message, .key = "actions"});
}

/// Returns the largest |entry|, or NaN if an entry is not finite.
double GreatestEntry(const double* x, Index n) {
  double greatest = 0;
  double poison = 0;
  for (Index c = 0; c < n; ++c) {
    greatest = std::max(greatest, std::abs(x[c]));
    poison += x[c] * 0;
  }
  return greatest + poison;
}

absl::StatusOr<ActiveRows> CheckedRows(const ActionMatrix& actions, std::span<const ArmId> active) {
  ActiveRows rows{actions, {active.begin(), active.end()}};
  if (rows.arms.empty()) return BadDesign("there is no action to explore");
  if (!std::is_sorted(rows.arms.begin(), rows.arms.end())) std::sort(rows.arms.begin(), rows.arms.end());
  rows.arms.erase(std::unique(rows.arms.begin(), rows.arms.end()), rows.arms.end());
  BANDANA_CHECK(rows.arms.front() >= 0 && rows.arms.back() < actions.rows());
  double greatest = 0;
  for (Index i = 0; i < rows.size(); ++i) {
    const double entry = GreatestEntry(rows.row(i), rows.dim());
    if (!std::isfinite(entry)) {
      return BadDesign(absl::StrCat("action ", rows.arms[i], " has an entry that is not finite"));
    }
    greatest = std::max(greatest, entry);
  }
  if (!(greatest > 1e-300)) return BadDesign("every action is zero, or has no entry above 1e-300");
  rows.scale = std::ldexp(1.0, -std::min(std::ilogb(greatest), 1000));
  return rows;
}

/// Gram-Schmidt with row pivoting: each pivot is the row farthest from the span of the pivots before it.
/// Distances only shrink, so a row's distance is updated only if its last value could still be the largest.
class GreedyVolume {
 public:
  explicit GreedyVolume(const ActiveRows& rows)
      : rows_(rows),
        square_(rows.size()),
        exact_(rows.size()),
        stage_(rows.size(), 0),
        residual_(rows.dim()) {
    for (Index i = 0; i < rows.size(); ++i) {
      residual_ = rows.scaled(i);
      square_[i] = exact_[i] = Dot(residual_.data(), residual_.data(), rows.dim());
    }
    const Index most = std::min(rows.size(), rows.dim());
    basis_.resize(rows.dim(), most);
    scaled_basis_.setZero(rows.dim(), Padded(most));
    while (rank() < most && AddPivot()) {
    }
    basis_.conservativeResize(Eigen::NoChange, rank());
  }

  Index rank() const { return std::ssize(pivots_); }
  const std::vector<Index>& pivots() const { return pivots_; }
  const Matrix& basis() const { return basis_; }

  /// Returns every row as a combination of the pivot rows, zero-padded to a multiple of four columns. The
  /// pivots become unit vectors, whatever the scales of the actions. Leverages are the same in any
  /// coordinates.
  ActionMatrix Coordinates() const {
    const Index r = rank();
    Matrix upper = Matrix::Zero(r, r);
    for (Index j = 0; j < r; ++j) {
      const Vector pivot = rows_.scaled(pivots_[j]);
      for (Index i = 0; i <= j; ++i) upper(i, j) = Dot(basis_.col(i).data(), pivot.data(), rows_.dim());
    }
    ActionMatrix map = ActionMatrix::Zero(rows_.dim(), Padded(r));
    map.leftCols(r) = upper.triangularView<Eigen::Upper>()
                          .solve(Matrix(basis_.transpose()))
                          .transpose();  // x = sum_j z_j b_j, z = R^-1 Q' x
    map *= rows_.scale;
    ActionMatrix z(rows_.size(), map.cols());
    for (Index i = 0; i < rows_.size(); ++i) {
      for (Index j = 0; j < z.cols(); j += kLanes) {
        Eigen::Map<Lanes>(z.data() + i * z.cols() + j) = Product(rows_.row(i), rows_.dim(), map, j);
      }
    }
    for (Index j = 0; j < r; ++j) z.row(pivots_[j]) = Vector::Unit(z.cols(), j).transpose();
    return z;
  }

 private:
  /// Downdates the square until cancellation would show, then computes it again from the row.
  double Square(Index i) {
    for (Index j = stage_[i] / kLanes * kLanes; j < rank(); j += kLanes) {
      const Lanes along = Product(rows_.row(i), rows_.dim(), scaled_basis_, j);
      for (; stage_[i] < std::min(rank(), j + kLanes); ++stage_[i]) {
        square_[i] -= along[stage_[i] - j] * along[stage_[i] - j];
      }
    }
    if (!(square_[i] >= 1e-3 * exact_[i]) && exact_[i] > 0) {
      ComputeResidual(i);
      square_[i] = exact_[i] = Dot(residual_.data(), residual_.data(), rows_.dim());
    }
    return square_[i];
  }

  void ComputeResidual(Index i) {
    residual_ = rows_.scaled(i);
    for (int pass = 0; pass < 2; ++pass) {
      for (Index j = 0; j < rank(); ++j) {
        residual_ -= Dot(basis_.col(j).data(), residual_.data(), rows_.dim()) * basis_.col(j);
      }
    }
  }

  bool AddPivot() {
    const Index pivot = LazyArgMax(square_, 1, [&](Index i) { return Square(i); });
    ComputeResidual(pivot);
    const double norm = std::sqrt(Dot(residual_.data(), residual_.data(), rows_.dim()));
    if (pivots_.empty()) longest_ = norm;
    if (!(norm > kDesignRankTolerance * longest_)) return false;
    basis_.col(rank()) = residual_ / norm;
    scaled_basis_.col(rank()) = basis_.col(rank()) * rows_.scale;
    pivots_.push_back(pivot);
    return true;
  }

  const ActiveRows& rows_;
  std::vector<double> square_;  // squared distance to the span of the first stage_[i] pivots
  std::vector<double> exact_;   // the last value that was not downdated
  std::vector<std::int32_t> stage_;
  std::vector<Index> pivots_;
  Matrix basis_;
  ActionMatrix scaled_basis_;  // basis_ * scale, zero-padded
  Vector residual_;
  double longest_ = 0;
};

struct Atom {
  Index row;
  double weight;
};

/// tau_i = z_i' V^-1 z_i for all rows under a changing V = sum of weight z z'. A change is a rank-one update
/// of V^-1 and of every tau. A row's updates are postponed until its bound could reach the maximum. They are
/// then applied in order, so that the values are the same as if all rows were updated at once.
class Leverages {
 public:
  Leverages(ActionMatrix z, Index rank)
      : z_(std::move(z)),
        rank_(rank),
        max_pending_(Padded(4 * rank + 64)),
        tau_(z_.rows()),
        bound_(z_.rows()),
        stage_(z_.rows()),
        directions_(ActionMatrix::Zero(z_.cols(), max_pending_)) {}

  Index rank() const { return rank_; }
  Vector Coordinates(Index i) const { return z_.row(i).head(rank_).transpose(); }
  /// Returns whether every value comes from the weights alone.
  bool fresh() const { return changes_.empty(); }
  bool full() const { return std::ssize(changes_) == max_pending_; }

  /// Computes all values from the weights: O(k r^2).
  void Reset(std::span<const Atom> atoms) {
    Matrix v = Matrix::Zero(rank_, rank_);
    for (const Atom& a : atoms) {
      const auto z = z_.row(a.row).head(rank_);
      v.noalias() += (a.weight * z.transpose()).lazyProduct(z);
    }
    const Matrix factor = v.llt().matrixL();
    ActionMatrix map = ActionMatrix::Zero(rank_, z_.cols());
    map.leftCols(rank_) =
        factor.triangularView<Eigen::Lower>().solve(Matrix::Identity(rank_, rank_)).transpose();
    inverse_ = Matrix::Zero(z_.cols(), z_.cols());
    inverse_.topLeftCorner(rank_, rank_) = map.leftCols(rank_) * map.leftCols(rank_).transpose();
    for (Index i = 0; i < z_.rows(); ++i) {
      Lanes squares = Lanes::Zero();
      for (Index j = 0; j < z_.cols(); j += kLanes) {
        squares += Product(Row(i), std::min(rank_, j + kLanes), map, j).square();
      }
      tau_[i] = bound_[i] = (squares[0] + squares[2]) + (squares[1] + squares[3]);
      stage_[i] = 0;
    }
    changes_.clear();
    growth_ = {1.0};
    top_ = -1;
  }

  double At(Index i) {
    const Index now = std::ssize(changes_);
    if (stage_[i] == now) return tau_[i];
    double tau = tau_[i];
    for (Index j = stage_[i] / kLanes * kLanes; j < now; j += kLanes) {
      const Lanes across = Product(Row(i), z_.cols(), directions_, j);
      for (Index s = std::max<Index>(j, stage_[i]); s < std::min(now, j + kLanes); ++s) {
        tau = (tau - changes_[s].beta * across[s - j] * across[s - j]) * changes_[s].spread;
      }
    }
    stage_[i] = static_cast<std::int32_t>(now);
    bound_[i] = tau / growth_[now];
    return tau_[i] = tau;
  }

  Index ArgMax() {
    if (top_ < 0) top_ = LazyArgMax(bound_, growth_.back(), [&](Index i) { return At(i); });
    return top_;
  }

  /// Returns z_i' V^-1 z_j, where `direction` is InverseTimes(j).
  double Between(Index i, const Vector& direction) const { return Dot(Row(i), direction.data(), z_.cols()); }

  /// Returns V^-1 z_i.
  Vector InverseTimes(Index i) const {
    Vector u(z_.cols());
    for (Index c = 0; c < z_.cols(); ++c) u[c] = Dot(inverse_.col(c).data(), Row(i), z_.cols());
    return u;
  }

  /// Applies V <- (1 - alpha) V + alpha z z' for row i; alpha < 0 removes weight. The new V must be regular.
  void Shift(Index i, double alpha) {
    BANDANA_CHECK(!full());
    const Vector u = InverseTimes(i);
    const double tau = Dot(u.data(), Row(i), z_.cols());
    const double kept = 1 - alpha + alpha * tau;
    const Change change{.beta = alpha / kept, .spread = 1 / (1 - alpha)};  // Eq. Sherman-Morrison
    inverse_ = (inverse_ - change.beta * (u * u.transpose())) * change.spread;
    directions_.col(std::ssize(changes_)) = u;
    changes_.push_back(change);
    // (z' V^-1 x)^2 lies between 0 and tau(z) tau(x).
    growth_.push_back(growth_.back() * (alpha > 0 ? change.spread : 1 / kept));
    top_ = -1;
  }

 private:
  struct Change {
    double beta;
    double spread;
  };

  const double* Row(Index i) const { return z_.data() + i * z_.cols(); }

  ActionMatrix z_;
  Index rank_;
  Index max_pending_;
  std::vector<double> tau_;    // the value after the first stage_[i] changes
  std::vector<double> bound_;  // tau_[i] / growth_[stage_[i]]
  std::vector<std::int32_t> stage_;
  Matrix inverse_;
  ActionMatrix directions_;  // V^-1 z of each change, with V before the change
  std::vector<Change> changes_;
  std::vector<double> growth_;  // an upper bound on the growth of any tau since the last Reset
  Index top_ = -1;              // ArgMax(), if known
};

/// A design on the rows, and the leverages under it.
class WorkingDesign {
 public:
  WorkingDesign(Leverages& leverages, std::vector<Atom> atoms)
      : leverages_(leverages), rank_(static_cast<double>(leverages.rank())), atoms_(std::move(atoms)) {
    leverages_.Reset(atoms_);
  }

  const std::vector<Atom>& atoms() const { return atoms_; }
  Index support() const { return std::ssize(atoms_); }
  bool Supports(Index row) const { return Position(row) < support(); }

  /// Returns whether g <= goal, by leverages computed from the weights alone.
  bool Reaches(double goal) {
    if (!(Greatest() <= goal)) return false;
    if (!leverages_.fresh()) leverages_.Reset(atoms_);
    return Greatest() <= goal;
  }

  double g() {
    if (!leverages_.fresh()) leverages_.Reset(atoms_);
    return Greatest();
  }

  /// Applies V <- (1 - alpha) V + alpha z z'. Removes an atom if only rounding is left of its weight.
  void Shift(Index row, double alpha) {
    if (leverages_.full() || (!leverages_.fresh() && Drifted())) leverages_.Reset(atoms_);
    leverages_.Shift(row, alpha);
    for (Atom& a : atoms_) a.weight *= 1 - alpha;
    const Index at = Position(row);
    if (at == support()) atoms_.push_back({row, 0});
    atoms_[at].weight += alpha;
    if (atoms_[at].weight < 1e-12) atoms_.erase(atoms_.begin() + at);
  }

  /// Returns the atom with the smallest leverage, the first row if several are equal.
  Atom Least() {
    return *std::min_element(atoms_.begin(), atoms_.end(), [&](const Atom& a, const Atom& b) {
      return std::pair(leverages_.At(a.row), a.row) < std::pair(leverages_.At(b.row), b.row);
    });
  }

 private:
  double Greatest() { return leverages_.At(leverages_.ArgMax()); }

  /// Returns whether rounding has accumulated: the weighted sum of the leverages should be the rank.
  bool Drifted() {
    double sum = 0;
    for (const Atom& a : atoms_) sum += a.weight * leverages_.At(a.row);
    return !(std::abs(sum - rank_) <= 1e-9 * rank_);
  }

  Index Position(Index row) const {
    return std::find_if(atoms_.begin(), atoms_.end(), [&](const Atom& a) { return a.row == row; }) -
           atoms_.begin();
  }

  Leverages& leverages_;
  double rank_;
  std::vector<Atom> atoms_;
};

struct Result {
  std::vector<Atom> atoms;
  double g;
  int steps;
};

/// Returns the alpha that maximizes log det V along V <- (1 - alpha) V + alpha z z'. `weight` is the weight
/// that row z can lose.
double LineSearch(double tau, double r, double weight) {
  const double all = -weight / (1 - weight);
  if (tau <= 1) return all;
  return std::max(all, (tau / r - 1) / (tau - 1));  // Eq. Khachiyan (1996): the step
}

/// Takes one step, towards the row with the largest leverage or away from the atom with the smallest,
/// whichever is farther from optimality: tau = r on the support, tau <= r off it. Returns false if the
/// support would exceed its bound.
bool FrankWolfeStep(Leverages& leverages, WorkingDesign& design, Index max_support) {
  const double r = static_cast<double>(leverages.rank());
  const Index top = leverages.ArgMax();
  const double top_tau = leverages.At(top);
  const Atom least = design.Least();
  const double least_tau = leverages.At(least.row);
  if (top_tau - r < r - least_tau) {
    design.Shift(least.row, LineSearch(least_tau, r, least.weight));
    return true;
  }
  if (design.support() == max_support && !design.Supports(top)) return false;
  design.Shift(top, LineSearch(top_tau, r, 0));
  return true;
}

std::vector<Atom> UniformOn(const std::vector<Index>& rows) {
  std::vector<Atom> atoms;
  for (Index row : rows) atoms.push_back({row, 1.0 / static_cast<double>(rows.size())});
  return atoms;
}

/// Runs steps from this design until it reaches the goal, or the bound on the support or on the steps.
Result FrankWolfe(Leverages& leverages, std::vector<Atom> start, double goal) {
  const double r = static_cast<double>(leverages.rank());
  const Index max_support = DesignSupportBound(static_cast<int>(leverages.rank()));
  const int max_steps = static_cast<int>(16 * r * (1 + 1 / std::max(goal / r - 1, 0.01)));
  WorkingDesign design(leverages, std::move(start));
  int steps = 0;
  while (steps < max_steps && !design.Reaches(goal) && FrankWolfeStep(leverages, design, max_support))
    ++steps;
  const double g = design.g();
  return {design.atoms(), g, steps};
}

/// Replaces one of n equal atoms by the row with the largest leverage; it chooses the atom for which det V
/// becomes largest. Returns false if det V would not grow.
bool ExchangeStep(Leverages& leverages, WorkingDesign& design, double n) {
  const Index in = leverages.ArgMax();
  const double t_in = leverages.At(in) / n;
  const Vector direction = leverages.InverseTimes(in);
  double most = 1 + 1e-6;
  Index out = -1;
  for (const Atom& a : design.atoms()) {
    const double between = leverages.Between(a.row, direction) / n;
    const double factor =
        (1 - leverages.At(a.row) / n) * (1 + t_in) + between * between;  // Eq. Fedorov (1972)
    if (factor > most || (factor == most && a.row < out)) {
      most = factor;
      out = a.row;
    }
  }
  if (out < 0) return false;
  design.Shift(in, 1 / (n + 1));
  design.Shift(out, -1 / n);
  return true;
}

/// Fedorov's exchange over multisets S of N = 4 r rows, V = sum_S z z' / N, starting from four copies of each
/// pivot. It ends with g <= 2 r and at most 4 r <= DesignSupportBound(r) atoms (compare Madan et al., COLT
/// 2019):
///
/// Write t for leverages under N V. Replacing i in S by j multiplies det V by (1 - t_i)(1 + t_j) + t_ij^2.
/// Since sum_S t_i = r and sum_S t_ij^2 = t_j, the average of this factor over S is 1 + (t_j (N - r + 1) - r)
/// / N.
///   (a) If no exchange increases det V, then g = N max t_j <= N r / (N - r + 1) < 4 r / 3.
///   (b) While g > 2 r, some t_j > 1/2, and the best exchange gives a factor of more than 9/8.
///   (c) Take the coordinates of the pivots' Gram-Schmidt basis, divided by the pivots' distances. Pivoting
///   puts every row into [-1, 1]^r. So, by Hadamard, no design's det exceeds r^r times that of the start.
///
/// Hence g <= 2 r after at most r ln r / ln(9/8) exchanges.
Result Exchange(Leverages& leverages, const std::vector<Index>& pivots, double goal) {
  const double r = static_cast<double>(pivots.size());
  const int max_steps = static_cast<int>(r * std::log(r) / std::log(9.0 / 8)) + 1;
  WorkingDesign design(leverages, UniformOn(pivots));
  int steps = 0;
  while (steps < max_steps && !design.Reaches(goal) && ExchangeStep(leverages, design, 4 * r)) ++steps;
  const double g = design.g();
  return {design.atoms(), g, steps};
}

/// Returns the active part of an earlier design, completed to full rank by pivots, which are unit vectors in
/// the rows' coordinates z. Each direction has an equal share of the weight: the active part gets rank / r.
std::vector<Atom> WarmStart(const ActiveRows& rows, const Leverages& leverages,
                            const std::vector<Index>& pivots, const Design& earlier) {
  constexpr double kIndependent = 1e-2;
  const Index r = leverages.rank();
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < earlier.support.size(); ++i) {
    const auto at = std::lower_bound(rows.arms.begin(), rows.arms.end(), earlier.support[i]);
    if (at == rows.arms.end() || *at != earlier.support[i]) continue;
    atoms.push_back({at - rows.arms.begin(), earlier.weights[i]});
  }
  const auto room = static_cast<std::size_t>(DesignSupportBound(static_cast<int>(r)) - r);
  if (atoms.size() > room) {
    std::sort(atoms.begin(), atoms.end(), [](const Atom& a, const Atom& b) {
      return std::pair(-a.weight, a.row) < std::pair(-b.weight, b.row);
    });
    atoms.resize(room);
  }
  Matrix basis(r, 0);
  const auto takes = [&](Vector z) {
    const double length = z.norm();
    for (int pass = 0; pass < 2; ++pass) z -= basis * (basis.transpose() * z);
    if (!(z.norm() > kIndependent * length)) return false;
    basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
    basis.rightCols(1) = z.normalized();
    return true;
  };
  double left = 0;
  for (const Atom& a : atoms) {
    left += a.weight;
    if (basis.cols() < r) takes(leverages.Coordinates(a.row));
  }
  if (basis.cols() == 0) atoms.clear();
  const double share = static_cast<double>(basis.cols()) / static_cast<double>(r);
  for (Atom& a : atoms) a.weight *= share / left;
  for (const Index pivot : pivots) {
    if (basis.cols() == r) break;
    if (!takes(leverages.Coordinates(pivot))) continue;
    const double weight = 1.0 / static_cast<double>(r);
    const auto same = std::find_if(atoms.begin(), atoms.end(), [&](const Atom& a) { return a.row == pivot; });
    if (same == atoms.end()) {
      atoms.push_back({pivot, weight});
    } else {
      same->weight += weight;
    }
  }
  return atoms;
}

Design Assemble(const ActiveRows& rows, const Matrix& basis, Result result) {
  std::sort(result.atoms.begin(), result.atoms.end(),
            [](const Atom& a, const Atom& b) { return a.row < b.row; });
  Design design{.support = {}, .weights = {}, .basis = basis, .g = result.g, .steps = result.steps};
  for (const Atom& a : result.atoms) {
    design.support.push_back(rows.arms[a.row]);
    design.weights.push_back(a.weight);
  }
  return design;
}

/// Takes steps from equal weights towards the row with the largest leverage, until g <= target * rank.
absl::StatusOr<Design> FromUniform(const ActionMatrix& actions, std::span<const ArmId> active,
                                   double target) {
  BANDANA_ASSIGN_OR_RETURN(const ActiveRows rows, CheckedRows(actions, active));
  const GreedyVolume start(rows);
  const auto rank = static_cast<double>(start.rank());
  Leverages leverages(start.Coordinates(), start.rank());
  std::vector<Index> all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  WorkingDesign design(leverages, UniformOn(all));
  int steps = 0;  // While g > 2 rank a step multiplies det V by more than 6/5: at most 6 rank ln |active|.
  for (; steps < 1000 * rank && !design.Reaches(target * rank); ++steps) {
    const Index top = leverages.ArgMax();
    if (rank == 1) return Assemble(rows, start.basis(), {.atoms = {{top, 1}}, .g = 1, .steps = 1});
    design.Shift(top, LineSearch(leverages.At(top), rank, 0));
  }
  return Assemble(rows, start.basis(), {.atoms = design.atoms(), .g = design.g(), .steps = steps});
}

}  // namespace

int DesignSupportBound(int rank) {
  if (rank < 3) return 16;
  return static_cast<int>(4 * rank * std::log(std::log(rank))) + 16;
}

absl::StatusOr<Design> NearOptimalDesign(const ActionMatrix& actions, std::span<const ArmId> active,
                                         const DesignParams& params) {
  if (!(params.target > 1 && params.target <= 2)) {
    return InvalidOption("target", params.target, "(1, 2]");
  }
  BANDANA_ASSIGN_OR_RETURN(const ActiveRows rows, CheckedRows(actions, active));
  const GreedyVolume start(rows);
  const double rank = static_cast<double>(start.rank());
  const double goal = params.target * rank;
  Leverages leverages(start.Coordinates(), start.rank());
  Result best{.atoms = {}, .g = kInfinity, .steps = 0};
  const auto attempt = [&](Result result) {
    result.steps = best.steps += result.steps;
    if (!(best.g <= result.g)) best = std::move(result);
  };
  if (params.warm_start != nullptr) {
    attempt(FrankWolfe(leverages, WarmStart(rows, leverages, start.pivots(), *params.warm_start), goal));
  }
  if (!(best.g <= goal)) attempt(FrankWolfe(leverages, UniformOn(start.pivots()), goal));
  if (!(best.g <= goal)) attempt(Exchange(leverages, start.pivots(), goal));
  if (!(best.g <= 2 * rank))
    return absl::InternalError(absl::StrCat("rounding errors have made the design useless: g = ", best.g));
  return Assemble(rows, start.basis(), std::move(best));
}

absl::StatusOr<Design> UniformDesign(const ActionMatrix& actions, std::span<const ArmId> active) {
  return FromUniform(actions, active, kInfinity);
}

absl::StatusOr<Design> FrankWolfeDesign(const ActionMatrix& actions, std::span<const ArmId> active) {
  return FromUniform(actions, active, 2);
}

}  // namespace bandana
