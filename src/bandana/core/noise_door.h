#pragma once

#include "bandana/core/generators.h"

namespace bandana {

/// Where a generator of privacy noise comes from. Only drivers, and the audit, which plays
/// one, may include this file (script/lint): a role that could make its own would know the noise, and could
/// release without being charged.
class NoiseDoor {
 public:
  static NoiseGen Open(BitSource& source) { return NoiseGen(source, NoiseGen::Key{}); }
};

}  // namespace bandana
