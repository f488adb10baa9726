#pragma once

namespace bandana {

enum class Calibration { kTight, kPaper };  ///< the least noise provable; or the paper's own formula
enum class Sampler { kExact, kFast };       ///< integer arithmetic; or floating point, for the lab alone

}  // namespace bandana
