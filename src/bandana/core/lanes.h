#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Vectors of numbers in registers of 32 bytes, by the vector extensions that GCC and Clang share.
/// Arithmetic, comparisons and ?: act lane by lane, and a scalar operand stands for all lanes. This file adds
/// the operations that the extensions lack. Every result is rounded by IEEE 754, so that all processors
/// compute the same bits.
namespace bandana::lanes {

inline constexpr std::size_t kBytes = 32;

template <class Scalar>
inline constexpr int kCount = static_cast<int>(kBytes / sizeof(Scalar));

template <class Scalar>
struct VectorOf {
  using Type [[gnu::vector_size(kBytes)]] = Scalar;
  using Half [[gnu::vector_size(kBytes / 2)]] = Scalar;
};

template <class Scalar>
using Lanes = typename VectorOf<Scalar>::Type;
using Doubles = Lanes<double>;           ///< 4 lanes
using Floats = Lanes<float>;             ///< 8 lanes
using Ints = Lanes<std::int32_t>;        ///< 8 lanes
using Words = Lanes<std::uint32_t>;      ///< 8 lanes
using LongWords = Lanes<std::uint64_t>;  ///< 4 lanes
using FourFloats = VectorOf<float>::Half;

template <class Scalar>
inline Lanes<Scalar> Load(const Scalar* from) {
  Lanes<Scalar> lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

template <class Scalar, class Vector>
inline void Store(Scalar* to, const Vector& lanes) {
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(lanes[0])>, Scalar>);
  std::memcpy(to, &lanes, sizeof(lanes));
}

template <class Scalar>
inline Lanes<Scalar> Broadcast(Scalar value) {
  return value - Lanes<Scalar>{};
}

/// Reinterprets the bits as lanes of another type.
template <class To, class From>
inline To BitsAs(const From& lanes) {
  return __builtin_bit_cast(To, lanes);
}

/// Returns a b + c, rounded once.
inline Doubles MulAdd(const Doubles& a, const Doubles& b, const Doubles& c) {
#ifdef __FMA__
  return _mm256_fmadd_pd(a, b, c);
#else
  Doubles result;
  for (int i = 0; i < kCount<double>; ++i) result[i] = std::fma(a[i], b[i], c[i]);
  return result;
#endif
}

inline Floats MulAdd(const Floats& a, const Floats& b, const Floats& c) {
#ifdef __FMA__
  return _mm256_fmadd_ps(a, b, c);
#else
  Floats result;
  for (int i = 0; i < kCount<float>; ++i) result[i] = std::fma(a[i], b[i], c[i]);
  return result;
#endif
}

inline Doubles Sqrt(const Doubles& a) {
#ifdef __AVX__
  return _mm256_sqrt_pd(a);
#else
  Doubles result;
  for (int i = 0; i < kCount<double>; ++i) result[i] = std::sqrt(a[i]);
  return result;
#endif
}

inline Floats Sqrt(const Floats& a) {
#ifdef __AVX__
  return _mm256_sqrt_ps(a);
#else
  Floats result;
  for (int i = 0; i < kCount<float>; ++i) result[i] = std::sqrt(a[i]);
  return result;
#endif
}

/// The lower and the upper half of a vector, each converted to double. Narrow converts them back.
struct DoubleHalves {
  Doubles low;
  Doubles high;
};

inline DoubleHalves Widen(const Floats& a) {
  const auto low = __builtin_shufflevector(a, a, 0, 1, 2, 3);
  const auto high = __builtin_shufflevector(a, a, 4, 5, 6, 7);
#ifdef __AVX__
  return {_mm256_cvtps_pd(low), _mm256_cvtps_pd(high)};
#else
  return {__builtin_convertvector(low, Doubles), __builtin_convertvector(high, Doubles)};
#endif
}

inline DoubleHalves Widen(const Ints& a) {
  const auto low = __builtin_shufflevector(a, a, 0, 1, 2, 3);
  const auto high = __builtin_shufflevector(a, a, 4, 5, 6, 7);
#ifdef __AVX2__
  return {_mm256_cvtepi32_pd(BitsAs<__m128i>(low)), _mm256_cvtepi32_pd(BitsAs<__m128i>(high))};
#else
  return {__builtin_convertvector(low, Doubles), __builtin_convertvector(high, Doubles)};
#endif
}

inline Floats Narrow(const DoubleHalves& a) {
#ifdef __AVX__
  return _mm256_set_m128(_mm256_cvtpd_ps(a.high), _mm256_cvtpd_ps(a.low));
#else
  return __builtin_shufflevector(__builtin_convertvector(a.low, FourFloats),
                                 __builtin_convertvector(a.high, FourFloats), 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

/// Returns the larger value in each lane, and `b` where `a` is NaN.
template <class Vector>
inline Vector Max(const Vector& a, const Vector& b) {
  return a > b ? a : b;
}

}  // namespace bandana::lanes
