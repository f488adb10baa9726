#include "bandana/bandit/context_coordinates.h"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <complex>
#include <numbers>

namespace bandana {
namespace {

constexpr double kHalfPi = std::numbers::pi / 2;

template <class F>
auto Integral(F f, double from, double to) {
  using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;
  constexpr unsigned kMostHalvings = 15;
  return Rule::integrate(f, from, to, kMostHalvings, 1e-13);
}

// E max of K copies of a symmetric variable on [-1, 1] with P(X > t) = tail(t):
// the integral over (0, 1) of P(max > t) - P(max < -t) = 1 - (1 - q)^K - q^K. t = sin(a) smooths q at 1.
template <class Tail>
double MeanLargest(Count copies, Tail tail) {
  const auto k = static_cast<double>(copies);
  return Integral(
      [&](double a) {
        const double q = tail(std::sin(a));
        return (-std::expm1(k * std::log1p(-q)) - std::pow(q, k)) * std::cos(a);
      },
      0, kHalfPi);
}

}  // namespace

double SphereCoordinateTail(Count dimension, double t) {
  if (t >= 1) return 0;
  if (t < -1) return 1;
  if (dimension == 1) return t < -1 ? 1 : 0.5;
  if (dimension == 2) return std::acos(t) / std::numbers::pi;
  if (dimension == 3) return (1 - t) / 2;
  if (t < 0) return 1 - SphereCoordinateTail(dimension, -t);
  return 0.5 * boost::math::ibeta((static_cast<double>(dimension) - 1) / 2, 0.5, (1 - t) * (1 + t));
}

// Length and direction of Z are independent. Inside the ball, Z_1 = sqrt(d) sin(b) leaves d cos^2(b) for the
// squares of the others.
double GaussianCoordinateTail(Count dimension, double t) {
  const auto d = static_cast<double>(dimension);
  const double outside = boost::math::gamma_q(d / 2, d / 2) * SphereCoordinateTail(dimension, t);
  const double scale = std::sqrt(d / (2 * std::numbers::pi));
  const auto inside = [&](double b) {
    const double sine = std::sin(b);
    const double cosine = std::cos(b);
    const double others = dimension == 1 ? 1 : boost::math::gamma_p((d - 1) / 2, d * cosine * cosine / 2);
    return scale * std::exp(-d * sine * sine / 2) * cosine * others;
  };
  return outside + Integral(inside, std::asin(t), kHalfPi);
}

double MeanLargestSphereCoordinate(Count dimension, Count copies) {
  if (dimension == 1) return 1 - std::exp2(1 - static_cast<double>(copies));
  return MeanLargest(copies, [&](double t) { return SphereCoordinateTail(dimension, t); });
}

double MeanLargestGaussianCoordinate(Count dimension, Count copies) {
  return MeanLargest(copies, [&](double t) { return GaussianCoordinateTail(dimension, t); });
}

WinningCluster WinOfCluster(Count dimension, Count copies, const Vector& heights,
                            const std::vector<double>& weights, double radius, Eigen::Index cluster) {
  const auto d = static_cast<double>(dimension);
  const auto rivals = static_cast<double>(copies - 1);
  // U_1 = sin(a) has the density cos(a)^(d - 2) / B(1/2, (d - 1)/2) in a.
  const double norm = static_cast<double>(copies) * weights[static_cast<std::size_t>(cluster)] /
                      boost::math::beta(0.5, (d - 1) / 2);
  // Both integrals at once.
  const auto win = [&](double a) -> std::complex<double> {
    const double t = std::sin(a);
    double above = 0;  // P(one score > this one)
    for (Eigen::Index other = 0; other < heights.size(); ++other) {
      above += weights[static_cast<std::size_t>(other)] *
               SphereCoordinateTail(dimension, t + (heights[cluster] - heights[other]) / radius);
    }
    const double density =
        norm * std::pow(std::cos(a), d - 2) * std::exp(rivals * std::log1p(-std::min(above, 1.0)));
    return {density, density * t};
  };
  // Rivals' laws have edges inside: no rule may step over one.
  std::vector<double> edges = {-kHalfPi, kHalfPi};
  for (Eigen::Index other = 0; other < heights.size(); ++other) {
    for (const double side : {-1.0, 1.0}) {
      const double edge = (heights[other] - heights[cluster]) / radius + side;
      if (std::abs(edge) < 1) edges.push_back(std::asin(edge));
    }
  }
  std::sort(edges.begin(), edges.end());
  WinningCluster total;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const double middle = (edges[i] + edges[i + 1]) / 2;
    const double half = (edges[i + 1] - edges[i]) / 2;
    constexpr double kNegligible = 1e-13;
    if (half < kNegligible) continue;
    // A tail goes as a power (d - 1)/2 of the distance to an edge, of this s as a whole power.
    const std::complex<double> part = Integral(
        [&](double s) { return half * std::cos(s) * win(middle + half * std::sin(s)); }, -kHalfPi, kHalfPi);
    total.probability += part.real();
    total.coordinate += part.imag();
  }
  return total;
}

}  // namespace bandana
