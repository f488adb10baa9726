#pragma once

#include "bandana/core/generators.h"

namespace bandana {

/// Makes generators of privacy noise. Only drivers may include this file, and the audit, which acts as a
/// driver (script/lint checks it). A role that made its own generator would know the noise, and could release
/// without a charge.
class NoiseDoor {
 public:
  static NoiseGen Open(BitSource& source) { return NoiseGen(source, NoiseGen::Key{}); }
};

}  // namespace bandana
