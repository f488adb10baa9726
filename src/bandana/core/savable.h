#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace bandana {

/// An object that can be saved and continued later, in another process, exactly as if it had never stopped.
/// Every role is one, and so is every policy. See docs/saving.md.
class Savable {
 public:
  virtual ~Savable() = default;

  /// Returns everything that has changed since the object was made. The result holds what the object holds: a
  /// silo's raw sums, a shuffler's reports. Whoever may not see the object may not see the result.
  virtual std::string Save() const = 0;

  /// Continues from a saved state. This object must have been made with the same parameters, and must not
  /// have been used. Fails with kDataLoss if no object can have saved this, and with kFailedPrecondition if
  /// an object with other parameters has. After an error this object must not be used.
  virtual absl::Status Restore(std::string_view saved) = 0;
};

}  // namespace bandana
