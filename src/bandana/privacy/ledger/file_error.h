#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

/// Makes a status of any code that names a file. Its fields are in InputErrorOf(status).
inline absl::Status FileError(absl::StatusCode code, const std::string& file, std::string message,
                              int line = 0) {
  const absl::Status fields = InvalidInput({.message = std::move(message), .file = file, .line = line});
  absl::Status status(code, fields.message());
  fields.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { status.SetPayload(type, payload); });
  return status;
}

/// Makes a status of the operating system's last error (errno), which names the file and what to do.
inline absl::Status SystemError(const std::string& path, std::string_view what) {
  const int error = errno;
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const char* const remedy = is_full        ? ": make room, and start again"
                             : error == EIO ? ": check the disk, and start again"
                                            : "";
  return FileError(absl::StatusCode::kUnavailable, path,
                   fmt::format("{}: {}{}", what, std::strerror(error), remedy));
}

}  // namespace bandana
