// error: no matching function for call
#include "bandana/algorithms/fed_ucb/optimistic_regression.h"
#include "bandana/privacy/regression_prefix_sum.h"

// The trigger of P3's Algorithm 1, line 12, without a Declassify: the time of a sync would tell contexts.
void Watch(const bandana::ChosenArm& played, const bandana::Raw<double>& reward,
           bandana::OptimisticRegression& watched) {
  watched.Add(bandana::RegressionPrefixSum::RevealRecord(played, reward).x.data(), 0);
}
