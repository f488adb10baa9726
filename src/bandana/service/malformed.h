#pragma once

#include <string>

#include "absl/status/status.h"

namespace bandana::service {

/// The error for a message that a correct peer does not send.
inline absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError("malformed message: " + what);
}

}  // namespace bandana::service
