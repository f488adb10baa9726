#include "bandana/privacy/samplers/rounded_normal.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"

namespace bandana {
namespace internal {
namespace {

using Wide = unsigned __int128;

// A uniform real in (0, 1), of which only the digits that were asked for have been drawn. With probability 1
// no two are equal and none has a last digit, so comparisons end and are always strict.
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

  bool BelowHalf() const { return (head_ >> (kDigitBits - 1)) == 0; }

  bool Below(LazyUniform& other, NoiseGen& gen) {
    if (head_ != other.head_) [[likely]]
      return head_ < other.head_;
    for (std::size_t i = 1;; ++i) {
      const std::uint64_t mine = At(i, gen);
      const std::uint64_t theirs = other.At(i, gen);
      if (mine != theirs) return mine < theirs;
    }
  }

  // Bits 64 i to 64 i + 63 after the point.
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

  std::uint64_t At(std::size_t i, NoiseGen& gen) {
    if (i == 0) return head_;
    while (tail_.size() < i) tail_.push_back(Digit(gen));
    return tail_[i - 1];
  }

  std::uint64_t head_ = 0;
  std::vector<std::uint64_t> tail_;
};

// Karney's algorithms, named as in the paper.
template <int kDigitBits>
class Karney {
  using Uniform = LazyUniform<kDigitBits>;

 public:
  explicit Karney(NoiseGen& gen) : gen_(gen) {}

  // Algorithm N without the sign: floor(stddev (k + x)) where k + x is a half-normal.
  std::uint64_t Magnitude(std::uint64_t stddev) {
    while (true) {
      const std::uint64_t k = G();
      if (!P(k)) continue;
      Uniform x(gen_);
      if (AcceptFraction(k, x)) return stddev * k + FloorOfProduct(stddev, x);
    }
  }

 private:
  // True with probability exp(-1/2).
  bool H() {
    y_.Redraw(gen_);
    if (!y_.BelowHalf()) return true;
    return RunIsEven(false);
  }

  // y_ is the last of a falling run of uniforms, of even length or not; goes on to the end of the run.
  bool RunIsEven(bool even) {
    while (true) {
      z_.Redraw(gen_);
      if (!z_.Below(y_, gen_)) return even;
      std::swap(y_, z_);
      even = !even;
    }
  }

  // k with probability exp(-k/2) (1 - exp(-1/2)).
  std::uint64_t G() {
    std::uint64_t k = 0;
    while (H()) ++k;
    return k;
  }

  // True with probability exp(-k (k - 1)/2).
  bool P(std::uint64_t k) {
    for (std::uint64_t i = k * (k - 1); i > 0; --i) {
      if (!H()) return false;
    }
    return true;
  }

  // True with probability exp(-x (2 k + x)/2), as k + 1 successes of B.
  bool AcceptFraction(std::uint64_t k, Uniform& x) {
    for (std::uint64_t i = 0; i <= k; ++i) {
      if (!B(k, x)) return false;
    }
    return true;
  }

  // True with probability exp(-x (2 k + x)/(2 k + 2)).
  bool B(std::uint64_t k, Uniform& x) {
    z_.Redraw(gen_);
    if (!z_.Below(x, gen_) || !C(k, x)) return true;
    for (bool even = false;; even = !even) {
      std::swap(y_, z_);
      z_.Redraw(gen_);
      if (!z_.Below(y_, gen_) || !C(k, x)) return even;
    }
  }

  // True with probability (2 k + x)/(2 k + 2).
  bool C(std::uint64_t k, Uniform& x) {
    const std::uint64_t pick = UniformBelow(2 * k + 2, gen_);
    if (pick != 2 * k) return pick < 2 * k;
    Uniform r(gen_);
    return r.Below(x, gen_);
  }

  // The digits of x not yet used are worth less than `stddev` units of the last one used; `gap` is the
  // distance to the next integer in these units.
  std::uint64_t FloorOfProduct(std::uint64_t stddev, Uniform& x) {
    const Wide product = Wide{stddev} * x.Word(0, gen_);
    const auto floor = static_cast<std::uint64_t>(product >> 64);
    Wide gap = (Wide{1} << 64) - static_cast<std::uint64_t>(product);
    for (std::size_t i = 1; gap < stddev; ++i) {
      gap <<= 64;
      const Wide more = Wide{stddev} * x.Word(i, gen_);
      if (gap <= more) return floor + 1;
      gap -= more;
    }
    return floor;
  }

  NoiseGen& gen_;
  Uniform y_;  // the last and the next of a falling run, kept to spare their construction
  Uniform z_;
};

void CheckStddev(std::uint64_t stddev) { BANDANA_CHECK(stddev > 0 && stddev < (std::uint64_t{1} << 52)); }

}  // namespace

// The magnitude overflows only if k exceeds 2^10, which has probability below exp(-2^19).
template <int kDigitBits>
std::int64_t RoundedNormalByDigits(std::uint64_t stddev, NoiseGen& gen) {
  CheckStddev(stddev);
  const auto magnitude = static_cast<std::int64_t>(Karney<kDigitBits>(gen).Magnitude(stddev));
  const bool negative = (gen() >> 63) != 0;
  return negative ? -magnitude - 1 : magnitude;
}

template std::int64_t RoundedNormalByDigits<1>(std::uint64_t, NoiseGen&);
template std::int64_t RoundedNormalByDigits<8>(std::uint64_t, NoiseGen&);
template std::int64_t RoundedNormalByDigits<64>(std::uint64_t, NoiseGen&);

}  // namespace internal

std::int64_t RoundedNormal(std::uint64_t stddev, NoiseGen& gen) {
  return internal::RoundedNormalByDigits<64>(stddev, gen);
}

std::int64_t FastRoundedNormal(std::uint64_t stddev, NoiseGen& gen) {
  internal::CheckStddev(stddev);
  return static_cast<std::int64_t>(std::floor(static_cast<double>(stddev) * StandardNormal(gen)));
}

}  // namespace bandana
