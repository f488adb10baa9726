#pragma once

#include <cmath>
#include <limits>

#include "bandana/core/ids.h"

namespace bandana {

/// The law of the privacy noise in one entry of a released value: independent parts of mean 0. Public, and
/// part of every width. Rounding to the mechanism's grid, by less than one of its units, is left out.
struct NoiseLaw {
  double proxy = 0;          ///< of the sub-Gaussian part: E exp(t X) <= exp(t^2 proxy^2 / 2)
  double laplace_scale = 0;  ///< of each Laplace term
  Count laplace_terms = 0;
  bool normal = false;  ///< the sub-Gaussian part is normal, and independent of what it is added to

  template <class Archive>
  void State(Archive& a) {
    a(proxy, laplace_scale, laplace_terms, normal);
  }

  /// Of Gaussian and Laplace noise; from above where the sub-Gaussian part is something else.
  double stddev() const {
    return std::sqrt(proxy * proxy + 2 * static_cast<double>(laplace_terms) * laplace_scale * laplace_scale);
  }

  /// A bound on ln E exp(t X); infinite where there is none.
  double LogMoment(double t) const {
    const double gaussian = t * t * proxy * proxy / 2;
    if (laplace_terms == 0) return gaussian;
    const double x = t * laplace_scale;
    if (!(std::abs(x) < 1)) return std::numeric_limits<double>::infinity();
    return gaussian - static_cast<double>(laplace_terms) * std::log1p(-x * x);
  }
};

}  // namespace bandana
