#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "bandana/core/generators.h"

namespace bandana {

/// A role's coins, restarted with every epoch: what Context::coin hands out.
class EpochCoin {
 public:
  /// `make_bits` gives the epoch's bits, as a unique_ptr, the first time the epoch is asked for.
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
