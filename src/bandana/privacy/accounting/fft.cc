#include "bandana/privacy/accounting/fft.h"

#include <cmath>
#include <limits>
#include <unsupported/Eigen/FFT>

#include "bandana/core/check.h"

namespace bandana {

struct RealFft::Plan {
  Eigen::FFT<double> fft{Eigen::default_fft_impl<double>(), Eigen::FFT<double>::HalfSpectrum};
};

std::size_t RealFft::Length(std::size_t at_least) {
  std::size_t length = 4;
  while (length < at_least) length *= 2;
  return length >= 16 && length / 4 * 3 >= at_least ? length / 4 * 3 : length;
}

RealFft::RealFft(std::size_t length) : length_(length), plan_(std::make_unique<Plan>()) {
  BANDANA_CHECK(length == Length(length) && length <= std::size_t{1} << 30);
}

RealFft::~RealFft() = default;

void RealFft::Forward(std::span<const double> values, std::vector<std::complex<double>>& spectrum) {
  BANDANA_CHECK(values.size() == length_);
  spectrum.resize(length_ / 2 + 1);
  plan_->fft.fwd(spectrum.data(), values.data(), static_cast<Eigen::Index>(length_));
}

void RealFft::Inverse(std::span<const std::complex<double>> spectrum, std::vector<double>& values) {
  BANDANA_CHECK(spectrum.size() == length_ / 2 + 1);
  values.resize(length_);
  plan_->fft.inv(values.data(), spectrum.data(), static_cast<Eigen::Index>(length_));
}

double RealFft::relative_error() const {
  constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
  return 10 * kUnit * (std::log2(static_cast<double>(length_)) + 3);
}

}  // namespace bandana
