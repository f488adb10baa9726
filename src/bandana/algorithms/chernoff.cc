#include "bandana/algorithms/chernoff.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandana/core/check.h"
#include "bandana/core/golden_section.h"

namespace bandana {

double ChernoffBound(double squared_proxy, std::span<const double> weights, std::span<const NoiseLaw> laws,
                     double level) {
  BANDANA_CHECK(weights.size() == laws.size() && level > 0 && level < 1);
  const double log_inverse_level = std::log(1 / level);
  double gaussian = squared_proxy;
  double variance = squared_proxy;
  double steepest = 0;  // moments are finite below 1 / steepest
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const double square = weights[i] * weights[i];
    gaussian += square * laws[i].proxy * laws[i].proxy;
    variance += square * laws[i].stddev() * laws[i].stddev();
    if (laws[i].laplace_terms > 0) {
      steepest = std::max(steepest, std::abs(weights[i]) * laws[i].laplace_scale);
    }
  }
  if (steepest == 0) return std::sqrt(2 * log_inverse_level * gaussian);
  const auto bound = [&](double t) {
    double log_moment = t * t * gaussian / 2;
    for (std::size_t i = 0; i < laws.size(); ++i) {
      const double x = t * weights[i] * laws[i].laplace_scale;
      if (laws[i].laplace_terms > 0) {
        log_moment -= static_cast<double>(laws[i].laplace_terms) * std::log1p(-x * x);
      }
    }
    return (log_moment + log_inverse_level) / t;
  };
  // Quasi-convex in t, since the log moment K is convex: golden sections close in on the best exponent, where
  // ln(1 / level) = t K'(t) - K(t) >= variance t^2 / 2, as K'' >= variance.
  const double high = std::min(1 / steepest, std::sqrt(2 * log_inverse_level / variance));
  return bound(GoldenSection(bound, 0, high, 1e-4 * high));
}

}  // namespace bandana
