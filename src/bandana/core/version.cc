#include "bandana/config.h"

namespace bandana {

const char* Version() { return BANDANA_VERSION; }

}  // namespace bandana
