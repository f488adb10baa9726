// error: is private within this context
#include "bandana/privacy/local_message.h"

void Forge(bandana::LocalMessage& message) { message.entries_.push_back(1.0); }
