#include "bandana/privacy/accounting/zcdp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/privacy/accounting/renyi.h"

namespace bandana {
namespace {

// Returns the least value(alpha) over alpha > 1. Every alpha gives a valid bound, so that the search may stop
// anywhere.
template <class Value>
double LeastOverOrders(Value value) {
  const auto at = [&](double log_excess) { return value(1 + std::exp(log_excess)); };
  double best = -20;
  double least = at(best);
  for (double log_excess = -20; log_excess <= 40; log_excess += 0.5) {
    const double here = at(log_excess);
    if (here < least) {
      least = here;
      best = log_excess;
    }
  }
  double low = best - 0.5;
  double high = best + 0.5;
  constexpr double kGolden = std::numbers::phi - 1;
  while (high - low > 1e-9) {
    const double left = high - kGolden * (high - low);
    const double right = low + kGolden * (high - low);
    (at(left) <= at(right) ? high : low) = at(left) <= at(right) ? right : left;
  }
  return std::min(least, at((low + high) / 2));
}

}  // namespace

double ZcdpDelta(double epsilon, double rho) {
  BANDANA_CHECK(epsilon >= 0 && rho >= 0);
  if (rho == 0) return 0;
  return LeastOverOrders([&](double order) { return RenyiToDelta(epsilon, order, order * rho); });
}

double ZcdpEpsilon(double delta, double rho) {
  BANDANA_CHECK(delta >= 0 && rho >= 0);
  if (rho == 0 || delta >= 1) return 0;
  if (delta == 0) return kInfinity;
  return LeastOverOrders([&](double order) { return RenyiToEpsilon(delta, order, order * rho); });
}

}  // namespace bandana
