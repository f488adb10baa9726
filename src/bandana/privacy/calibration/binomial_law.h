#pragma once

#include <cstdint>

#include "bandana/core/ids.h"

/// The binomial law to nearly the last bit, for any size: what the shuffle calibrations are made of.
///
/// C. Loader, "Fast and accurate computation of binomial probabilities", 2000: ln C(n, x) p^x q^(n-x) as a
/// sum of deviances, so that nothing of the size of n ln n cancels.
namespace bandana {

/// x ln(x/mean) + mean - x >= 0, without the cancellation near x = mean; x >= 0, mean > 0.
double PoissonDeviance(double x, double mean);

/// ln of the probability of x successes in n trials of probability p = 1 - q. Both are asked for, since the
/// smaller one must not be rounded away. 0 <= x <= n <= 2^53.
double LogBinomial(double x, double n, double p, double q);

/// A bound on the error of LogBinomial where n p and n q are exact, as for p = 1/2.
double BinomialLogError(double log_pmf);
/// What is to be added where p and q are each off by at most 2^-52 of their size.
double BinomialMeanError(double x, double n, double p);

/// P[X = x], from above: 0 outside [0, n].
double BinomialMass(std::int64_t x, std::int64_t n, double p);

/// P[X <= x] and P[X >= x], from above, for x on that side of the mode or near it: summed term by term until
/// the rest, which log-concavity bounds by a geometric series and which is included, is below 1e-16 of the
/// sum.
double BinomialLowerTail(std::int64_t x, std::int64_t n, double p);
double BinomialUpperTail(std::int64_t x, std::int64_t n, double p);

/// ln of Chernoff's bound on P[X >= x] for x >= n p, on P[X <= x] for x <= n p.
double LogBinomialTailBound(double x, double n, double p, double q);

}  // namespace bandana
