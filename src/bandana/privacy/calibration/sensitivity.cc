#include "bandana/privacy/calibration/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using calibration::CheckPositive;
using calibration::NextUp;
using calibration::ProductUp;
using calibration::SqrtUp;

absl::Status CheckDimension(std::int64_t dimension) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  if (dimension >= 1 && dimension <= kMost) return absl::OkStatus();
  return InvalidOption("dimension", fmt::format("{}", dimension), "a whole number from 1 to 2^50");
}

}  // namespace

absl::StatusOr<double> VectorSensitivity(VectorShape shape, std::int64_t dimension, double bound, Norm norm,
                                         Neighbours neighbours) {
  BANDANA_RETURN_IF_ERROR(CheckDimension(dimension));
  BANDANA_RETURN_IF_ERROR(CheckPositive("bound", bound));
  const auto d = static_cast<double>(dimension);
  double longest = bound;  // the longest vector of the set, in the norm
  if (shape == VectorShape::kBox) longest = ProductUp(norm == Norm::kL1 ? d : SqrtUp(d), bound);
  if (shape == VectorShape::kL2Ball && norm == Norm::kL1) longest = ProductUp(SqrtUp(d), bound);
  return neighbours == Neighbours::kReplaceOne ? 2 * longest : longest;
}

absl::StatusOr<double> SymmetricSensitivity(std::int64_t dimension, double squared_norm,
                                            Neighbours neighbours) {
  BANDANA_RETURN_IF_ERROR(CheckDimension(dimension));
  BANDANA_RETURN_IF_ERROR(CheckPositive("squared_norm", squared_norm));
  if (neighbours == Neighbours::kReplaceOne && dimension >= 2) return squared_norm;
  return NextUp(squared_norm * (std::numbers::sqrt2 / 2));
}

absl::StatusOr<double> RegressionSensitivity(double context_norm, double reward_bound, double reward_weight) {
  BANDANA_RETURN_IF_ERROR(CheckPositive("context_norm", context_norm));
  BANDANA_RETURN_IF_ERROR(CheckPositive("reward_bound", reward_bound));
  BANDANA_RETURN_IF_ERROR(CheckPositive("reward_weight", reward_weight));
  const double weighted = ProductUp(reward_weight, reward_bound);
  if (weighted > context_norm) return 2 * ProductUp(context_norm, weighted);
  return NextUp(ProductUp(context_norm, context_norm) + ProductUp(weighted, weighted));
}

SymmetricNoise SymmetricGaussianNoise(double multiplier, double sensitivity) {
  BANDANA_CHECK(multiplier > 0 && sensitivity > 0);
  const double s = ProductUp(multiplier, sensitivity);
  return {s, NextUp(NextUp(s * std::numbers::sqrt2))};
}

}  // namespace bandana
