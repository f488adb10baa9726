#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bandana/privacy/arm_sums.h"

/// Sums from what has been released: post-processing, so it costs nothing.
namespace bandana {

/// One agent's releases, added up.
class ArmHistory {
 public:
  bool empty() const { return !sums_.has_value(); }

  /// The agent's next release: its earlier ones are added to it, for the arms that it has. An arm that was
  /// not in the release before is an error, and so is other noise, or a sum beyond 2^62 units.
  absl::Status Add(const Released<ArmSums>& release);

  /// There must be a release.
  Released<ArmSums> Sums() const;

  template <class Archive>
  void State(Archive& a) {
    a(sums_);
  }

 private:
  std::optional<ArmSums> sums_;
};

/// Sums of several agents, added up.
class ArmTotal {
 public:
  /// Of these arms, ascending.
  explicit ArmTotal(std::vector<ArmId> arms);

  /// An agent's sums, or those of some, none of whom is in the total: whoever adds knows. Refuses, and is as
  /// before, sums that lack an arm, have other noise, or would leave 2^62 units.
  absl::Status Add(const Released<ArmSums>& sums);

  const ArmSums& value() const { return total_; }  ///< nobody's (agents = 0) at first

  /// Somebody must have been added.
  Released<ArmSums> Sums() const;

 private:
  ArmSums total_;
};

}  // namespace bandana
