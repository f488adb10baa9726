// error: constraints not satisfied
#include "bandana/federation/shuffler.h"
#include "bandana/privacy/mean_privatizers.h"

// A shuffler does nothing for a mechanism whose proof does not use mixing.
bandana::Shuffler<bandana::CentralLaplaceMean> Make(const bandana::CentralLaplaceMean& mean) {
  return bandana::Shuffler<bandana::CentralLaplaceMean>(mean);
}
