#pragma once

namespace bandana {

/// Of confidence bounds: the least that is proved here, or as printed.
enum class Width { kExact, kPaper };

}  // namespace bandana
