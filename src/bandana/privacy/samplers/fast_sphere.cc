#include "bandana/privacy/samplers/fast_sphere.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <numbers>

#include "bandana/core/check.h"

namespace bandana {
namespace internal {
namespace {

// Returns P(T > t) for T = <u, v>: T^2 has the law Beta(1/2, (d - 1)/2).
double MassAbove(double t, double a) {
  if (t < 0) return 1 - MassAbove(-t, a);
  const double tail =
      t < 0.7 ? boost::math::ibetac(0.5, a, t * t) : boost::math::ibeta(a, 0.5, (1 - t) * (1 + t));
  return tail / 2;
}

// Returns t in [low, high] with P(T > t) = mass.
double HeightAt(double mass, double a, double low, double high) {
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (MassAbove(middle, a) > mass ? low : high) = middle;
  }
}

}  // namespace

SphereHeight::SphereHeight(std::int64_t dimension, double low, double high)
    : power_(static_cast<double>(dimension - 3) / 2) {
  BANDANA_CHECK(dimension >= 3 && -1 <= low && low < high && high <= 1);
  const double a = static_cast<double>(dimension - 1) / 2;
  const double most = MassAbove(low, a);
  const double least = MassAbove(high, a);
  double edge = low;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(kColumns);
    const double next = i + 1 == kColumns ? high : HeightAt(most + share * (least - most), a, edge, high);
    const double nearest = edge < 0 && next > 0 ? 0 : std::min(std::abs(edge), std::abs(next));
    const double farthest = std::max(std::abs(edge), std::abs(next));
    const double log_most = power_ * std::log1p(-nearest * nearest);
    columns_[i] = {.low = edge,
                   .width = next - edge,
                   .log_most = power_ == 0 ? 0 : log_most,
                   .least = power_ == 0 ? 1 : std::exp(power_ * std::log1p(-farthest * farthest) - log_most)};
    edge = next;
  }
}

}  // namespace internal

FastCap::FastCap(std::int64_t dimension, double p, double gamma) : p_(p), gamma_(gamma) {
  BANDANA_CHECK(dimension >= 1 && p > 0 && p < 1 && gamma >= 0 && gamma < 1);
  if (dimension == 2) {
    cap_turns_ = std::acos(gamma) / (2 * std::numbers::pi);
    in_turns_ = 2 * cap_turns_ / p;
    out_turns_ = (1 - 2 * cap_turns_) / (1 - p);
  } else if (dimension > 2 && gamma > 0) {
    in_heights_ = internal::SphereHeight(dimension, gamma, 1);
    out_heights_ = internal::SphereHeight(dimension, -1, gamma);
  }
}

void FastCap::DrawInSpace(std::span<const double> axis, double inverse, double length, NoiseGen& gen,
                          std::span<double> out) const {
  const bool inside = UniformUnit(gen) < p_;
  if (axis.size() == 1) {
    out[0] = length * std::copysign(1, inside ? inverse * axis[0] : -inverse * axis[0]);
    return;
  }
  double squares = 0;
  double product = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = StandardNormal(gen);
    out[i] = x;
    squares += x * x;
    product += x * axis[i];
  }
  product *= inverse;
  if (gamma_ == 0) {  // the direction is negated if it is on the wrong side
    const double scale = length * std::copysign(1 / std::sqrt(squares), inside ? product : -product);
    for (double& x : out) x *= scale;
    return;
  }
  // The direction orthogonal to the axis is uniform, independent of the height.
  const double height = (inside ? in_heights_ : out_heights_).Draw(gen);
  double off_axis = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] -= product * (inverse * axis[i]);
    off_axis += out[i] * out[i];
  }
  const double scale = length * std::sqrt((1 - height) * (1 + height) / off_axis);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = scale * out[i] + length * height * (inverse * axis[i]);
}

void FastCap::DrawUniformInSpace(double length, NoiseGen& gen, std::span<double> out) {
  double squares = 0;
  for (double& x : out) {
    x = StandardNormal(gen);
    squares += x * x;
  }
  const double scale = length / std::sqrt(squares);
  for (double& x : out) x *= scale;
}

}  // namespace bandana
