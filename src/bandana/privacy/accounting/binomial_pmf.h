#pragma once

#include <cstdint>

namespace bandana {

/// ln P(X = x) for X ~ Bin(n, p), 0 < p < 1; minus infinity outside [0, n]. Absolute error below
/// 3e-15 (10 + |result|), for n up to 2^53.
///
/// C. Loader, "Fast and accurate computation of binomial probabilities", 2000: no large logarithms cancel.
double LogBinomialPmf(std::int64_t x, std::int64_t n, double p);

}  // namespace bandana
