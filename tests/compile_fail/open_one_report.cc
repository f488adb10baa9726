// error: cannot convert
#include "bandana/privacy/mean_privatizers.h"

auto Peek(const bandana::CentralGaussianMean& mechanism, const bandana::MeanQuery& query,
          bandana::Report report) {
  return mechanism.Open(query, report);
}
