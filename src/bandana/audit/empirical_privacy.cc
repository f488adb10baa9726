#include "bandana/audit/empirical_privacy.h"

#include <algorithm>
#include <cmath>

#include "bandana/audit/clopper_pearson.h"

namespace bandana::audit {

double EpsilonLowerBound(const EventCounts& counts, double delta, double level) {
  const double likely = LowerLimit(counts.likely, counts.trials, level) - delta;
  if (!(likely > 0)) return 0;
  return std::max(0.0, std::log(likely / UpperLimit(counts.unlikely, counts.trials, level)));
}

double DeltaLowerBound(const EventCounts& counts, double epsilon, double level) {
  const double unlikely = std::exp(epsilon) * UpperLimit(counts.unlikely, counts.trials, level);
  return std::max(0.0, LowerLimit(counts.likely, counts.trials, level) - unlikely);
}

}  // namespace bandana::audit
