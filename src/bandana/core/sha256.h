#pragma once

#include <string>
#include <string_view>

namespace bandana {

/// In hexadecimal.
std::string Sha256(std::string_view bytes);

}  // namespace bandana
