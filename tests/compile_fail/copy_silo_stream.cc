// error: use of deleted function
#include "bandana/privacy/silo_prefix_sum.h"

// A copy could be released again with other noise, and nothing would be charged for it.
bandana::SiloStream Again(const bandana::SiloStream& stream) { return stream; }
