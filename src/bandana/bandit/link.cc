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

double ExtendedPredictor::operator()(double average) const {
  const double inside = std::clamp(average, means_.low, means_.high);
  return PredictorOf(link_, inside) + PredictorSlope(link_, inside) * (average - inside);
}

double ExtendedPredictor::SteepestSlope(Interval averages) const {
  BANDANA_CHECK(averages.low <= averages.high);
  return std::max(PredictorSlope(link_, std::clamp(averages.low, means_.low, means_.high)),
                  PredictorSlope(link_, std::clamp(averages.high, means_.low, means_.high)));
}

double ExtendedPredictor::LargestCurvature(Interval averages) const {
  BANDANA_CHECK(averages.low <= averages.high);
  return std::max(std::abs(PredictorCurvature(link_, std::clamp(averages.low, means_.low, means_.high))),
                  std::abs(PredictorCurvature(link_, std::clamp(averages.high, means_.low, means_.high))));
}

}  // namespace bandana
