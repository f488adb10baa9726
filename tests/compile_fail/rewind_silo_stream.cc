// error: is private within this context
#include "bandana/privacy/silo_prefix_sum.h"

void Rewind(bandana::SiloStream& stream) { stream.released_ = 0; }
