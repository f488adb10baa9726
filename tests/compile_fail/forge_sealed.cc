// error: is private within this context
#include "bandana/privacy/report.h"

bandana::Sealed Forge() { return bandana::Sealed(std::vector<std::int64_t>{1}); }
