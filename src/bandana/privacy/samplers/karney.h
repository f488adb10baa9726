#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"

/// The common part of the samplers of C. F. F. Karney, "Sampling exactly from the normal distribution", ACM
/// TOMS 42(1), 2016. Proofs: docs/proofs/rounded-normal.md.
namespace bandana::internal {

/// A uniform real in (0, 1) whose digits are drawn only when they are needed. With probability 1 no two are
/// equal and none has a last digit, so comparisons end and are always strict.
template <int kDigitBits>
class LazyUniform {
 public:
  LazyUniform() = default;
  explicit LazyUniform(NoiseGen& gen) : head_(Digit(gen)) {}

  void Redraw(NoiseGen& gen) {
    head_ = Digit(gen);
    if (!tail_.empty()) [[unlikely]]
      tail_.clear();
  }

  std::uint64_t head() const { return head_; }
  bool BelowHalf() const { return (head_ >> (kDigitBits - 1)) == 0; }

  /// Returns whether this number is below `other`, a LazyUniform or a LazyRatio with as many bits per digit.
  template <class Other>
  bool Below(Other& other, NoiseGen& gen) {
    if (head_ != other.head()) [[likely]]
      return head_ < other.head();
    for (std::size_t i = 1;; ++i) {
      const std::uint64_t mine = At(i, gen);
      const std::uint64_t theirs = other.At(i, gen);
      if (mine != theirs) return mine < theirs;
    }
  }

  /// Returns the digit of weight 2^(-kDigitBits (i + 1)).
  std::uint64_t At(std::size_t i, NoiseGen& gen) {
    if (i == 0) return head_;
    while (tail_.size() < i) tail_.push_back(Digit(gen));
    return tail_[i - 1];
  }

  /// Returns the bits 64 i to 64 i + 63 after the point.
  std::uint64_t Word(std::size_t i, NoiseGen& gen) {
    if constexpr (kDigitBits == 64) {
      return At(i, gen);
    } else {
      constexpr std::size_t kDigits = 64 / kDigitBits;
      std::uint64_t word = 0;
      for (std::size_t j = 0; j < kDigits; ++j) word = word << kDigitBits | At(i * kDigits + j, gen);
      return word;
    }
  }

 private:
  static std::uint64_t Digit(NoiseGen& gen) { return gen() >> (64 - kDigitBits); }

  std::uint64_t head_ = 0;
  std::vector<std::uint64_t> tail_;
};

/// The number num/den in [0, 1), by its digits in base 2^kDigitBits.
template <int kDigitBits>
class LazyRatio {
 public:
  LazyRatio(std::uint64_t num, std::uint64_t den) : rest_(num), den_(den) {
    BANDANA_CHECK(num < den);
    head_ = NextDigit();
  }

  std::uint64_t head() const { return head_; }

  std::uint64_t At(std::size_t i, NoiseGen&) {
    if (i == 0) return head_;
    while (tail_.size() < i) tail_.push_back(NextDigit());
    return tail_[i - 1];
  }

 private:
  std::uint64_t NextDigit() {
    const unsigned __int128 shifted = static_cast<unsigned __int128>(rest_) << kDigitBits;
    const auto digit = static_cast<std::uint64_t>(shifted / den_);
    // Below den_, so the arithmetic modulo 2^64 is exact.
    rest_ = static_cast<std::uint64_t>(shifted) - digit * den_;
    return digit;
  }

  std::uint64_t rest_;
  std::uint64_t den_;
  std::uint64_t head_;
  std::vector<std::uint64_t> tail_;
};

/// Karney's algorithms, named as in the paper. A Fraction is a LazyUniform or a LazyRatio.
template <int kDigitBits>
class Karney {
  using Uniform = LazyUniform<kDigitBits>;

 public:
  explicit Karney(NoiseGen& gen) : gen_(gen) {}

  /// Draws k >= 0 with probability proportional to exp(-k^2/2).
  std::uint64_t CellOfHalfNormal() {
    while (true) {
      const std::uint64_t k = G();
      if (P(k)) return k;
    }
  }

  /// Returns true with probability exp(-x (2 k + x)/2), by k + 1 successes of B.
  template <class Fraction>
  bool AcceptFraction(std::uint64_t k, Fraction& x) {
    for (std::uint64_t i = 0; i <= k; ++i) {
      if (!B(k, x)) return false;
    }
    return true;
  }

 private:
  // Returns true with probability exp(-1/2).
  bool H() {
    y_.Redraw(gen_);
    if (!y_.BelowHalf()) return true;
    return RunIsEven(false);
  }

  // Continues a decreasing run of uniforms to its end, and returns whether its length is even. y_ is the last
  // one so far; `even` tells whether the length so far is even.
  bool RunIsEven(bool even) {
    while (true) {
      z_.Redraw(gen_);
      if (!z_.Below(y_, gen_)) return even;
      std::swap(y_, z_);
      even = !even;
    }
  }

  // Draws k with probability exp(-k/2) (1 - exp(-1/2)).
  std::uint64_t G() {
    std::uint64_t k = 0;
    while (H()) ++k;
    return k;
  }

  // Returns true with probability exp(-k (k - 1)/2).
  bool P(std::uint64_t k) {
    for (std::uint64_t i = k * (k - 1); i > 0; --i) {
      if (!H()) return false;
    }
    return true;
  }

  // Returns true with probability exp(-x (2 k + x)/(2 k + 2)).
  template <class Fraction>
  bool B(std::uint64_t k, Fraction& x) {
    z_.Redraw(gen_);
    if (!z_.Below(x, gen_) || !C(k, x)) return true;
    for (bool even = false;; even = !even) {
      std::swap(y_, z_);
      z_.Redraw(gen_);
      if (!z_.Below(y_, gen_) || !C(k, x)) return even;
    }
  }

  // Returns true with probability (2 k + x)/(2 k + 2).
  template <class Fraction>
  bool C(std::uint64_t k, Fraction& x) {
    const std::uint64_t pick = UniformBelow(2 * k + 2, gen_);
    if (pick != 2 * k) return pick < 2 * k;
    Uniform r(gen_);
    return r.Below(x, gen_);
  }

  NoiseGen& gen_;
  Uniform y_;  // the last one and the next one of a decreasing run; members, to save their construction
  Uniform z_;
};

}  // namespace bandana::internal
