// error: no matching function for call to
#include "bandana/privacy/silo_arm_sums.h"

// Raw means need a Declassify.
auto Peek(const bandana::SiloArmSums& mechanism, const bandana::ArmStream& stream) {
  return mechanism.RevealMeans(stream, {});
}
