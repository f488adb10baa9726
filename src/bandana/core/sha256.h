#pragma once

#include <string>
#include <string_view>

namespace bandana {

/// Returns the SHA-256 digest of `bytes` in hexadecimal.
std::string Sha256(std::string_view bytes);

}  // namespace bandana
