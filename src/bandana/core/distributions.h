#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bandana/core/check.h"

/// Draws for environments, clients and the lab, from any generator whose `gen()` gives 64 uniform bits.
/// UniformBelow is exact. The others are exact up to the rounding of doubles, which is far below what any
/// experiment can see, but which an adversary can exploit (Mironov, CCS 2012): they are never privacy noise
/// in service. Samplers for that are in privacy/samplers.
namespace bandana {

/// Uniform on the multiples of 2^-53 in [0, 1).
template <class Gen>
double UniformUnit(Gen& gen) {
  return static_cast<double>(gen() >> 11) * 0x1p-53;
}

/// Uniform on {0, ..., n - 1}; n > 0. D. Lemire, "Fast random integer generation in an interval", ACM TOMACS
/// 29(1), 2019.
template <class Gen>
std::uint64_t UniformBelow(std::uint64_t n, Gen& gen) {
  BANDANA_CHECK(n > 0);
  unsigned __int128 product = static_cast<unsigned __int128>(gen()) * n;
  if (static_cast<std::uint64_t>(product) < n) [[unlikely]] {
    const std::uint64_t surplus = -n % n;  // 2^64 mod n
    while (static_cast<std::uint64_t>(product) < surplus) product = static_cast<unsigned __int128>(gen()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

namespace internal {

/// 256 layers of equal area under a decreasing density f with f(0) = 1, x >= 0, counted from the bottom.
/// Layer i >= 1 is [0, x[i]] times [y[i], y[i + 1]], where y = f(x). Layer 0 is [0, x[1]] times [0, y[1]]
/// together with the tail beyond x[1]; x[0] is the width of the rectangle that has this area and height y[1].
struct ZigguratTable {
  std::array<double, 257> x;
  std::array<double, 257> y;
};
extern const ZigguratTable kZiggurat;         ///< for f(x) = exp(-x^2/2)
extern const ZigguratTable kLaplaceZiggurat;  ///< for f(x) = exp(-x)

/// Uniform on (0, 1] with full relative precision near 0, for logarithms.
template <class Gen>
double UniformPositive(Gen& gen) {
  return (static_cast<double>(gen()) + 0.5) * 0x1p-64;
}

/// Draws a standard normal variable, given that it exceeds x[1]. G. Marsaglia, "Generating a variable from
/// the tail of the normal distribution", Technometrics 6(1), 1964.
template <class Gen>
double NormalTail(Gen& gen) {
  const double start = kZiggurat.x[1];
  while (true) {
    const double excess = -std::log(UniformPositive(gen)) / start;
    if (-2 * std::log(UniformPositive(gen)) > excess * excess) return start + excess;
  }
}

struct NormalZiggurat {
  static const ZigguratTable& Table() { return kZiggurat; }
  static double Density(double x) { return std::exp(-0.5 * x * x); }
  template <class Gen>
  static double Tail(Gen& gen) {
    return NormalTail(gen);
  }
};

struct LaplaceZiggurat {
  static const ZigguratTable& Table() { return kLaplaceZiggurat; }
  static double Density(double x) { return std::exp(-x); }
  /// The exponential distribution has no memory: beyond x[1] it is the whole distribution again, shifted.
  template <class Gen>
  static double Tail(Gen& gen);
};

/// Draws from the density f(|x|), which is symmetric about 0. A draw takes one random word in 99 % of cases.
/// G. Marsaglia and W. W. Tsang, "The ziggurat method for generating random variables", J. Stat. Softw. 5(8),
/// 2000. Layer, sign and position come from disjoint bits, which J. A. Doornik, "An improved ziggurat
/// method", 2005, recommends.
///
/// The mathematical library is called on rare paths only: exp decides near an edge, and log makes the
/// normal's tail (one draw in 4000). glibc chooses its code for both by the processor's FMA and AVX2.
/// x86-64-v3 always has these, so all such machines draw the same numbers.
template <class Law, class Gen>
class Ziggurat {
 public:
  // Holds only the frequent case, so that it is short enough to be inlined at every call.
  [[gnu::always_inline]] static double Draw(Gen& gen) {
    const Point point = Throw(gen);
    if (point.inside) [[likely]]
      return point.x;
    return DrawFrom(point, gen);
  }

 private:
  struct Point {
    std::size_t layer;
    double u;
    double x;
    bool inside;  // whether x lies in the part of the layer that is wholly under the density
  };

  [[gnu::always_inline]] static Point Throw(Gen& gen) {
    const ZigguratTable& table = Law::Table();
    const std::uint64_t bits = gen();
    const std::size_t layer = bits & 0xff;
    // An odd multiple of 2^-56 in (-1, 1).
    const double u = static_cast<double>((static_cast<std::int64_t>(bits) >> 7) | 1) * 0x1p-56;
    const double x = u * table.x[layer];
    return {layer, u, x, std::abs(x) < table.x[layer + 1]};
  }

  [[gnu::noinline]] static double DrawFrom(Point point, Gen& gen) {
    const ZigguratTable& table = Law::Table();
    for (; !point.inside; point = Throw(gen)) {
      if (point.layer == 0) return std::copysign(Law::Tail(gen), point.u);
      const double low = table.y[point.layer];
      const double height = low + UniformUnit(gen) * (table.y[point.layer + 1] - low);
      if (height < Law::Density(std::abs(point.x))) break;
    }
    return point.x;
  }
};

template <class Gen>
double LaplaceZiggurat::Tail(Gen& gen) {
  return kLaplaceZiggurat.x[1] + std::abs(Ziggurat<LaplaceZiggurat, Gen>::Draw(gen));
}

/// Draws binomial variables by the rejection algorithm BTRS, for n p >= 10 and p <= 1/2. W. Hörmann, "The
/// generation of binomial random variates", J. Statist. Comput. Simul. 46, 1993. The names a_, b_, alpha_ and
/// v_r_ are Hörmann's. Counts are relative to the mode m = floor((n + 1) p), so that no number of the size of
/// n is ever rounded.
class BinomialRejection {
 public:
  BinomialRejection(std::int64_t n, double p);

  template <class Gen>
  std::int64_t operator()(Gen& gen) const {
    while (true) {
      const double v = UniformUnit(gen);
      const double u = UniformUnit(gen) - 0.5;
      const double us = 0.5 - std::abs(u);
      const double step = std::floor((2 * a_ / us + b_) * u + mean_from_mode_ + 0.5);
      if (us >= 0.07 && v <= v_r_) return mode_ + static_cast<std::int64_t>(step);
      if (!(step >= lowest_ && step <= highest_)) continue;
      if (std::log(v * alpha_ / (a_ / (us * us) + b_)) <= LogPmf(step) - LogPmf(0)) {
        return mode_ + static_cast<std::int64_t>(step);
      }
    }
  }

  std::int64_t mode() const { return mode_; }

  /// Returns ln P(X = mode + step). The absolute error is about 1e-14 wherever the probability is not
  /// negligible.
  double LogPmf(double step) const;

 private:
  std::int64_t n_;
  double p_;
  std::int64_t mode_;
  double mean_from_mode_;  // n p - m, from the exact product
  double lowest_;          // -m
  double highest_;         // n - m
  double a_, b_, alpha_, v_r_;
};

/// Draws a binomial variable by sequential search from 0, for n p < 10 and p <= 1/2.
template <class Gen>
std::int64_t BinomialByInversion(std::int64_t n, double p, Gen& gen) {
  const double odds = p / (1 - p);
  const double none = std::exp(static_cast<double>(n) * std::log1p(-p));
  // The mass beyond 128 is below 1e-80. A search gets there only by rounding, with probability 1e-15.
  const std::int64_t last = std::min<std::int64_t>(n, 128);
  while (true) {
    double left = UniformUnit(gen);
    double mass = none;
    for (std::int64_t k = 0; k <= last; ++k) {
      if (left < mass) return k;
      left -= mass;
      mass *= odds * static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
  }
}

}  // namespace internal

/// Draws a standard normal variable, by the ziggurat.
template <class Gen>
double StandardNormal(Gen& gen) {
  return internal::Ziggurat<internal::NormalZiggurat, Gen>::Draw(gen);
}

/// Draws from the density exp(-|x|)/2, by the ziggurat.
template <class Gen>
double StandardLaplace(Gen& gen) {
  return internal::Ziggurat<internal::LaplaceZiggurat, Gen>::Draw(gen);
}

/// Draws the number of successes in n independent trials of probability p; 0 <= n <= 2^62, 0 <= p <= 1. The
/// distribution function departs from the exact one by at most 2^-52. The probability of one value is off by
/// a factor within 1 +- 2^-51 sqrt(n p (1 - p)), because of the grid of the proposal (2^-21 at n = 2^62, p =
/// 1/2).
template <class Gen>
std::int64_t Binomial(std::int64_t n, double p, Gen& gen) {
  BANDANA_CHECK(n >= 0 && n <= (std::int64_t{1} << 62));
  BANDANA_CHECK(p >= 0 && p <= 1);
  if (p > 0.5) return n - Binomial(n, 1 - p, gen);  // 1 - p is exact
  if (n == 0 || p == 0) return 0;
  if (static_cast<double>(n) * p < 10) return internal::BinomialByInversion(n, p, gen);
  return internal::BinomialRejection(n, p)(gen);
}

}  // namespace bandana
