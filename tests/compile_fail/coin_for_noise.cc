// error: invalid initialization of reference of type
#include "bandana/privacy/samplers/rounded_normal.h"

std::int64_t Noise(bandana::CoinGen& coin) { return bandana::RoundedNormal(1, coin); }
