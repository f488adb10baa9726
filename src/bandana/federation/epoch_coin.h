#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "bandana/core/generators.h"

namespace bandana {

/// The coins that Context::coin returns: one stream per role, restarted in every epoch.
class EpochCoin {
 public:
  /// Returns the epoch's coins. `make_bits` returns a unique_ptr to the epoch's bits; it is called when the
  /// epoch changes.
  template <class MakeBits>
  CoinGen& For(Epoch epoch, MakeBits make_bits) {
    if (!coin_ || coin_->epoch != epoch) coin_.emplace(epoch, make_bits());
    return coin_->generator;
  }

 private:
  struct Coin {
    Coin(Epoch of, std::unique_ptr<BitSource> from) : epoch(of), bits(std::move(from)), generator(*bits) {}
    Epoch epoch;
    std::unique_ptr<BitSource> bits;
    CoinGen generator;
  };
  std::optional<Coin> coin_;
};

}  // namespace bandana
