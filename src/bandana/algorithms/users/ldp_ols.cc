#include "bandana/algorithms/users/ldp_ols.h"

#include <utility>

#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<LdpOls> LdpOls::Create(const UserRegressionRules& rules, RegressionReporter reporter) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(rules));
  return LdpOls(rules, std::move(reporter));
}

}  // namespace bandana
