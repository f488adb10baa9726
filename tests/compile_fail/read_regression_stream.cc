// error: is private within this context
#include "bandana/privacy/regression_prefix_sum.h"

double Peek(const bandana::RegressionStream& stream) { return stream.open_[0]; }
