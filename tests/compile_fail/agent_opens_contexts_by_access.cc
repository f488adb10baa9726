// error: is private within this context
#include "bandana/bandit/decision_set.h"
#include "bandana/privacy/access.h"

double Peek(const bandana::Raw<bandana::DecisionSet<double>>& set) {
  return bandana::Access::Open(set).at(0, 0);
}
