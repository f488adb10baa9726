#pragma once

#include <cstdint>

/// Exact one-sided confidence limits on a probability, from the number of successes in independent trials. C.
/// J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
/// binomial", Biometrika 26(4), 1934.
namespace bandana::audit {

/// Returns a limit that exceeds the probability with probability at most `level`; 0 <= successes <= trials,
/// trials > 0, 0 < level < 1.
double LowerLimit(std::int64_t successes, std::int64_t trials, double level);

/// Returns a limit that is below the probability with probability at most `level`.
double UpperLimit(std::int64_t successes, std::int64_t trials, double level);

}  // namespace bandana::audit
