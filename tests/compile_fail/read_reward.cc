// error: is private within this context
#include "bandana/privacy/regression_prefix_sum.h"

double Learn(const bandana::Raw<double>& reward) { return reward.value_; }
