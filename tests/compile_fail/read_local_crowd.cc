// error: is private within this context
#include "bandana/privacy/local_regression.h"

double Peek(const bandana::LocalCrowd& crowd) { return crowd.sums_[0]; }
