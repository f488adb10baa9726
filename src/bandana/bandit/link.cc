#include "bandana/bandit/link.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/check.h"

namespace bandana {

double MeanOf(Link link, double predictor) {
  switch (link) {
    case Link::kIdentity:
      return predictor;
    case Link::kLogistic:
      break;
  }
  return 1 / (1 + std::exp(-predictor));
}

double PredictorOf(Link link, double mean) {
  switch (link) {
    case Link::kIdentity:
      return mean;
    case Link::kLogistic:
      break;
  }
  return std::log(mean) - std::log1p(-mean);
}

double PredictorSlope(Link link, double mean) {
  switch (link) {
    case Link::kIdentity:
      return 1;
    case Link::kLogistic:
      break;
  }
  return 1 / (mean * (1 - mean));
}

double PredictorCurvature(Link link, double mean) {
  switch (link) {
    case Link::kIdentity:
      return 0;
    case Link::kLogistic:
      break;
  }
  const double slope = 1 / (mean * (1 - mean));
  return (2 * mean - 1) * slope * slope;
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
