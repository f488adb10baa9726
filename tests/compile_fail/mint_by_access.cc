// error: is private within this context
#include "bandana/privacy/access.h"

bandana::Released<bandana::Mean> Forge() {
  return bandana::Access::Mint(bandana::Mean{{1.0}}, std::vector<bandana::NoiseLaw>(1));
}
