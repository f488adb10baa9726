// error: is private within this context
#include "bandana/bandit/decision_set.h"
#include "bandana/privacy/raw.h"

double Peek(const bandana::Raw<bandana::DecisionSet<double>>& set) { return set.value_.at(0, 0); }
