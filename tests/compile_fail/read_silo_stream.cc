// error: is private within this context
#include "bandana/privacy/silo_prefix_sum.h"

std::int64_t Peek(const bandana::SiloStream& stream) { return stream.increments_[0][0]; }
