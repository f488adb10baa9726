#include "bandana/privacy/silo_prefix_sum.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "bandana/privacy/shortened.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using Wide = __int128;

constexpr int kWeightBits = 60;            // a Toeplitz weight is at most 1
constexpr double kMostUnits = 0x1p60;      // of all increments together: times a weight below 2^127
constexpr double kMostStepUnits = 0x1p52;  // of one: doubles add whole numbers of that size exactly
constexpr double kRoundingSlack = 1 + 1e-12;

// A shortened record may be longer than the radius by this factor.
double LengthSlack(std::int64_t dimension) {
  return kRoundingSlack + 0x1p-51 * static_cast<double>(dimension);
}

// The least noise multiplier against the sensitivity that the grid leaves, or the paper's noise as it is.
struct Calibrated {
  double units;  // standard deviation
  DpGuarantee delivered;
};

absl::StatusOr<Calibrated> CalibrateUnits(const SiloPrefixSumParams& params, double sensitivity_units) {
  if (params.calibration == Calibration::kTight) {
    BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(params.nominal));
    return Calibrated{std::ceil(multiplier * sensitivity_units * kRoundingSlack), params.nominal};
  }
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumSetting paper,
                           PaperPrefixSum(params.steps, params.nominal, 2 * params.radius));
  const double units = std::ceil(paper.sigma / SiloPrefixSum::kUnit);
  const double epsilon = GaussianEpsilon(params.nominal.delta, units / (sensitivity_units * kRoundingSlack));
  return Calibrated{units, {epsilon, params.nominal.delta}};
}

}  // namespace

absl::StatusOr<SiloPrefixSum> SiloPrefixSum::Create(const SiloPrefixSumParams& params) {
  if (!(params.dimension >= 1 && params.dimension <= (1 << 20))) {
    return InvalidOption("dimension", static_cast<double>(params.dimension), "a whole number from 1 to 2^20");
  }
  if (!(params.radius >= kUnit && params.radius <= 0x1p14)) {
    return InvalidOption("radius", params.radius, "a number in [2^-30, 2^14]: the grid's unit is 2^-30");
  }
  if (params.calibration == Calibration::kPaper && params.mechanism != PrefixSumMechanism::kTree) {
    return InvalidOption("prefix_sum", std::string(NameOf(params.mechanism)),
                         "tree: the paper's calibration has no other");
  }
  const bool toeplitz = params.mechanism == PrefixSumMechanism::kToeplitz;
  if (toeplitz && params.steps > (1 << 20)) {
    return InvalidOption("steps", static_cast<double>(params.steps), "at most 2^20 for toeplitz");
  }
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumCost cost, CostOfPrefixSum(params.mechanism, params.steps));
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const PrefixSumStrategy> strategy,
                           PrefixSumStrategy::Create(params.mechanism, params.steps));
  // A record is rounded to the grid, which moves it by half a unit a coordinate. The tree then adds whole
  // units; a Toeplitz value is rounded once more.
  const double rounding = std::sqrt(static_cast<double>(params.dimension)) * kUnit;
  BANDANA_ASSIGN_OR_RETURN(
      const double sensitivity,
      PrefixSumGridSensitivity(cost, (2 * params.radius + rounding) * LengthSlack(params.dimension), kUnit,
                               params.dimension, toeplitz ? 0.5 : 0));
  BANDANA_ASSIGN_OR_RETURN(const Calibrated noise, CalibrateUnits(params, sensitivity));
  if (!(noise.units < 0x1p51)) {
    return InvalidOption("privacy.epsilon", params.nominal.epsilon,
                         "a larger one: the noise is beyond the grid");
  }
  std::vector<std::int64_t> weights;
  long double weight = 1;  // after 2^20 products still right to 1e-13, and rounded down
  for (std::int64_t k = 0; toeplitz && k < params.steps; ++k) {
    if (k > 0) weight *= static_cast<long double>(2 * k - 1) / static_cast<long double>(2 * k);
    weights.push_back(static_cast<std::int64_t>(std::floor(std::ldexp(weight, kWeightBits))));
  }
  return SiloPrefixSum(params, std::move(strategy), std::move(weights),
                       static_cast<std::uint64_t>(noise.units), noise.delivered);
}

std::vector<Claim> SiloPrefixSum::claims() const {
  return {{.adversary = "everyone but the silo itself, of whose data all releases of all steps are seen",
           .guarantee = delivered_,
           .unit = "one record of one silo",
           .neighbours = "replace-one",
           .proof = "docs/proofs/silo-prefix-sum.md"}};
}

std::size_t SiloPrefixSum::EntriesAt(std::int64_t step) const {
  return static_cast<std::size_t>((strategy_->ReleasedBy(step) - strategy_->ReleasedBy(step - 1)) *
                                  params_.dimension);
}

absl::Status SiloPrefixSum::CheckStep(const StepQuery& query) const {
  if (query.step >= 1 && query.step <= params_.steps) return absl::OkStatus();
  return absl::OutOfRangeError(
      fmt::format("step {} of a stream of {}: its noise was set for no more", query.step, params_.steps));
}

absl::StatusOr<Count> SiloPrefixSum::ReportBits(const StepQuery& query) const {
  BANDANA_RETURN_IF_ERROR(CheckStep(query));
  return static_cast<Count>(64 * EntriesAt(query.step));
}

absl::Status SiloPrefixSum::CheckOwner(const SiloStream& stream) const {
  if (stream.owner_ == strategy_) return absl::OkStatus();
  return absl::FailedPreconditionError("a stream of another mechanism, whose noise was set for other data");
}

// Errors depend on how many records there are, which is public, and on their size, never on their values.
absl::Status SiloPrefixSum::Append(const Raw<StepRecords>& records, SiloStream& stream) const {
  if (stream.owner_ == nullptr) stream.owner_ = strategy_;
  BANDANA_RETURN_IF_ERROR(CheckOwner(stream));
  BANDANA_RETURN_IF_ERROR(CheckStep({.step = stream.steps() + 1, .silos = 1}));
  const StepRecords step = Reveal(records);
  const double longest = params_.radius / kUnit * LengthSlack(params_.dimension) + 1;
  if (!(static_cast<double>(step.size()) * longest < kMostStepUnits &&
        (static_cast<double>(stream.records_) + static_cast<double>(step.size())) * longest < kMostUnits)) {
    return absl::OutOfRangeError("more records than the grid holds");
  }
  const auto dimension = static_cast<std::size_t>(params_.dimension);
  std::vector<double> increment(dimension, 0);
  for (const std::vector<double>& record : step) {
    if (record.size() != dimension) {
      return absl::InvalidArgumentError(
          fmt::format("a record has {} entries, the mechanism {}", record.size(), dimension));
    }
    const std::vector<double> shortened = Shortened(record, params_.radius);
    for (std::size_t i = 0; i < dimension; ++i) {
      increment[i] += std::nearbyint(shortened[i] * (params_.radius / kUnit));
    }
  }
  stream.increments_.emplace_back(increment.begin(), increment.end());
  stream.records_ += static_cast<std::int64_t>(step.size());
  return absl::OkStatus();
}

absl::StatusOr<Report> SiloPrefixSum::Randomize(const StepQuery& query, const Raw<SiloStream*>& stream,
                                                NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(CheckStep(query));
  SiloStream& data = *Reveal(stream);
  BANDANA_RETURN_IF_ERROR(CheckOwner(data));
  if (data.steps() != query.step || data.released_ + 1 != query.step) {
    return absl::FailedPreconditionError(fmt::format(
        "step {} is asked; the stream has {} and {} are released", query.step, data.steps(), data.released_));
  }
  data.released_ = query.step;
  const auto dimension = static_cast<std::size_t>(params_.dimension);
  const std::size_t values = EntriesAt(query.step) / dimension;
  Units units(values * dimension);
  for (std::size_t j = 0; j < values; ++j) {
    std::vector<Wide> value(dimension, 0);
    if (weights_.empty()) {  // a tree: weights are 1
      for (const WeightedTerm& term : strategy_->Functional(query.step, static_cast<std::int64_t>(j))) {
        const auto& increment = data.increments_[static_cast<std::size_t>(term.index - 1)];
        for (std::size_t i = 0; i < dimension; ++i) value[i] += increment[i];
      }
    } else {
      for (std::size_t at = 0; at < data.increments_.size(); ++at) {
        const Wide weight = weights_[data.increments_.size() - 1 - at];
        for (std::size_t i = 0; i < dimension; ++i) value[i] += weight * data.increments_[at][i];
      }
      for (Wide& x : value) x = (x + (Wide{1} << (kWeightBits - 1))) >> kWeightBits;
    }
    for (std::size_t i = 0; i < dimension; ++i) {
      units[j * dimension + i] =
          static_cast<std::int64_t>(value[i]) + (params_.sampler == Sampler::kExact
                                                     ? RoundedNormal(noise_units_, noise)
                                                     : FastRoundedNormal(noise_units_, noise));
    }
  }
  return MakeReport(std::move(units), static_cast<Count>(64 * values * dimension));
}

absl::Status SiloPrefixSum::Add(const StepQuery& query, const Report& report,
                                BasicReportSum<StepQuery>& sum) const {
  BANDANA_RETURN_IF_ERROR(CheckStep(query));
  return AddReport(
      query, EntriesAt(query.step), report, [](std::size_t, std::int64_t units) { return units; }, sum);
}

absl::StatusOr<Sealed> SiloPrefixSum::Seal(const BasicReportSum<StepQuery>& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).silos, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<StepValues>> SiloPrefixSum::Open(const StepQuery& query, const Sealed& sealed) const {
  BANDANA_RETURN_IF_ERROR(CheckStep(query));
  const Units& units = UnitsOf(sealed);
  BANDANA_RETURN_IF_ERROR(CheckSize(EntriesAt(query.step), units));
  const auto dimension = static_cast<std::size_t>(params_.dimension);
  const auto silos = static_cast<double>(query.silos);
  StepValues values{.step = query.step, .values = {}};
  for (std::size_t at = 0; at < units.size(); at += dimension) {
    std::vector<double> value(dimension);
    for (std::size_t i = 0; i < dimension; ++i) {
      value[i] = (static_cast<double>(units[at + i]) + silos / 2) * kUnit;  // a draw has mean -1/2
    }
    values.values.push_back(std::move(value));
  }
  const NoiseLaw law{.proxy = static_cast<double>(noise_units_) * kUnit * std::sqrt(silos)};
  return Mint(std::move(values), std::vector<NoiseLaw>(units.size(), law));
}

absl::Status PrefixSumEstimator::Add(const Released<StepValues>& released) {
  if (released.value().step != step_ + 1) {
    return absl::InvalidArgumentError(fmt::format("step {} after step {}", released.value().step, step_));
  }
  ++step_;
  for (const NoiseLaw& law : released.noise()) proxy_ = std::max(proxy_, law.proxy);
  for (const std::vector<double>& value : released.value().values) values_.push_back(value);
  return absl::OkStatus();
}

PrefixSumEstimator::Estimate PrefixSumEstimator::Sum() const {
  BANDANA_CHECK(step_ >= 1);
  const PrefixSumStrategy& strategy = mechanism_->strategy();
  Estimate estimate{std::vector<double>(values_.front().size(), 0), {}};
  for (const WeightedTerm& term : strategy.Estimate(step_)) {
    const std::vector<double>& value = values_[static_cast<std::size_t>(term.index)];
    for (std::size_t i = 0; i < value.size(); ++i) estimate.sum[i] += term.weight * value[i];
  }
  estimate.noise.proxy = proxy_ * std::sqrt(strategy.Variance(step_));
  return estimate;
}

}  // namespace bandana
