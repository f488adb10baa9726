#include <algorithm>

#include "Random123/philox.h"
#include "bandana/core/bit_source.h"

namespace bandana {

void PhiloxSource::Refill(std::span<std::uint64_t> words) {
  const r123::Philox4x64 philox;
  const r123::Philox4x64::key_type key = {{key_.seed, key_.replicate}};
  while (!words.empty()) {
    const auto block = philox({{block_++, key_.node.value, static_cast<std::uint64_t>(key_.epoch),
                                static_cast<std::uint64_t>(key_.stream)}},
                              key);
    const std::size_t taken = std::min<std::size_t>(block.size(), words.size());
    std::copy_n(block.begin(), taken, words.begin());
    words = words.subspan(taken);
  }
}

}  // namespace bandana
