#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bandana {

/// Returns the known word that is nearest to a mistyped one, for messages. The last part of a dotted key
/// counts as well as the whole key: "epsilon" means privacy.epsilon.
std::string Nearest(std::string_view word, std::span<const std::string> known);

/// Returns the nearest known word, or an empty text if it has little in common with the word.
std::string NearestIfNear(std::string_view word, std::span<const std::string> known);

}  // namespace bandana
