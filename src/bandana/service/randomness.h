#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "bandana/core/bit_source.h"

namespace bandana::service {

/// Makes a run replayable, including its noise, and so voids every privacy claim: whoever knows the seed can
/// subtract the noise.
struct InsecureSeed {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
};

/// Returns the bits of a node's epoch: from the operating system's entropy, or keyed as in the simulator.
inline std::unique_ptr<BitSource> MakeBits(const std::optional<InsecureSeed>& seed, NodeId node, Epoch epoch,
                                           Stream stream) {
  if (!seed.has_value()) return std::make_unique<SecureSource>();
  return std::make_unique<PhiloxSource>(StreamKey{seed->seed, seed->replicate, node, epoch, stream});
}

}  // namespace bandana::service
