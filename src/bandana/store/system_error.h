#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {

/// Makes a status of the operating system's last error (errno), which names the file.
inline absl::Status SystemError(const std::string& path, std::string_view what) {
  return FileError(absl::StatusCode::kUnavailable, path, fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace bandana::store
