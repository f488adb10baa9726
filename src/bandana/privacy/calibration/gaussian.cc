#include "bandana/privacy/calibration/gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

// Exceeds the relative error of GaussianDelta: a guarantee counts as met only with this margin.
constexpr double kRoundingGuard = 1e-12;
constexpr double kBracket = 1e-12;

constexpr double kSqrtHalfPi = 1.2533141373155002512;
constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

// Laplace's continued fraction: the Mills ratio R(t) is 1/(t + K(t)), K(t) = 1/(t + 2/(t + 3/(t + ...))). For
// t >= 3 this many terms leave an error below 1e-17, and nothing cancels.
double MillsFraction(double t) {
  double value = t;
  for (int i = t > 6 ? 20 : 64; i > 1; --i) value = t + i / value;
  return 1 / value;
}

// R(t) = (1 - Phi(t))/phi(t).
double MillsRatio(double t) {
  if (t > 3) return 1 / (t + MillsFraction(t));
  return kSqrtHalfPi * std::erfc(t * (std::numbers::sqrt2 / 2)) * std::exp(0.5 * t * t);
}

// -R'(t) = 1 - t R(t).
double MillsComplement(double t) {
  if (t <= 3) return 1 - t * MillsRatio(t);
  const double fraction = MillsFraction(t);
  return fraction / (t + fraction);
}

// Returns the integral of -R' over [centre - half, centre + half] for a small half: R(centre - half) -
// R(centre + half) without the cancellation. Gauss-Legendre with five nodes.
double MillsDifference(double centre, double half) {
  static constexpr double kInner = 0.53846931010568309104, kInnerWeight = 0.47862867049936646804;
  static constexpr double kOuter = 0.90617984593866399280, kOuterWeight = 0.23692688505618908751;
  static constexpr double kCentreWeight = 128. / 225;
  const auto pair = [&](double node) {
    return MillsComplement(centre - half * node) + MillsComplement(centre + half * node);
  };
  return half * (kCentreWeight * MillsComplement(centre) + kInnerWeight * pair(kInner) +
                 kOuterWeight * pair(kOuter));
}

// Returns ln of Theorem 8's Phi(a) - e^epsilon Phi(-b) with a = 1/(2 s) - epsilon s, b = 1/(2 s) + epsilon s.
// Since e^epsilon phi(b) = phi(a), it equals phi(a) (R(-a) - R(b)): exp(epsilon) never appears.
double LogGaussianDelta(double epsilon, double s) {
  const double half = 0.5 / s;
  const double centre = epsilon * s;
  if (std::isinf(half)) return 0;
  if (std::isinf(centre)) return -kInfinity;
  // Both terms of a are rounded, and phi magnifies that error. This adds back what was lost.
  const double a = (half - centre) + (std::fma(-half, s, 0.5) / s - std::fma(epsilon, s, -centre));
  const double log_density = -0.5 * a * a - kLogSqrtTwoPi;
  if (half * 32 < std::max(centre, 1.0)) return log_density + std::log(MillsDifference(centre, half));
  if (a <= 0) return log_density + std::log(MillsRatio(-a) - MillsRatio(half + centre));
  const double phi_a = 0.5 * std::erfc(-a * (std::numbers::sqrt2 / 2));
  return std::log(phi_a - std::exp(log_density) * MillsRatio(half + centre));
}

bool Delivers(double epsilon, double delta, double noise_multiplier) {
  return LogGaussianDelta(epsilon, noise_multiplier) + kRoundingGuard <= std::log(delta);
}

absl::Status Validate(const DpGuarantee& guarantee) {
  if (!(guarantee.epsilon > 0 && std::isnormal(guarantee.epsilon))) {
    return InvalidField(Part::kPrivacy, "epsilon", guarantee.epsilon, "a finite number > 0");
  }
  if (!(guarantee.delta > 0 && guarantee.delta < 1 && std::isnormal(guarantee.delta))) {
    return InvalidField(Part::kPrivacy, "delta", guarantee.delta, "a number in (0, 1)");
  }
  return absl::OkStatus();
}

}  // namespace

double GaussianDelta(double epsilon, double noise_multiplier) {
  BANDANA_CHECK(epsilon >= 0 && noise_multiplier >= 0);
  if (noise_multiplier == 0) return 1;
  if (std::isinf(noise_multiplier) || std::isinf(epsilon)) return 0;
  // Gaussian noise never has delta = 0, however small delta is.
  return std::max(std::exp(LogGaussianDelta(epsilon, noise_multiplier)), std::numeric_limits<double>::min());
}

double GaussianEpsilon(double delta, double noise_multiplier) {
  BANDANA_CHECK(delta >= 0 && noise_multiplier >= 0);
  if (delta >= 1) return 0;
  if (delta == 0 || noise_multiplier == 0) return kInfinity;
  if (std::isinf(noise_multiplier) || Delivers(0, delta, noise_multiplier)) return 0;
  double low = 0;
  double high = 1;
  while (!Delivers(high, delta, noise_multiplier)) {
    low = high;
    high *= 2;
    if (std::isinf(high)) return high;
  }
  while (high - low > kBracket * std::max(high, 0.1)) {
    const double middle = low + (high - low) / 2;
    (Delivers(middle, delta, noise_multiplier) ? high : low) = middle;
  }
  return high;
}

absl::StatusOr<double> TightGaussianMultiplier(DpGuarantee guarantee) {
  BANDANA_RETURN_IF_ERROR(Validate(guarantee));
  const auto delivers = [&](double s) { return Delivers(guarantee.epsilon, guarantee.delta, s); };
  double high = 1;
  while (!delivers(high)) high *= 2;
  if (std::isinf(high)) {
    return InvalidField(Part::kPrivacy, "delta", guarantee.delta,
                        "a number in (0, 1) that finite noise can deliver");
  }
  double low = high / 2;
  while (delivers(low)) {
    high = low;
    low /= 2;
  }
  while (high - low > kBracket * high) {
    const double middle = low + (high - low) / 2;
    (delivers(middle) ? high : low) = middle;
  }
  return high;
}

absl::StatusOr<double> ClassicGaussianMultiplier(DpGuarantee guarantee) {
  BANDANA_RETURN_IF_ERROR(Validate(guarantee));
  return std::sqrt(2 * std::log(1.25 / guarantee.delta)) / guarantee.epsilon;
}

}  // namespace bandana
