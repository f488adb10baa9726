#include "bandana/privacy/grid_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

double LowUnits(const Interval& bound) { return std::floor(bound.low / GridMean::kUnit); }
double HighUnits(const Interval& bound) { return std::ceil(bound.high / GridMean::kUnit); }
double RangeUnits(const Interval& bound) { return HighUnits(bound) - LowUnits(bound); }

std::int64_t ClipUnits(std::int64_t units, const Interval& bound) {
  return std::clamp(units, static_cast<std::int64_t>(LowUnits(bound)),
                    static_cast<std::int64_t>(HighUnits(bound)));
}

// Products and roots of doubles are right to far better than this.
constexpr double kRoundingSlack = 1 + 1e-12;

// And a sum of this many, all positive.
double SumSlack(const MeanQuery& query) {
  return kRoundingSlack + 0x1p-52 * static_cast<double>(query.bounds.size());
}

}  // namespace

absl::Status CheckQuery(const MeanQuery& query) {
  constexpr double kMost = 0x1p20;
  constexpr double kMostSum = 0x1p61 * GridMean::kUnit;  // with room for noise
  const auto clients = static_cast<double>(query.clients);
  for (const Interval& bound : query.bounds) {
    if (!(-kMost <= bound.low && bound.low <= bound.high && bound.high <= kMost)) {
      return absl::InvalidArgumentError(fmt::format(
          "an interval from {} to {}: the grid holds values up to {}", bound.low, bound.high, kMost));
    }
    if (!(clients * std::max(-bound.low, bound.high) < kMostSum)) {
      return absl::InvalidArgumentError(
          fmt::format("an interval from {} to {}, of {} clients: the grid holds sums up to {}", bound.low,
                      bound.high, query.clients, kMostSum));
    }
  }
  return absl::OkStatus();
}

double ClippedAverage(const RewardSum& rewards, const Interval& bound) {
  const double average = rewards.sum / static_cast<double>(rewards.count);
  if (std::isnan(average)) return (bound.low + bound.high) / 2;
  return std::clamp(average, bound.low, bound.high);
}

double GridMean::Sensitivity(const MeanQuery& query) {
  double squares = 0;
  for (const Interval& bound : query.bounds) squares += RangeUnits(bound) * RangeUnits(bound);
  return std::sqrt(squares) * SumSlack(query);
}

double GridMean::SensitivityL1(const MeanQuery& query) {
  double sum = 0;
  for (const Interval& bound : query.bounds) sum += RangeUnits(bound);
  return sum * SumSlack(query);
}

absl::StatusOr<std::uint64_t> GridMean::NoiseUnits(double multiplier, double sensitivity) {
  constexpr double kMost = 0x1p51;
  const double units = std::ceil(multiplier * sensitivity * kRoundingSlack);
  if (!(units <= kMost)) {
    return InvalidInput(
        {.message = fmt::format("the noise would have a standard deviation of {:.3g}", units * kUnit),
         .key = "privacy.epsilon",
         .accepted =
             fmt::format("a larger epsilon, or a smaller reward bound: noise up to {:.3g}", kMost * kUnit)});
  }
  return static_cast<std::uint64_t>(units);
}

absl::StatusOr<Mechanism::Units> GridMean::Average(const MeanQuery& query,
                                                   const Raw<RewardSums>& rewards) const {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  const RewardSums sums = Reveal(rewards);
  BANDANA_CHECK(sums.size() == query.bounds.size());
  Units units(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    units[i] = static_cast<std::int64_t>(std::nearbyint(ClippedAverage(sums[i], query.bounds[i]) / kUnit));
  }
  return units;
}

absl::Status GridMean::AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                                  ReportSum& sum) const {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  const auto entry = [&](std::size_t i, std::int64_t units) {
    return entries == Entries::kClip ? ClipUnits(units, query.bounds[i]) : units;
  };
  return AddReport(query, query.bounds.size(), report, entry, sum);
}

absl::StatusOr<Released<Mean>> GridMean::MintMean(const MeanQuery& query, const Sealed& sum,
                                                  const NoiseLaw& law, double noise_mean) const {
  const Units& units = UnitsOf(sum);
  BANDANA_RETURN_IF_ERROR(CheckSize(query.bounds.size(), units));
  const double clients = static_cast<double>(query.clients);
  Mean mean{std::vector<double>(units.size())};
  for (std::size_t i = 0; i < units.size(); ++i) {
    mean.entries[i] = (static_cast<double>(units[i]) - noise_mean) * kUnit / clients;
  }
  const NoiseLaw scaled{.proxy = law.proxy * kUnit / clients,
                        .laplace_scale = law.laplace_scale * kUnit / clients,
                        .laplace_terms = law.laplace_terms,
                        .normal = law.normal};
  return Mint(std::move(mean), std::vector<NoiseLaw>(units.size(), scaled));
}

}  // namespace bandana
