#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/noise_door.h"

namespace bandana::python {

/// Returns a number that is another one in each process of a family: after a fork, parent and child would
/// otherwise draw the same noise.
std::uint64_t ProcessNumber();

/// The generators of one policy: the operating system's entropy, or the lab's streams by their keys.
class Bits {
 public:
  explicit Bits(std::optional<std::uint64_t> seed) : seed_(seed) {
    if (!seed_.has_value()) Renew();
  }

  bool seeded() const { return seed_.has_value(); }

  /// Calls use(generator) with the noise of this key.
  template <class Use>
  decltype(auto) WithNoise(NodeId node, Epoch epoch, Use use) {
    if (!seed_.has_value()) {
      if (process_ != ProcessNumber()) [[unlikely]]
        Renew();
      return use(*noise_);
    }
    PhiloxSource bits({.seed = *seed_, .node = node, .epoch = epoch, .stream = Stream::kPrivacy});
    NoiseGen noise = NoiseDoor::Open(bits);
    return use(noise);
  }

  /// Calls use(generator) with the exploration coins of this key.
  template <class Use>
  decltype(auto) WithCoin(NodeId node, Epoch epoch, Use use) {
    if (!seed_.has_value()) {
      if (process_ != ProcessNumber()) [[unlikely]]
        Renew();
      return use(*coin_);
    }
    PhiloxSource bits({.seed = *seed_, .node = node, .epoch = epoch, .stream = Stream::kExploration});
    CoinGen coin(bits);
    return use(coin);
  }

  /// Returns a source of coins for a role's epoch.
  std::unique_ptr<BitSource> MakeCoins(NodeId node, Epoch epoch) const {
    if (!seed_.has_value()) return std::make_unique<SecureSource>();
    return std::make_unique<PhiloxSource>(
        StreamKey{.seed = *seed_, .node = node, .epoch = epoch, .stream = Stream::kExploration});
  }

 private:
  struct Secure {
    SecureSource bits;
    NoiseGen noise = NoiseDoor::Open(bits);
    CoinGen coin{bits};
  };

  // Noise and coins have sources of their own.
  void Renew() {
    process_ = ProcessNumber();
    noise_source_ = std::make_unique<Secure>();
    coin_source_ = std::make_unique<Secure>();
    noise_ = &noise_source_->noise;
    coin_ = &coin_source_->coin;
  }

  std::optional<std::uint64_t> seed_;
  std::uint64_t process_ = 0;
  std::unique_ptr<Secure> noise_source_;
  std::unique_ptr<Secure> coin_source_;
  NoiseGen* noise_ = nullptr;
  CoinGen* coin_ = nullptr;
};

}  // namespace bandana::python
