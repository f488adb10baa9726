#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana::service {

/// The certificates that are no longer accepted.
struct RevokedSerials {
  std::set<std::string> serials;  ///< as Certificate::serial() writes them
  absl::Status problem;           ///< the first line that names no serial, with its number
};

/// Reads the file `revoked`: one serial per line; what follows a # is a remark. A line that cannot be read
/// does not keep the others from being in force. Fails with kNotFound or kUnavailable if there is no such
/// file.
absl::StatusOr<RevokedSerials> ReadRevoked(const std::string& path);

}  // namespace bandana::service
