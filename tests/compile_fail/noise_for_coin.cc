// error: cannot convert
#include "bandana/core/without_replacement.h"

std::uint64_t Pick(bandana::NoiseGen& noise) { return bandana::WithoutReplacement(10).Draw(noise); }
