#pragma once

#include <cstdint>
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

  /// The most words that a role draws in one epoch. To draw all of them again takes seconds; a saved state
  /// that says more would keep its reader busy for years.
  static constexpr std::uint64_t kMostDrawn = std::uint64_t{1} << 30;

  /// Where a role stands in its coins.
  struct Position {
    Epoch epoch = 0;
    std::uint64_t drawn = 0;  ///< 0: it has drawn nothing, and the epoch does not matter

    template <class Archive>
    void State(Archive& a) {
      a(epoch, drawn);
      a.Check(drawn <= kMostDrawn, "a role has drawn more coins than an epoch can need");
    }
  };
  Position position() const {
    return coin_.has_value() ? Position{coin_->epoch, coin_->generator.drawn()} : Position{};
  }

  /// Continues where another object stood. `make_bits` is called if that one had drawn.
  template <class MakeBits>
  void GoTo(const Position& position, MakeBits make_bits) {
    coin_.reset();
    if (position.drawn > 0) For(position.epoch, std::move(make_bits)).Skip(position.drawn);
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
