#include "bandana/privacy/grid_mean.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

double LowUnits(const Interval& bound) { return std::floor(bound.low / GridMean::kUnit); }
double HighUnits(const Interval& bound) { return std::ceil(bound.high / GridMean::kUnit); }
double RangeUnits(const Interval& bound) { return HighUnits(bound) - LowUnits(bound); }

std::int64_t ClipUnits(std::int64_t units, const Interval& bound, Count clients) {
  return std::clamp(units, clients * static_cast<std::int64_t>(LowUnits(bound)),
                    clients * static_cast<std::int64_t>(HighUnits(bound)));
}

// The relative rounding error of products and roots of doubles is far below 1e-12.
constexpr double kRoundingSlack = 1 + 1e-12;

// Covers also the rounding of a sum of bounds.size() positive terms.
double SumSlack(const MeanQuery& query) {
  return kRoundingSlack + 0x1p-52 * static_cast<double>(query.bounds.size());
}

absl::Status CheckBound(const Interval& bound, Count clients) {
  constexpr double kMost = 0x1p20;
  constexpr double kMostSum = 0x1p61 * GridMean::kUnit;  // with room for noise
  if (!(-kMost <= bound.low && bound.low <= bound.high && bound.high <= kMost)) {
    return absl::InvalidArgumentError(
        fmt::format("the interval from {} to {} is too large: the grid holds values up to {}", bound.low,
                    bound.high, kMost));
  }
  if (!(static_cast<double>(clients) * std::max(-bound.low, bound.high) < kMostSum)) {
    return absl::InvalidArgumentError(
        fmt::format("the interval from {} to {} is too large for {} clients: the grid holds sums up to {}",
                    bound.low, bound.high, clients, kMostSum));
  }
  return absl::OkStatus();
}

// Returns the radius of a mapped query's ball in grid units, with room for rounding: every vector in the ball
// of the query's radius is rounded to one inside.
double RadiusUnits(const MeanQuery& query) {
  return std::ceil(query.map.radius / GridMean::kUnit + std::sqrt(static_cast<double>(query.size())) / 2);
}

// Scales integers into the ball. Vectors that are inside already stay as they are.
std::vector<std::int64_t> IntoBall(const std::vector<double>& whole, double radius) {
  double squares = 0;
  for (const double entry : whole) squares += entry * entry;
  const double norm = std::sqrt(squares);
  const double shrink = norm > radius ? radius / norm : 1;
  std::vector<std::int64_t> units(whole.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i] = static_cast<std::int64_t>(std::trunc(whole[i] * shrink));
  }
  return units;
}

absl::Status CheckMap(const MeanQuery& query) {
  constexpr double kMost = 0x1p20;
  if (!query.dealt.empty()) return absl::InvalidArgumentError("a dealt query cannot have a map");
  const std::size_t columns = query.bounds.size();
  const std::size_t entries = query.map.entries.size();
  if (columns == 0 || entries % columns != 0 || entries / columns > columns) {
    return absl::InvalidArgumentError(
        fmt::format("the map has {} entries for {} coordinates, but it must have one to {} rows", entries,
                    columns, columns));
  }
  for (const double entry : query.map.entries) {
    if (!(std::abs(entry) <= kMost)) {
      return absl::InvalidArgumentError(
          fmt::format("the map has the entry {}, but at most {} is accepted", entry, kMost));
    }
  }
  if (!(query.map.radius >= 0)) {
    return absl::InvalidArgumentError(
        fmt::format("the map has the radius {}, which must be finite and >= 0", query.map.radius));
  }
  return CheckBound({-query.map.radius, query.map.radius}, query.clients);
}

absl::Status CheckDealt(const MeanQuery& query) {
  if (query.dealt.size() != query.bounds.size()) {
    return absl::InvalidArgumentError(fmt::format("the query has {} coordinates, but it deals out {}",
                                                  query.bounds.size(), query.dealt.size()));
  }
  Count left = query.clients;
  for (const Count each : query.dealt) {
    if (!(each >= 1 && each <= left)) {
      return absl::InvalidArgumentError(
          fmt::format("a coordinate is dealt to {} clients, but {} have no coordinate yet", each, left));
    }
    left -= each;
  }
  if (left == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} of the {} clients have no coordinate", left, query.clients));
}

}  // namespace

absl::Status CheckQuery(const MeanQuery& query) {
  if (query.mapped()) BANDANA_RETURN_IF_ERROR(CheckMap(query));
  if (!query.dealt.empty()) BANDANA_RETURN_IF_ERROR(CheckDealt(query));
  for (std::size_t i = 0; i < query.bounds.size(); ++i) {
    BANDANA_RETURN_IF_ERROR(CheckBound(query.bounds[i], query.clients_of(i)));
  }
  return absl::OkStatus();
}

absl::Status CheckWhole(const MeanQuery& query) {
  if (query.dealt.empty()) return CheckQuery(query);
  return absl::InvalidArgumentError("a query that deals out its coordinates must be answered part by part");
}

absl::Status CheckPart(const MeanQuery& query, int part) {
  if (query.dealt.empty()) {
    return absl::InvalidArgumentError("this query has no parts: every client answers all coordinates");
  }
  BANDANA_RETURN_IF_ERROR(CheckDealt(query));
  if (!(part >= 0 && static_cast<std::size_t>(part) < query.dealt.size())) {
    return absl::InvalidArgumentError(
        fmt::format("part {} does not exist: the query has {} parts", part, query.dealt.size()));
  }
  const auto i = static_cast<std::size_t>(part);
  return CheckBound(query.bounds[i], query.dealt[i]);
}

absl::StatusOr<Count> GroupSize(const MeanQuery& query, int part, RewardSums group) {
  const Count most = query.dealt[static_cast<std::size_t>(part)];
  Count clients = 0;
  bool fits = true;
  for (const RewardSum& each : group) {
    fits = fits && each.count >= 0 && each.count <= most - clients;
    if (fits) clients += each.count;
  }
  if (fits && clients >= 1) return clients;
  return absl::InvalidArgumentError(
      fmt::format("a part is dealt to {0} clients, so a group of them must have from 1 to {0}", most));
}

double ClippedAverage(const RewardSum& rewards, const Interval& bound) {
  const double average = rewards.sum / static_cast<double>(rewards.count);
  if (std::isnan(average)) return (bound.low + bound.high) / 2;
  return std::clamp(average, bound.low, bound.high);
}

std::vector<double> MappedAverages(const MeanQuery& query, RewardSums sums) {
  std::vector<double> distances(sums.size());
  for (std::size_t j = 0; j < sums.size(); ++j) {
    const Interval& bound = query.bounds[j];
    distances[j] = ClippedAverage(sums[j], bound) - (bound.low + bound.high) / 2;
  }
  std::vector<double> mapped(query.size());
  const double* row = query.map.entries.data();
  for (double& entry : mapped) {
    entry = std::inner_product(distances.begin(), distances.end(), row, 0.0);
    row += distances.size();
  }
  return mapped;
}

double GridMean::Sensitivity(const MeanQuery& query, int part) {
  if (part != Report::kWhole) return RangeUnits(query.bounds[static_cast<std::size_t>(part)]);
  if (query.mapped()) return 2 * RadiusUnits(query) * SumSlack(query);
  double squares = 0;
  for (const Interval& bound : query.bounds) squares += RangeUnits(bound) * RangeUnits(bound);
  return std::sqrt(squares) * SumSlack(query);
}

double GridMean::SensitivityL1(const MeanQuery& query, int part) {
  if (part != Report::kWhole) return RangeUnits(query.bounds[static_cast<std::size_t>(part)]);
  if (query.mapped())
    return Sensitivity(query) * std::sqrt(static_cast<double>(query.size())) * kRoundingSlack;
  double sum = 0;
  for (const Interval& bound : query.bounds) sum += RangeUnits(bound);
  return sum * SumSlack(query);
}

absl::StatusOr<std::uint64_t> GridMean::NoiseUnits(double multiplier, double sensitivity) {
  constexpr double kMost = 0x1p51;
  const double units = std::ceil(multiplier * sensitivity * kRoundingSlack);
  if (!(units <= kMost)) {
    return InvalidField(
        Part::kPrivacy,
        {.message = fmt::format("the noise would have a standard deviation of {:.3g}", units * kUnit),
         .key = "epsilon",
         .accepted =
             fmt::format("a larger epsilon, or a smaller reward bound: noise up to {:.3g}", kMost * kUnit)});
  }
  return static_cast<std::uint64_t>(units);
}

absl::Status GridMean::CheckNoiseSum(double stddev) {
  if (stddev <= 0x1p55) return absl::OkStatus();
  return absl::OutOfRangeError(fmt::format(
      "the noise of a sum has a standard deviation of {:.3g}, but the grid can hold at most {:.3g}",
      stddev * kUnit, 0x1p55 * kUnit));
}

absl::StatusOr<Mechanism::Units> GridMean::Average(const MeanQuery& query,
                                                   const Raw<RewardSums>& rewards) const {
  BANDANA_RETURN_IF_ERROR(CheckWhole(query));
  const RewardSums sums = Reveal(rewards);
  BANDANA_CHECK(sums.size() == query.bounds.size());
  if (query.mapped()) {
    std::vector<double> whole = MappedAverages(query, sums);
    for (double& entry : whole) entry = std::nearbyint(entry / kUnit);
    return IntoBall(whole, RadiusUnits(query));
  }
  Units units(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    units[i] = static_cast<std::int64_t>(std::nearbyint(ClippedAverage(sums[i], query.bounds[i]) / kUnit));
  }
  return units;
}

absl::StatusOr<std::int64_t> GridMean::PartOf(const MeanQuery& query, int part,
                                              const Raw<RewardSums>& one) const {
  BANDANA_RETURN_IF_ERROR(CheckPart(query, part));
  const RewardSums sums = Reveal(one);
  BANDANA_CHECK(sums.size() == 1);
  const Interval& bound = query.bounds[static_cast<std::size_t>(part)];
  return static_cast<std::int64_t>(std::nearbyint(ClippedAverage(sums[0], bound) / kUnit));
}

absl::StatusOr<GridMean::GroupSum> GridMean::GroupOf(const MeanQuery& query, int part,
                                                     const Raw<RewardSums>& group) const {
  BANDANA_RETURN_IF_ERROR(CheckPart(query, part));
  const RewardSums sums = Reveal(group);
  BANDANA_ASSIGN_OR_RETURN(const Count clients, GroupSize(query, part, sums));
  const Interval& bound = query.bounds[static_cast<std::size_t>(part)];
  std::int64_t units = 0;
  for (const RewardSum& each : sums) {
    if (each.count == 0) continue;
    const auto count = static_cast<double>(each.count);
    const double sum = std::isnan(each.sum) ? count * ((bound.low + bound.high) / 2)
                                            : std::clamp(each.sum, count * bound.low, count * bound.high);
    units += static_cast<std::int64_t>(std::nearbyint(sum / kUnit));
  }
  return GroupSum{clients, units};
}

absl::Status GridMean::AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                                  ReportSum& sum) const {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  if (query.mapped() && entries == Entries::kClip) {
    const Units& sent = UnitsOf(report);
    const Units inside = IntoBall(std::vector<double>(sent.begin(), sent.end()), RadiusUnits(query));
    return AddReport(
        query, query.size(), report, [&](std::size_t i, std::int64_t) { return inside[i]; }, sum);
  }
  const auto entry = [&](std::size_t i, std::int64_t units) {
    return entries == Entries::kClip ? ClipUnits(units, query.bounds[i], report.clients()) : units;
  };
  return AddReport(query, query.size(), report, entry, sum);
}

std::vector<NoiseLaw> GridMean::LawsOf(const MeanQuery& query,
                                       absl::FunctionRef<EntryNoise(std::size_t i)> noise) {
  std::vector<NoiseLaw> laws;
  for (std::size_t i = 0; i < query.size(); ++i) {
    NoiseLaw law = noise(i).law;
    law.proxy *= kUnit / static_cast<double>(query.clients_of(i));
    law.laplace_scale *= kUnit / static_cast<double>(query.clients_of(i));
    laws.push_back(law);
  }
  return laws;
}

absl::StatusOr<Released<Mean>> GridMean::MintMean(const MeanQuery& query, const Sealed& sum,
                                                  absl::FunctionRef<EntryNoise(std::size_t i)> noise) const {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  const Units& units = UnitsOf(sum);
  BANDANA_RETURN_IF_ERROR(CheckSize(query.size(), units));
  Mean mean{std::vector<double>(units.size())};
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto clients = static_cast<double>(query.clients_of(i));
    mean.entries[i] = (static_cast<double>(units[i]) - noise(i).mean) * kUnit / clients;
  }
  return Mint(std::move(mean), LawsOf(query, noise));
}

absl::StatusOr<std::vector<std::uint64_t>> GridMean::ScalesOf(
    const MeanQuery& query, absl::FunctionRef<absl::StatusOr<std::uint64_t>(int part)> scale) {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  std::vector<std::uint64_t> scales;
  if (query.dealt.empty()) {
    BANDANA_ASSIGN_OR_RETURN(const std::uint64_t all, scale(Report::kWhole));
    scales.assign(query.size(), all);
  }
  for (std::size_t i = 0; i < query.dealt.size(); ++i) {
    BANDANA_ASSIGN_OR_RETURN(const std::uint64_t each, scale(static_cast<int>(i)));
    scales.push_back(each);
  }
  return scales;
}

}  // namespace bandana
