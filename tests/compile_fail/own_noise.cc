// error: no matching function for call to
#include "bandana/core/generators.h"

std::uint64_t Known() {
  bandana::PhiloxSource bits({.seed = 1});
  bandana::NoiseGen noise(bits);
  return noise();
}
