// error: no matching function for call
#include "bandana/federation/turn.h"

struct Curious {
  bandana::ArmId Choose(const bandana::DecisionSet<double>& set) {
    seen += set.at(0, 0);
    return 0;
  }
  double seen = 0;
};

void Act(Curious& policy, const bandana::Raw<bandana::DecisionSet<double>>& set, bandana::ChosenArm& played) {
  bandana::Turn::Choose(policy, set, played);
}
