#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bandana/core/bit_source.h"

namespace bandana {

struct CoinUse;
struct NoiseUse;

/// A buffered uniform random bit generator over a BitSource, which must outlive it. `Use` separates privacy
/// noise from all other randomness at compile time: neither kind converts to the other, and only
/// core/noise_door.h makes a generator of noise.
template <class Use>
class Generator final {
 public:
  using result_type = std::uint64_t;

  explicit Generator(BitSource& source)
    requires std::same_as<Use, CoinUse>
      : source_(&source) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    if (next_ == filled_) [[unlikely]]
      Refill();
    return buffer_[next_++];
  }

  bool secure() const { return source_->secure(); }

  /// Returns how many words have been drawn.
  std::uint64_t drawn() const { return refilled_ - (filled_ - next_); }

  /// Draws `words` words and drops them. A new generator over the same bits then continues where another one
  /// stopped, whose drawn() was `words`.
  void Skip(std::uint64_t words) {
    const std::uint64_t buffered = std::min<std::uint64_t>(words, filled_ - next_);
    next_ += static_cast<std::size_t>(buffered);
    words -= buffered;
    const std::uint64_t blocks = words / BitSource::kBlock;
    if (blocks > 0) source_->Skip(blocks);
    refilled_ += blocks * BitSource::kBlock;
    for (words %= BitSource::kBlock; words > 0; --words) (*this)();
  }

 private:
  friend class NoiseDoor;
  struct Key {};
  Generator(BitSource& source, Key) : source_(&source) {}

  // Starts with a small buffer: most generators live for a few draws of one client.
  void Refill() {
    filled_ = filled_ == 0 ? 8 : std::min(2 * filled_, buffer_.size());
    source_->Refill(std::span(buffer_).first(filled_));
    next_ = 0;
    refilled_ += filled_;
  }

  BitSource* source_;
  std::array<std::uint64_t, 32> buffer_;
  std::size_t filled_ = 0;
  std::size_t next_ = 0;
  std::uint64_t refilled_ = 0;  // words taken from the source
};

using CoinGen = Generator<CoinUse>;    ///< exploration, environments, sampling of clients
using NoiseGen = Generator<NoiseUse>;  ///< privacy noise, and nothing else

}  // namespace bandana
