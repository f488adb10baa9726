#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace bandana {

/// The discrete Fourier transform of real sequences of one length. It is a class of its own so that the
/// library behind it is compiled once. Not thread-safe: each thread needs its own object.
class RealFft {
 public:
  /// Returns the smallest fast length >= `at_least`: 2^k or 3 * 2^k.
  static std::size_t Length(std::size_t at_least);

  /// `length` must be one that Length() returns.
  explicit RealFft(std::size_t length);
  ~RealFft();
  RealFft(const RealFft&) = delete;
  RealFft& operator=(const RealFft&) = delete;

  /// Writes the first length/2 + 1 values of the spectrum. The others are their conjugates.
  void Forward(std::span<const double> values, std::vector<std::complex<double>>& spectrum);
  /// Inverse of Forward, divided by the length.
  void Inverse(std::span<const std::complex<double>> spectrum, std::vector<double>& values);

  /// Returns r such that |computed - exact| <= r |exact|, both in l2, for either direction. N. J. Higham,
  /// "Accuracy and stability of numerical algorithms", 2002, Theorem 24.2, with 10 units of rounding per
  /// stage instead of 6.7 and three stages added, for stages of radix 3 and for the step that makes a complex
  /// transform real.
  double relative_error() const;
  std::size_t length() const { return length_; }

 private:
  struct Plan;
  std::size_t length_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace bandana
