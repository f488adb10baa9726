// error: use of deleted function
#include "bandana/privacy/silo_arm_sums.h"

// A copy could be released again with other noise, and nothing would be charged for it.
bandana::ArmStream Again(const bandana::ArmStream& stream) { return stream; }
