// error: no matching function for call to
#include "bandana/federation/release.h"
#include "bandana/privacy/mean_privatizers.h"

// A silo may not release for others: a central mechanism charges the clients of its analyzer.
void Leak(bandana::Context& context, const bandana::CentralLaplaceMean& central,
          const bandana::Raw<bandana::RewardSums>& rewards) {
  (void)bandana::Release::FromSilo(context, central, 1, bandana::MeanQuery{}, rewards);
}
