// error: is private within this context
#include "bandana/privacy/report.h"

std::int64_t Peek(const bandana::ReportSum& sum) { return sum.units_[0]; }
