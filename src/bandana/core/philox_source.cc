#include <algorithm>

#include "Random123/philox.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"

namespace bandana {

void PhiloxSource::Refill(std::span<std::uint64_t> words) {
  const r123::Philox4x64 philox;
  const r123::Philox4x64::key_type key = {{key_.seed, key_.replicate}};
  BANDANA_CHECK(words.size() % 4 ==
                0);  // whole blocks, so that the stream does not depend on how it is asked for
  while (!words.empty()) {
    const auto block = philox({{block_++, key_.node.value, static_cast<std::uint64_t>(key_.epoch),
                                static_cast<std::uint64_t>(key_.stream)}},
                              key);
    std::copy(block.begin(), block.end(), words.begin());
    words = words.subspan(block.size());
  }
}

}  // namespace bandana
