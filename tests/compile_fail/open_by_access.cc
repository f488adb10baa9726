// error: is private within this context
#include "bandana/core/reward.h"
#include "bandana/privacy/access.h"

double Peek(const bandana::Raw<bandana::RewardSum>& rewards) { return bandana::Access::Open(rewards).sum; }
