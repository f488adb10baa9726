#include "bandana/bandit/net_lattice.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bandana::internal {
namespace {

constexpr double kSlack = 1e-12;

double LogUnitBall(int n) { return 0.5 * n * std::log(std::numbers::pi) - std::lgamma(0.5 * n + 1); }

/// Enumerates the coefficients depth first, from the last coordinate (Fincke & Pohst, 1985).
class Enumeration {
 public:
  Enumeration(const Matrix& basis, double inner, double outer,
              absl::FunctionRef<void(const std::vector<double>&, long)> point)
      : basis_(basis),
        inner_(inner * inner * (1 - kSlack)),
        outer_(outer * outer * (1 + kSlack)),
        point_(point),
        x_(basis.rows()),
        z_(basis.rows()) {}

  void Run() { Descend(basis_.rows() - 1, 0); }

 private:
  void Descend(Eigen::Index j, double square) {
    if (j < 0) {
      long multiple = 0;
      for (const long z : z_) multiple = std::gcd(multiple, z);
      point_(x_, multiple);
      return;
    }
    double center = 0;
    for (Eigen::Index i = j + 1; i < basis_.rows(); ++i) center += static_cast<double>(z_[i]) * basis_(i, j);
    const double step = basis_(j, j);
    const double reach = std::sqrt(std::max(0.0, outer_ - square));
    const double hole = j == 0 && square < inner_ ? std::sqrt(inner_ - square) : 0;
    const long last = std::lround(std::floor((reach - center) / step));
    for (long z = std::lround(std::ceil((-reach - center) / step)); z <= last; ++z) {
      double x = center + static_cast<double>(z) * step;
      if (std::abs(x) < hole && x < 0) {
        z = std::max(z, std::lround(std::ceil((hole - center) / step)));
        if (z > last) return;
        x = center + static_cast<double>(z) * step;
      }
      if (std::abs(x) < hole) continue;
      x_[j] = x;
      z_[j] = z;
      Descend(j - 1, square + x * x);
    }
  }

  const Matrix& basis_;
  double inner_;
  double outer_;
  absl::FunctionRef<void(const std::vector<double>&, long)> point_;
  std::vector<double> x_;
  std::vector<long> z_;
};

}  // namespace

CoveringLattice::CoveringLattice(int dimension, double covering_radius)
    : dimension_(dimension), covering_radius_(covering_radius) {
  const double n = dimension;
  const double unscaled = std::sqrt(n * (n + 2) / (12 * (n + 1)));  // Conway & Sloane, Eq. (4.81)
  const double scale = covering_radius * (1 - kSlack) / unscaled;
  const Matrix gram =
      Matrix::Identity(dimension, dimension) - Matrix::Constant(dimension, dimension, 1 / (n + 1));
  basis_ = scale * Matrix(gram.llt().matrixL());
  log_cell_ = n * std::log(scale) - 0.5 * std::log(n + 1);
}

double CoveringLattice::ExpectedWithin(double radius) const {
  return std::exp(LogUnitBall(dimension_) + dimension_ * std::log(radius) - log_cell_);
}

void CoveringLattice::ForEach(double inner, double outer,
                              absl::FunctionRef<void(const std::vector<double>&, long)> point) const {
  Enumeration(basis_, inner, outer, point).Run();
}

}  // namespace bandana::internal
