#pragma once

#include <cstdint>

namespace bandana {

/// ln P(X = x) for X ~ Bin(n, p), 0 < p < 1; minus infinity outside [0, n]. Absolute error below
/// 3e-15 (10 + |result|), for n up to 2^53.
///
/// C. Loader, "Fast and accurate computation of binomial probabilities", 2000: no large logarithms cancel.
double LogBinomialPmf(std::int64_t x, std::int64_t n, double p);

/// P(X <= x), respectively P(X >= x), for x on that side of the mode, or near it: summed term by term until
/// the rest, which log-concavity bounds by a geometric series and which is included, is below 1e-16 of the
/// sum.
double BinomialLowerTail(std::int64_t x, std::int64_t n, double p);
double BinomialUpperTail(std::int64_t x, std::int64_t n, double p);

}  // namespace bandana
