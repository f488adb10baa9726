#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "bandana/core/status.h"

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

}  // namespace bandana
