// error: is private within this context
#include "bandana/privacy/silo_arm_sums.h"

// No mechanism has released these sums.
auto Forge(bandana::ArmSums sums) { return bandana::SiloArmSums::MintSums(std::move(sums)); }
