// An agent may do this: choose by a constant policy, carry the record to its mechanism, ask through Release.
#include "bandana/federation/release.h"
#include "bandana/federation/round_player.h"
#include "bandana/federation/turn.h"
#include "bandana/privacy/regression_prefix_sum.h"

struct First {
  bandana::ArmId Choose(const bandana::DecisionSet<double>&) const { return 0; }
};

const bandana::ChosenArm& Act(const First& policy, const bandana::Raw<bandana::DecisionSet<double>>& set,
                              bandana::ChosenArm& played) {
  bandana::Turn::Choose(policy, set, played);
  return played;
}

void Observe(const bandana::RegressionPrefixSum& mechanism, const bandana::ChosenArm& played,
             const bandana::Raw<double>& reward, bandana::RegressionStream& stream) {
  mechanism.Record(played, reward, stream);
}

double ActOnOwnData(const bandana::ChosenArm& played, const bandana::Raw<double>& reward) {
  return bandana::RegressionPrefixSum::RevealRecord(played, reward, bandana::Declassify("a test")).x[0];
}
