#include "bandana/privacy/calibration/laplace.h"

#include <cmath>
#include <numbers>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using calibration::CheckPositive;
using calibration::QuotientUp;

}  // namespace

absl::StatusOr<LaplaceSetting> TightLaplace(double epsilon, double sensitivity) {
  BANDANA_RETURN_IF_ERROR(CheckPositive("epsilon", epsilon));
  BANDANA_RETURN_IF_ERROR(CheckPositive("sensitivity", sensitivity));
  const double scale = QuotientUp(sensitivity, epsilon);
  return LaplaceSetting{scale, std::numbers::sqrt2 * scale, QuotientUp(sensitivity, scale)};
}

absl::StatusOr<LaplaceSetting> PaperLaplace(double epsilon, double range) {
  BANDANA_RETURN_IF_ERROR(CheckPositive("epsilon", epsilon));
  BANDANA_RETURN_IF_ERROR(CheckPositive("range", range));
  const double scale = range / 2 / epsilon;
  return LaplaceSetting{scale, std::numbers::sqrt2 * scale, QuotientUp(range, scale)};
}

absl::StatusOr<DiscreteLaplaceSetting> TightDiscreteLaplace(double epsilon, std::uint64_t units) {
  BANDANA_RETURN_IF_ERROR(CheckPositive("epsilon", epsilon));
  constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 52;
  if (!(units >= 1 && units <= kMostUnits)) {
    return InvalidOption("sensitivity", fmt::format("{}", units), "1 to 2^52 units of the grid");
  }
  // Powers of two times `units` are exact, and so is every test below.
  auto scaled = static_cast<double>(units);
  std::uint64_t denominator = 1;
  while (scaled / epsilon < 0x1p31 && denominator < std::uint64_t{1} << 31) {
    scaled *= 2;
    denominator *= 2;
  }
  const double numerator = std::ceil(QuotientUp(scaled, epsilon));
  if (!(numerator < 0x1p52)) {
    return InvalidField(Part::kPrivacy,
                        {.message = fmt::format("the noise would have a scale of {:.3g} units", numerator),
                         .key = "epsilon",
                         .value = fmt::format("{}", epsilon),
                         .accepted = "a larger epsilon, or a coarser grid: scales below 2^52 units"});
  }
  auto whole = static_cast<std::uint64_t>(numerator);
  while (whole % 2 == 0 && denominator % 2 == 0) {
    whole /= 2;
    denominator /= 2;
  }
  const auto t_numerator = static_cast<double>(whole);
  const auto t_denominator = static_cast<double>(denominator);
  return DiscreteLaplaceSetting{whole, denominator,
                                std::numbers::sqrt2 / 2 / std::sinh(t_denominator / t_numerator / 2),
                                QuotientUp(static_cast<double>(units) * t_denominator, t_numerator)};
}

}  // namespace bandana
