// error: is private within this context
#include "bandana/privacy/released.h"

bandana::Released<bandana::Mean> Forge() { return {bandana::Mean{{1.0}}, std::vector<bandana::NoiseLaw>(1)}; }
