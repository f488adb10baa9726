#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"

namespace bandana {

/// Draws the numbers 0 .. size-1 in uniformly random order, each once. It is a Fisher-Yates shuffle that
/// stores only the displaced entries: memory and time grow with the number of draws, not with the size.
class WithoutReplacement {
 public:
  explicit WithoutReplacement(std::uint64_t size) : size_(size) {}

  std::uint64_t remaining() const { return size_ - drawn_; }

  std::uint64_t Draw(CoinGen& coin) {
    BANDANA_CHECK(remaining() > 0);
    const std::uint64_t pick = drawn_ + UniformBelow(remaining(), coin);
    const std::uint64_t value = At(pick);
    if (pick != drawn_) displaced_[pick] = At(drawn_);
    displaced_.erase(drawn_);
    ++drawn_;
    return value;
  }

  template <class Archive>
  void State(Archive& a) {
    a.Same(size_, "population");
    a(drawn_, displaced_);
    a.Check(drawn_ <= size_, "more values were drawn than the population has");
    for (const auto& [place, value] : displaced_) {
      a.Check(place >= drawn_ && place < size_ && value < size_, "a value is outside the population");
    }
  }

 private:
  std::uint64_t At(std::uint64_t index) const {
    const auto it = displaced_.find(index);
    return it == displaced_.end() ? index : it->second;
  }

  std::uint64_t size_;
  std::uint64_t drawn_ = 0;
  absl::flat_hash_map<std::uint64_t, std::uint64_t> displaced_;
};

/// Returns the numbers 0 .. size-1 in uniformly random order.
inline std::vector<std::uint32_t> RandomOrder(std::uint32_t size, CoinGen& coin) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t left = size; left > 1; --left)
    std::swap(order[left - 1], order[UniformBelow(left, coin)]);
  return order;
}

}  // namespace bandana
