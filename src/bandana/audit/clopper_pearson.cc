#include "bandana/audit/clopper_pearson.h"

#include <boost/math/distributions/beta.hpp>

#include "bandana/core/check.h"

namespace bandana::audit {
namespace {

void Check(std::int64_t successes, std::int64_t trials, double level) {
  BANDANA_CHECK(0 <= successes && successes <= trials && trials > 0);
  BANDANA_CHECK(level > 0 && level < 1);
}

// P(Bin(n, p) >= k) = P(Beta(k, n - k + 1) <= p), so the limits are quantiles of beta distributions.
boost::math::beta_distribution<> Law(std::int64_t successes, std::int64_t failures) {
  return {static_cast<double>(successes), static_cast<double>(failures)};
}

}  // namespace

double LowerLimit(std::int64_t successes, std::int64_t trials, double level) {
  Check(successes, trials, level);
  return successes == 0 ? 0 : quantile(Law(successes, trials - successes + 1), level);
}

double UpperLimit(std::int64_t successes, std::int64_t trials, double level) {
  Check(successes, trials, level);
  return successes == trials ? 1 : quantile(complement(Law(successes + 1, trials - successes), level));
}

}  // namespace bandana::audit
