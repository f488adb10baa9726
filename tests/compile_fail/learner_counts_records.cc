// error: is private within this context
#include "bandana/privacy/local_regression.h"

// A learner that finds out whether a record was inside of its bounds.
bool WasClipped(const bandana::LocalRegression& mechanism, const bandana::Raw<bandana::LocalRecord>& record,
                bandana::SealedStatistics& statistics) {
  bandana::RangeCounts counts;
  const auto sides = [](std::span<const double>, double, std::span<double>) {};
  mechanism.Record(record, sides, statistics, &counts);
  return counts.contexts > 0;
}
