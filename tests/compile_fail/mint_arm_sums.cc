// error: is private within this context
#include "bandana/privacy/silo_arm_sums.h"

// Sums that nobody has released.
auto Forge(bandana::ArmSums sums) { return bandana::SiloArmSums::MintSums(std::move(sums)); }
