#pragma once

#include <span>

#include "bandana/privacy/noise_law.h"

namespace bandana {

/// A bound that X + sum_i weights_i Z_i exceeds with probability at most `level`, where X is sub-Gaussian
/// with this squared proxy and the Z_i are independent of it and of each other with these laws. Chernoff's,
/// at an exponent near the best; any exponent's is valid.
double ChernoffBound(double squared_proxy, std::span<const double> weights, std::span<const NoiseLaw> laws,
                     double level);

}  // namespace bandana
