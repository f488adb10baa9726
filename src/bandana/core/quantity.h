#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

/// Quantities with a unit, as configurations write them.
namespace bandana {

/// Reads a number of bytes such as "512KiB", "64MiB" or "1GiB", or without a unit. Returns nothing for any
/// other text.
std::optional<std::int64_t> ParseBytes(const std::string& text);

/// Reads a time > 0 such as "500ms", "30s", "10m" or "2h". Returns nothing for any other text.
std::optional<absl::Duration> ParseTime(const std::string& text);

}  // namespace bandana
