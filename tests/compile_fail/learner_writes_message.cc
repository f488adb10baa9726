// error: is private within this context
#include "bandana/privacy/access.h"

// A learner that sends what it likes.
void Report(bandana::LocalMessage& message, double reward) {
  bandana::Access::Entries(message).push_back(reward);
}
