#pragma once

namespace bandana::lab {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace bandana::lab
