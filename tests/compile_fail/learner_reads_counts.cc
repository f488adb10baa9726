// error: is private within this context
#include "bandana/federation/user_context.h"

bool WasClipped(bandana::UserContext& user) { return user.range_counts()->contexts > 0; }
