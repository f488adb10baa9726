// error: is private within this context
#include "bandana/privacy/report.h"

std::int64_t Peek(const bandana::Report& report) { return report.units_[0]; }
