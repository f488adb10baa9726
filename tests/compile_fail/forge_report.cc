// error: is private within this context
#include "bandana/privacy/report.h"

bandana::Report Forge() { return bandana::Report(std::vector<std::int64_t>{1}); }
