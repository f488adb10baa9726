#pragma once

#include <cstdint>

#include "bandana/core/ids.h"

/// The binomial law to nearly the last bit, for any size. The shuffle calibrations are built on it.
///
/// C. Loader, "Fast and accurate computation of binomial probabilities", 2000: ln C(n, x) p^x q^(n-x) is a
/// sum of deviances, so that no terms of the size of n ln n cancel.
namespace bandana {

/// Returns x ln(x/mean) + mean - x >= 0, without the cancellation near x = mean; x >= 0, mean > 0.
double PoissonDeviance(double x, double mean);

/// Returns ln of the probability of x successes in n trials of probability p = 1 - q. Both p and q are
/// arguments, since the smaller one must not be rounded away. 0 <= x <= n <= 2^53.
double LogBinomial(double x, double n, double p, double q);

/// Returns a bound on the error of LogBinomial if n p and n q are exact, as for p = 1/2.
double BinomialLogError(double log_pmf);
/// Returns the additional error if p and q each have a relative error of at most 2^-52.
double BinomialMeanError(double x, double n, double p);

/// Returns an upper bound on P[X = x]; 0 outside [0, n].
double BinomialMass(std::int64_t x, std::int64_t n, double p);

/// Return upper bounds on P[X <= x] and P[X >= x], for x on that side of the mode or near it. The terms are
/// summed until the rest is below 1e-16 of the sum. Log-concavity bounds the rest by a geometric series,
/// which is included.
double BinomialLowerTail(std::int64_t x, std::int64_t n, double p);
double BinomialUpperTail(std::int64_t x, std::int64_t n, double p);

/// Returns ln of Chernoff's bound: on P[X >= x] for x >= n p, on P[X <= x] for x <= n p.
double LogBinomialTailBound(double x, double n, double p, double q);

}  // namespace bandana
