// error: is private within this context
#include "bandana/privacy/silo_arm_sums.h"

std::int64_t Peek(const bandana::ArmStream& stream) { return stream.pending_[0].units; }
