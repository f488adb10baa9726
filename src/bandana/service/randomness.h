#pragma once

#include <cstdint>
#include <memory>

#include "bandana/core/bit_source.h"

namespace bandana::service {

/// Makes a run replayable, including its noise, and so voids every privacy claim: whoever knows the seed can
/// subtract the noise.
struct InsecureSeed {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
};

/// Returns the bits of a node's epoch, keyed as in the simulator.
inline std::unique_ptr<BitSource> MakeBits(const InsecureSeed& seed, NodeId node, Epoch epoch,
                                           Stream stream) {
  return std::make_unique<PhiloxSource>(StreamKey{seed.seed, seed.replicate, node, epoch, stream});
}

}  // namespace bandana::service
