#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bandana/privacy/arm_sums.h"

/// Adds up released sums. This is post-processing, so it costs no privacy.
namespace bandana {

/// The sum of one agent's releases.
class ArmHistory {
 public:
  bool empty() const { return !sums_.has_value(); }

  /// Adds the agent's next release to its earlier ones, for the arms of this release. Fails if the release
  /// has an arm that the release before did not have, noise of another scale, or another number of agents, or
  /// if a sum would exceed 2^62 units.
  absl::Status Add(const Released<ArmSums>& release);

  /// Returns the sums so far. There must have been a release.
  Released<ArmSums> Sums() const;

  template <class Archive>
  void State(Archive& a) {
    a(sums_);
  }

 private:
  std::optional<ArmSums> sums_;
};

/// The sum over several agents.
class ArmTotal {
 public:
  /// `arms` must be ascending.
  explicit ArmTotal(std::vector<ArmId> arms);

  /// Adds the sums of one agent or of several. The caller must ensure that none of these agents is in the
  /// total already. Fails if the sums lack an arm, have noise of another scale, or would exceed 2^62 units;
  /// the total is then unchanged.
  absl::Status Add(const Released<ArmSums>& sums);

  const ArmSums& value() const { return total_; }  ///< has agents = 0 before the first Add

  /// Returns the total. At least one agent must have been added.
  Released<ArmSums> Sums() const;

 private:
  ArmSums total_;
};

}  // namespace bandana
