#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace bandana {

/// Something that can be put away and go on later, in another process, exactly as if it had never stopped:
/// every role, and with it every policy. docs/saving.md.
class Savable {
 public:
  virtual ~Savable() = default;

  /// All that it has become since it was made. It holds what the object holds: a silo's raw sums, a
  /// shuffler's reports. Whoever may not see the object may not see this.
  virtual std::string Save() const = 0;

  /// To one that was made with the same parameters and has done nothing yet. Refuses what it cannot have
  /// saved (kDataLoss) and what another one has (kFailedPrecondition); it is good for nothing then.
  virtual absl::Status Restore(std::string_view saved) = 0;
};

}  // namespace bandana
