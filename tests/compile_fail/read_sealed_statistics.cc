// error: is private within this context
#include "bandana/privacy/local_regression.h"

double Peek(const bandana::SealedStatistics& statistics) { return statistics.sums_[0]; }
