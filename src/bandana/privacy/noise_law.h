#pragma once

#include <cmath>

#include "bandana/core/ids.h"
#include "bandana/core/infinity.h"

namespace bandana {

/// The law of the privacy noise in one entry of a released value. The noise is a sum of independent terms of
/// mean 0. The law is public and part of every confidence width. Rounding to the mechanism's grid moves a
/// value by less than one grid unit and is left out.
struct NoiseLaw {
  double proxy = 0;          ///< the proxy of the sub-Gaussian part X: E exp(t X) <= exp(t^2 proxy^2 / 2)
  double laplace_scale = 0;  ///< the scale of each Laplace term
  Count laplace_terms = 0;
  /// Whether the sub-Gaussian part is normal, and independent of the value that it is added to.
  bool normal = false;

  template <class Archive>
  void State(Archive& a) {
    a(proxy, laplace_scale, laplace_terms, normal);
  }

  /// Returns the standard deviation of Gaussian and Laplace noise. It is an upper bound if the sub-Gaussian
  /// part has another law.
  double stddev() const {
    return std::sqrt(proxy * proxy + 2 * static_cast<double>(laplace_terms) * laplace_scale * laplace_scale);
  }

  /// Returns an upper bound on ln E exp(t X), or infinity if there is none.
  double LogMoment(double t) const {
    const double gaussian = t * t * proxy * proxy / 2;
    if (laplace_terms == 0) return gaussian;
    const double x = t * laplace_scale;
    if (!(std::abs(x) < 1)) return kInfinity;
    return gaussian - static_cast<double>(laplace_terms) * std::log1p(-x * x);
  }
};

}  // namespace bandana
