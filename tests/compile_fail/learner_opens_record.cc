// error: is private within this context
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/raw.h"

// A learner that looks at its user's reward.
double Report(const bandana::Raw<bandana::LocalRecord>& record) { return record.value_.reward; }
