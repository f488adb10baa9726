#include "bandana/privacy/grid_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/access.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "fmt/format.h"

namespace bandana {
namespace {

double LowUnits(const Interval& bound) { return std::floor(bound.low / GridMean::kUnit); }
double HighUnits(const Interval& bound) { return std::ceil(bound.high / GridMean::kUnit); }

std::int64_t ClipUnits(std::int64_t units, const Interval& bound) {
  return std::clamp(units, static_cast<std::int64_t>(LowUnits(bound)),
                    static_cast<std::int64_t>(HighUnits(bound)));
}

constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 62;  // two of them still add up in 64 bits

std::uint64_t Magnitude(std::int64_t units) {
  return units < 0 ? -static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
}

// Values that the grid holds with room for noise and for sums.
absl::Status CheckBounds(const MeanQuery& query) {
  constexpr double kMost = 0x1p20;
  for (const Interval& bound : query.bounds) {
    if (!(-kMost <= bound.low && bound.low <= bound.high && bound.high <= kMost)) {
      return absl::InvalidArgumentError(fmt::format(
          "an interval from {} to {}: the grid holds values up to {}", bound.low, bound.high, kMost));
    }
  }
  return absl::OkStatus();
}

// Sums and roots of a few hundred doubles are right to far better than this.
constexpr double kRoundingSlack = 1 + 1e-12;

absl::Status CheckSize(const MeanQuery& query, const std::vector<std::int64_t>& units) {
  if (units.size() == query.bounds.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a report has {} coordinates, the plan has {}", units.size(), query.bounds.size()));
}

void AddNoise(std::uint64_t stddev, Sampler sampler, NoiseGen& noise, std::vector<std::int64_t>& units) {
  if (stddev == 0) return;
  for (std::int64_t& unit : units) {
    unit += sampler == Sampler::kExact ? RoundedNormal(stddev, noise) : FastRoundedNormal(stddev, noise);
  }
}

}  // namespace

double GridMean::Sensitivity(const MeanQuery& query) {
  double squares = 0;
  for (const Interval& bound : query.bounds) {
    const double range = HighUnits(bound) - LowUnits(bound);
    squares += range * range;
  }
  return std::sqrt(squares) * kRoundingSlack;
}

absl::StatusOr<std::uint64_t> GridMean::NoiseUnits(double multiplier, const MeanQuery& query) {
  constexpr double kMost = 0x1p51;
  const double units = std::ceil(multiplier * Sensitivity(query) * kRoundingSlack);
  if (!(units <= kMost)) {
    return InvalidInput(
        {.message = fmt::format("the noise would have a standard deviation of {:.3g}", units * kUnit),
         .key = "privacy.epsilon",
         .accepted =
             fmt::format("a larger epsilon, or a smaller reward bound: noise up to {:.3g}", kMost * kUnit)});
  }
  return static_cast<std::uint64_t>(units);
}

absl::Status GridMean::AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                                  ReportSum& sum) const {
  const std::vector<std::int64_t>& units = Access::Open(report);
  BANDANA_RETURN_IF_ERROR(CheckSize(query, units));
  BANDANA_RETURN_IF_ERROR(CheckBounds(query));
  if (Access::Origin(report) == kServerNode) return absl::InvalidArgumentError("a report of nobody");
  if (sum.reports() == 0) {
    Access::Query(sum) = query;
    Access::Totals(sum).assign(units.size(), 0);
  } else if (Access::Query(sum) != query) {
    return absl::InvalidArgumentError("a report to another query than the sum's");
  } else if (Access::Origins(sum).contains(Access::Origin(report))) {
    return absl::InvalidArgumentError(
        fmt::format("a second report of client {}", Access::Origin(report).value));
  }
  std::vector<std::int64_t>& totals = Access::Totals(sum);
  const auto entry = [&](std::size_t i) {
    return entries == Entries::kClip ? ClipUnits(units[i], query.bounds[i]) : units[i];
  };
  for (std::size_t i = 0; i < units.size(); ++i) {  // all are looked at before one is added
    if (!(Magnitude(entry(i)) < kMostUnits && Magnitude(totals[i]) < kMostUnits)) {
      return absl::OutOfRangeError(fmt::format("the sum of reports overflows in coordinate {}", i));
    }
  }
  for (std::size_t i = 0; i < units.size(); ++i) totals[i] += entry(i);
  Access::Origins(sum).insert(Access::Origin(report));
  return absl::OkStatus();
}

const MeanQuery& GridMean::QueryOf(const ReportSum& sum) { return Access::Query(sum); }

absl::StatusOr<Report> GridMean::Average(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                         std::uint64_t stddev, Sampler sampler, NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(CheckBounds(query));
  const RewardSums sums = Access::Open(rewards);
  BANDANA_CHECK(sums.size() == query.bounds.size());
  std::vector<std::int64_t> units(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Interval& bound = query.bounds[i];
    double average = sums[i].sum / static_cast<double>(sums[i].count);
    if (std::isnan(average)) average = (bound.low + bound.high) / 2;
    units[i] = static_cast<std::int64_t>(std::nearbyint(std::clamp(average, bound.low, bound.high) / kUnit));
  }
  AddNoise(stddev, sampler, noise, units);
  return Access::MakeReport(std::move(units));
}

absl::StatusOr<Sealed> GridMean::NoisySum(const ReportSum& sum, std::uint64_t stddev, Sampler sampler,
                                          NoiseGen& noise) const {
  const Count wanted = Access::Query(sum).clients;
  if (sum.reports() == 0 || sum.reports() != wanted) {
    return absl::FailedPreconditionError(fmt::format(
        "{} of {} clients reported: nothing is released below the quorum", sum.reports(), wanted));
  }
  std::vector<std::int64_t> units = Access::Totals(sum);
  AddNoise(stddev, sampler, noise, units);
  return Access::Seal(std::move(units));
}

absl::StatusOr<Released<Mean>> GridMean::MintMean(const MeanQuery& query, const Sealed& sum,
                                                  double noise_stddev, Count draws) const {
  const std::vector<std::int64_t>& units = Access::Open(sum);
  BANDANA_RETURN_IF_ERROR(CheckSize(query, units));
  Mean mean{std::vector<double>(units.size())};
  for (std::size_t i = 0; i < units.size(); ++i) {
    mean.entries[i] = (static_cast<double>(units[i]) + static_cast<double>(draws) / 2) * kUnit /
                      static_cast<double>(query.clients);
  }
  return Access::Mint(std::move(mean), noise_stddev);
}

}  // namespace bandana
