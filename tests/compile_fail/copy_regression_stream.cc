// error: use of deleted function
#include "bandana/privacy/regression_prefix_sum.h"

// A copy could be released again with other noise, and nothing would be charged for it.
bandana::RegressionStream Again(const bandana::RegressionStream& stream) { return stream; }
