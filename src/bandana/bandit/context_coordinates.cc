#include "bandana/bandit/context_coordinates.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <complex>
#include <numbers>

// The integrals use Gauss rules on fixed panels. An adaptive rule never ends if it is asked for more than
// rounding allows.
namespace bandana {
namespace {

constexpr double kHalfPi = std::numbers::pi / 2;

template <class F>
auto OnPanel(F f, double from, double to) {
  return boost::math::quadrature::gauss<double, 20>::integrate(f, from, to);
}

// Coordinates sin(a) beyond this angle have a probability below exp(-700).
double TopAngle(Count dimension) { return std::min(kHalfPi, 40 / std::sqrt(static_cast<double>(dimension))); }

// E max of K copies of a symmetric variable on [-1, 1] is the integral over t in (0, 1) of
// P(max > t) - P(max < -t) = 1 - (1 - q)^K - q^K, q = P(X > t). In a = asin(t) this is smooth at 1 too.
double MeanLargestTerm(Count copies, double q, double angle) {
  const auto k = static_cast<double>(copies);
  return (-std::expm1(k * std::log1p(-q)) - std::pow(q, k)) * std::cos(angle);
}

constexpr int kPanels = 256;

// The density of b where Z_1 = sqrt(d) sin(b) and Z is inside the ball. The other squares may sum to at most
// d cos^2(b).
class InsideDensity {
 public:
  explicit InsideDensity(Count dimension)
      : d_(static_cast<double>(dimension)), scale_(std::sqrt(d_ / (2 * std::numbers::pi))) {}

  double operator()(double b) const {
    const double sine = std::sin(b);
    const double cosine = std::cos(b);
    const double others = d_ == 1 ? 1 : boost::math::gamma_p((d_ - 1) / 2, d_ * cosine * cosine / 2);
    return scale_ * std::exp(-d_ * sine * sine / 2) * cosine * others;
  }

 private:
  double d_;
  double scale_;
};

// Returns P(0 < U_1 < t), by parts. With n = d - 2, it is the integral of cos^n from 0 to asin(t), divided by
// twice the integral from 0 to pi/2.
double FewDimensionsBelow(int dimension, double t) {
  const double square = (1 - t) * (1 + t);
  const bool even = dimension % 2 == 0;
  double whole = even ? kHalfPi : 1;  // the integral of cos^n from 0 to pi/2, for n = 0 or 1
  double below = even ? std::asin(t) / std::numbers::pi : t / 2;
  double power = even ? std::sqrt(square) : square;  // cos^(n - 1), for n = 2 or 3
  for (int n = even ? 2 : 3; n <= dimension - 2; n += 2, power *= square) {
    whole *= (n - 1.0) / n;
    below += power * t / (2 * n * whole);
  }
  return below;
}

double OutsideBall(Count dimension) {
  const auto d = static_cast<double>(dimension);
  return boost::math::gamma_q(d / 2, d / 2);
}

}  // namespace

double SphereCoordinateTail(Count dimension, double t) {
  if (t >= 1) return 0;
  if (t < -1) return 1;
  if (dimension == 1) return 0.5;
  if (t < 0) return 1 - SphereCoordinateTail(dimension, -t);
  constexpr Count kFewDimensions = 64;
  if (dimension > kFewDimensions) {
    return 0.5 * boost::math::ibetac(0.5, (static_cast<double>(dimension) - 1) / 2, t * t);
  }
  return 0.5 - FewDimensionsBelow(static_cast<int>(dimension), t);
}

double MeanLargestSphereCoordinate(Count dimension, Count copies) {
  if (dimension == 1) return 1 - std::exp2(1 - static_cast<double>(copies));
  const double width = TopAngle(dimension) / kPanels;
  double mean = 0;
  for (int i = 0; i < kPanels; ++i) {
    const auto term = [&](double a) {
      return MeanLargestTerm(copies, SphereCoordinateTail(dimension, std::sin(a)), a);
    };
    mean += OnPanel(term, i * width, (i + 1) * width);
  }
  return mean;
}

// Goes from the top down, so that the tail at a panel's upper end is known.
double MeanLargestGaussianCoordinate(Count dimension, Count copies) {
  const double outside = OutsideBall(dimension);
  const InsideDensity density(dimension);
  const double top = TopAngle(dimension);
  const double width = top / kPanels;
  double mean = 0;
  double above = 0;  // P(inside the ball, and above the panel)
  for (int i = 0; i < kPanels; ++i) {
    const double high = top - i * width;
    const double low = top - (i + 1) * width;
    const auto term = [&](double a) {
      const double inside = above + boost::math::quadrature::gauss<double, 10>::integrate(density, a, high);
      const double q = inside + outside * SphereCoordinateTail(dimension, std::sin(a));
      return MeanLargestTerm(copies, q, a);
    };
    mean += boost::math::quadrature::gauss<double, 10>::integrate(term, low, high);
    above += OnPanel(density, low, high);
  }
  return mean;
}

WinningCluster WinOfCluster(Count dimension, Count copies, const Vector& heights,
                            const std::vector<double>& weights, double radius, Eigen::Index cluster) {
  const auto d = static_cast<double>(dimension);
  const auto rivals = static_cast<double>(copies - 1);
  // U_1 = sin(a) has the density cos(a)^(d - 2) / B(1/2, (d - 1)/2) in a.
  const double norm = static_cast<double>(copies) * weights[static_cast<std::size_t>(cluster)] /
                      boost::math::beta(0.5, (d - 1) / 2);
  // Computes both integrals at once, as the real and the imaginary part.
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
  // The rivals' distributions have edges inside the interval. No rule may step over one.
  std::vector<double> edges = {-kHalfPi, kHalfPi};
  for (Eigen::Index other = 0; other < heights.size(); ++other) {
    for (const double side : {-1.0, 1.0}) {
      const double edge = (heights[other] - heights[cluster]) / radius + side;
      if (std::abs(edge) < 1) edges.push_back(std::asin(edge));
    }
  }
  std::sort(edges.begin(), edges.end());
  // The probability of beating all rivals rises within about 1/K of an edge, so panels shrink towards both
  // ends.
  const int halvings = 4 + static_cast<int>(std::ceil(std::log2(static_cast<double>(copies))));
  WinningCluster total;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const double middle = (edges[i] + edges[i + 1]) / 2;
    const double half = (edges[i + 1] - edges[i]) / 2;
    // A tail is a power (d - 1)/2 of the distance to an edge, which is a whole power of this s.
    const auto smooth = [&](double s) { return half * std::cos(s) * win(middle + half * std::sin(s)); };
    std::complex<double> part = 0;
    for (int panel = 0; panel <= halvings; ++panel) {
      const double inner = kHalfPi * (1 - std::exp2(-panel));
      const double outer = panel == halvings ? kHalfPi : kHalfPi * (1 - std::exp2(-panel - 1));
      part += OnPanel(smooth, inner, outer) + OnPanel(smooth, -outer, -inner);
    }
    total.probability += part.real();
    total.coordinate += part.imag();
  }
  return total;
}

}  // namespace bandana
