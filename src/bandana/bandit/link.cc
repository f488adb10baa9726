#include "bandana/bandit/link.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "bandana/core/check.h"

namespace bandana {
namespace {

[[noreturn]] void NoParameter() {
  BANDANA_CHECK(!"a link with a parameter: see mean_function.h");
  std::abort();
}

// Returns Phi^-1(mean).
double NormalQuantile(double mean) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * mean); }

double NormalDensity(double z) {
  constexpr double kInverseRoot = std::numbers::inv_sqrtpi * (std::numbers::sqrt2 / 2);  // (2 pi)^-1/2
  return kInverseRoot * std::exp(-0.5 * z * z);
}

}  // namespace

double MeanOf(Link link, double predictor) {
  switch (link) {
    case Link::kIdentity:
      return predictor;
    case Link::kLogistic:
      return 1 / (1 + std::exp(-predictor));
    case Link::kProbit:
      return 0.5 * std::erfc(-predictor * (std::numbers::sqrt2 / 2));
    case Link::kPoisson:
      break;
  }
  NoParameter();
}

double PredictorOf(Link link, double mean) {
  switch (link) {
    case Link::kIdentity:
      return mean;
    case Link::kLogistic:
      return std::log(mean) - std::log1p(-mean);
    case Link::kProbit:
      return NormalQuantile(mean);
    case Link::kPoisson:
      break;
  }
  NoParameter();
}

double PredictorSlope(Link link, double mean) {
  switch (link) {
    case Link::kIdentity:
      return 1;
    case Link::kLogistic:
      return 1 / (mean * (1 - mean));
    case Link::kProbit:
      return 1 / NormalDensity(NormalQuantile(mean));  // increases with |z|
    case Link::kPoisson:
      break;
  }
  NoParameter();
}

double PredictorCurvature(Link link, double mean) {
  switch (link) {
    case Link::kIdentity:
      return 0;
    case Link::kLogistic: {
      const double slope = 1 / (mean * (1 - mean));
      return (2 * mean - 1) * slope * slope;
    }
    case Link::kProbit: {
      const double z = NormalQuantile(mean);
      const double slope = 1 / NormalDensity(z);
      return z * slope * slope;  // its absolute value increases with |z|
    }
    case Link::kPoisson:
      break;
  }
  NoParameter();
}

double SteepestMean(Link link) { return 1 / PredictorSlope(link, 0.5); }

SpreadLink::SpreadLink(Link link, double spread) : link_(link), spread_(spread) {
  BANDANA_CHECK(link != Link::kPoisson && spread >= 0 && (link != Link::kLogistic || spread <= kMostSpread));
}

// The trapezoidal rule converges geometrically for an analytic integrand that falls like a normal density:
// with this step and range its error is below 1e-15 for spreads up to 1.
SpreadLink::Averages SpreadLink::LogisticAt(double predictor) const {
  constexpr double kStep = 0.25;
  constexpr int kSteps = 36;  // 9 standard deviations
  Averages averages;
  for (int i = -kSteps; i <= kSteps; ++i) {
    const double z = kStep * i;
    const double weight = kStep * NormalDensity(z);
    const double mean = bandana::MeanOf(Link::kLogistic, predictor + spread_ * z);
    const double slope = mean * (1 - mean);
    averages.mean += weight * mean;
    averages.slope += weight * slope;
    averages.curvature += weight * slope * (1 - 2 * mean);
  }
  return averages;
}

double SpreadLink::MeanOf(double predictor) const {
  if (link_ == Link::kLogistic && spread_ > 0) return LogisticAt(predictor).mean;
  return bandana::MeanOf(link_, link_ == Link::kProbit ? predictor / std::hypot(1, spread_) : predictor);
}

// For the logistic link by Newton's method. It starts at mu^-1(mean), which is nearer to 0 than the solution.
double SpreadLink::PredictorOf(double mean) const {
  const double stretch = link_ == Link::kProbit ? std::hypot(1, spread_) : 1;
  double predictor = stretch * bandana::PredictorOf(link_, mean);
  if (link_ != Link::kLogistic || spread_ == 0) return predictor;
  for (int step = 0; step < 30; ++step) {
    const Averages at = LogisticAt(predictor);
    const double change = (mean - at.mean) / at.slope;
    predictor += change;
    if (std::abs(change) < 1e-13 * (1 + std::abs(predictor))) break;
  }
  return predictor;
}

double SpreadLink::PredictorSlope(double mean) const {
  if (link_ == Link::kLogistic && spread_ > 0) return 1 / LogisticAt(PredictorOf(mean)).slope;
  return (link_ == Link::kProbit ? std::hypot(1, spread_) : 1) * bandana::PredictorSlope(link_, mean);
}

double SpreadLink::PredictorCurvature(double mean) const {
  if (link_ == Link::kLogistic && spread_ > 0) {
    const Averages at = LogisticAt(PredictorOf(mean));
    return -at.curvature / (at.slope * at.slope * at.slope);
  }
  return (link_ == Link::kProbit ? std::hypot(1, spread_) : 1) * bandana::PredictorCurvature(link_, mean);
}

double ExtendedPredictor::operator()(double average) const {
  const double inside = std::clamp(average, means_.low, means_.high);
  return link_.PredictorOf(inside) + link_.PredictorSlope(inside) * (average - inside);
}

double ExtendedPredictor::SteepestSlope(Interval averages) const {
  BANDANA_CHECK(averages.low <= averages.high);
  return std::max(link_.PredictorSlope(std::clamp(averages.low, means_.low, means_.high)),
                  link_.PredictorSlope(std::clamp(averages.high, means_.low, means_.high)));
}

double ExtendedPredictor::LargestCurvature(Interval averages) const {
  BANDANA_CHECK(averages.low <= averages.high);
  return std::max(std::abs(link_.PredictorCurvature(std::clamp(averages.low, means_.low, means_.high))),
                  std::abs(link_.PredictorCurvature(std::clamp(averages.high, means_.low, means_.high))));
}

}  // namespace bandana
