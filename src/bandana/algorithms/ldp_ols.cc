#include "bandana/algorithms/ldp_ols.h"

#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<LdpOls> LdpOls::Create(const UserRegressionParams& params, RegressionReporter reporter) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(params));
  return LdpOls(params, std::move(reporter));
}

}  // namespace bandana
