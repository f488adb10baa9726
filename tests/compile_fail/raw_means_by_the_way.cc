// error: no matching function for call to
#include "bandana/privacy/silo_arm_sums.h"

// Without a Declassify.
auto Peek(const bandana::SiloArmSums& mechanism, const bandana::ArmStream& stream) {
  return mechanism.RevealMeans(stream, {});
}
