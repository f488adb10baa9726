#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "policy.h"

namespace bandana::python {

/// The policies of the three time models. `federation` must be of that model.
absl::StatusOr<std::unique_ptr<Policy>> MakeUserPolicy(const Federation& federation, const Facts& facts,
                                                       const PolicyDraws& draws, const UserCharges& charges);
absl::StatusOr<std::unique_ptr<Policy>> MakeRoundPolicy(const Federation& federation, const Facts& facts,
                                                        const PolicyDraws& draws);
absl::StatusOr<std::unique_ptr<Policy>> MakeArmPolicy(const Federation& federation, const Facts& facts,
                                                      const PolicyDraws& draws);

}  // namespace bandana::python
