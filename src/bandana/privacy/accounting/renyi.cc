#include "bandana/privacy/accounting/renyi.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"

namespace bandana {
namespace {

constexpr double kUp = 1 + 1e-14;

double LogSumExp(double a, double b) {
  const double most = std::max(a, b);
  return most == -kInfinity ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

// Returns ln of (1 - 1/alpha)^alpha/(alpha - 1).
double LogConversion(double order) { return order * std::log1p(-1 / order) - std::log(order - 1); }

template <class Value>
RenyiCurve Curve(Value value) {
  RenyiCurve curve;
  for (std::size_t i = 0; i < RenyiCurve::kOrders; ++i) {
    curve.set(i, std::max(0.0, value(RenyiCurve::Orders()[i])) * kUp);
  }
  return curve;
}

}  // namespace

double RenyiToDelta(double epsilon, double order, double renyi_epsilon) {
  BANDANA_CHECK(order > 1 && renyi_epsilon >= 0 && !std::isnan(epsilon));
  if (renyi_epsilon == kInfinity) return 1;
  const double exponent = (order - 1) * (renyi_epsilon - epsilon) + LogConversion(order);
  return std::min(1.0, std::exp(exponent + 1e-14 * ((order - 1) * (renyi_epsilon + std::abs(epsilon)) + 10)));
}

double RenyiToEpsilon(double delta, double order, double renyi_epsilon) {
  BANDANA_CHECK(order > 1 && renyi_epsilon >= 0 && delta >= 0);
  if (delta >= 1) return 0;
  if (delta == 0 || renyi_epsilon == kInfinity) return kInfinity;
  const double slack = (LogConversion(order) - std::log(delta)) / (order - 1);
  return std::max(0.0, renyi_epsilon + slack + 1e-14 * (renyi_epsilon + std::abs(slack)));
}

const std::array<double, RenyiCurve::kOrders>& RenyiCurve::Orders() {
  static const auto kGrid = [] {
    std::array<double, kOrders> orders;
    for (std::size_t i = 0; i < kOrders; ++i)
      orders[i] = 1 + std::pow(10, (static_cast<double>(i) - 60) / 20);
    return orders;
  }();
  return kGrid;
}

RenyiCurve RenyiCurve::Unbounded() {
  RenyiCurve curve;
  curve.values_.fill(kInfinity);
  return curve;
}

RenyiCurve RenyiCurve::Gaussian(double noise_multiplier) {
  BANDANA_CHECK(noise_multiplier > 0);
  return Zcdp(0.5 / noise_multiplier / noise_multiplier);
}

RenyiCurve RenyiCurve::Zcdp(double rho) {
  BANDANA_CHECK(rho >= 0);
  return Curve([rho](double order) { return order * rho; });
}

RenyiCurve RenyiCurve::Laplace(double scale) {
  BANDANA_CHECK(scale > 0);
  // Mironov 2017, Proposition 6. For small (alpha - 1) epsilon the logarithm cancels, and PureDp's bound is
  // safer.
  const double epsilon = 1 / scale;
  RenyiCurve curve = PureDp(epsilon);
  for (std::size_t i = 0; i < kOrders; ++i) {
    const double order = Orders()[i];
    const double up = (order - 1) * epsilon;
    const double value = LogSumExp(std::log(order / (2 * order - 1)) + up,
                                   std::log((order - 1) / (2 * order - 1)) - order * epsilon);
    const double rounding = 1e-14 * (1 + up + order * epsilon);
    curve.values_[i] = std::min(curve.values_[i], std::max(0.0, (value + rounding) / (order - 1)));
  }
  return curve;
}

RenyiCurve RenyiCurve::PureDp(double epsilon) {
  BANDANA_CHECK(epsilon >= 0);
  // Randomised response: p^a q^(1-a) + q^a p^(1-a) with p/q = exp(epsilon). It is never above epsilon, nor
  // above the zCDP of a pure release, alpha epsilon^2/2 (M. Bun and T. Steinke 2016, Proposition 3.3).
  return Curve([epsilon](double order) {
    const double log_q = -(epsilon + std::log1p(std::exp(-epsilon)));
    const double log_p = -std::log1p(std::exp(-epsilon));
    const double value = LogSumExp(order * log_p + (1 - order) * log_q, order * log_q + (1 - order) * log_p);
    const double rounding = 1e-14 * (1 + order * (epsilon + 1));
    return std::min({(value + rounding) / (order - 1), epsilon, order * epsilon * epsilon / 2});
  });
}

RenyiCurve RenyiCurve::Plus(const RenyiCurve& other) const {
  RenyiCurve sum;
  for (std::size_t i = 0; i < kOrders; ++i) sum.values_[i] = (values_[i] + other.values_[i]) * (1 + 1e-15);
  return sum;
}

RenyiCurve RenyiCurve::Times(double count) const {
  BANDANA_CHECK(count >= 0);
  RenyiCurve product;
  if (count == 0) return product;
  for (std::size_t i = 0; i < kOrders; ++i) product.values_[i] = values_[i] * count * (1 + 1e-15);
  return product;
}

std::size_t RenyiCurve::BestOrder(double delta) const {
  std::size_t best = 0;
  double least = kInfinity;
  for (std::size_t i = 0; i < kOrders; ++i) {
    const double epsilon = RenyiToEpsilon(delta, Orders()[i], values_[i]);
    if (epsilon < least) {
      least = epsilon;
      best = i;
    }
  }
  return best;
}

double RenyiCurve::Epsilon(double delta) const {
  const std::size_t best = BestOrder(delta);
  return RenyiToEpsilon(delta, Orders()[best], values_[best]);
}

double RenyiCurve::Delta(double epsilon) const {
  double least = 1;
  for (std::size_t i = 0; i < kOrders; ++i) {
    least = std::min(least, RenyiToDelta(epsilon, Orders()[i], values_[i]));
  }
  return least;
}

}  // namespace bandana
