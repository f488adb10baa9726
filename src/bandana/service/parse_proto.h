#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "bandana/service/malformed.h"

namespace bandana::service {

/// Reads a message from bytes that are not trusted.
template <class Proto>
absl::Status ParseProto(std::string_view bytes, Proto& out) {
  if (out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
  return Malformed("its bytes are no message of this protocol");
}

}  // namespace bandana::service
