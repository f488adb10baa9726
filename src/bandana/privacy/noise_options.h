#pragma once

namespace bandana {

/// kTight: the least noise that we can prove. kPaper: the formula in the paper.
enum class Calibration { kTight, kPaper };
/// kExact: integer arithmetic. kFast: floating point, for the lab alone.
enum class Sampler { kExact, kFast };

}  // namespace bandana
