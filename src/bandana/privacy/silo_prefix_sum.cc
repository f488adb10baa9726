#include "bandana/privacy/silo_prefix_sum.h"

#include <algorithm>
#include <bit>
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

constexpr int kWeightBits = 60;              // a Toeplitz weight is at most 1
constexpr double kMostPrefixUnits = 0x1p60;  // all increments together; times a weight it is below 2^127
constexpr double kPrefixSlack = 1 + 1e-12;
// The least noise in units, from which a sum of rounded normals is as good as one rounded normal
// (docs/proofs/shuffled-regression.md).
constexpr double kLeastShare = 0x1p10;

// A shortened record may exceed the radius by this factor.
double LengthSlack(std::int64_t dimension) { return kPrefixSlack + 0x1p-51 * static_cast<double>(dimension); }

// The noise: by the least multiplier for the sensitivity on the grid, or by the paper's formula.
struct Calibrated {
  double units;  // standard deviation
  DpGuarantee delivered;
};

absl::StatusOr<Calibrated> CalibrateUnits(const SiloPrefixSumParams& params, double sensitivity_units,
                                          double paper_distance) {
  if (params.calibration == Calibration::kTight) {
    BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(params.nominal));
    return Calibrated{std::ceil(multiplier * sensitivity_units * kPrefixSlack), params.nominal};
  }
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumSetting paper,
                           PaperPrefixSum(params.steps, params.nominal, paper_distance));
  const double units = std::ceil(paper.sigma / SiloPrefixSum::kUnit);
  const double epsilon = GaussianEpsilon(params.nominal.delta, units / (sensitivity_units * kPrefixSlack));
  return Calibrated{units, {epsilon, params.nominal.delta}};
}

void AddTo(const std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Returns the entry at `place`. The list grows if necessary.
template <class T>
T& At(std::vector<T>& list, int place) {
  if (list.size() <= static_cast<std::size_t>(place)) list.resize(static_cast<std::size_t>(place) + 1);
  return list[static_cast<std::size_t>(place)];
}

int TrailingZeros(std::int64_t step) { return std::countr_zero(static_cast<std::uint64_t>(step)); }

}  // namespace

bool SiloStream::Fits(const PrefixSumStrategy& strategy, std::size_t dimension) const {
  const auto is_node = [&](const Units& node) {
    return node.size() == dimension && std::all_of(node.begin(), node.end(), [](std::int64_t units) {
             return std::abs(static_cast<double>(units)) <= kMostPrefixUnits;
           });
  };
  const auto are_nodes = [&](const std::vector<Units>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), is_node);
  };
  if (!(steps_ >= 0 && steps_ <= strategy.steps() && records_ >= 0)) return false;
  if (!(released_ >= 0 && released_ <= steps_)) return false;
  if (strategy.mechanism() == PrefixSumMechanism::kToeplitz) {
    return waiting_.empty() && latest_.empty() && are_nodes(increments_) &&
           static_cast<std::int64_t>(increments_.size()) == steps_;
  }
  const std::size_t completed = steps_ == 0 ? 0 : static_cast<std::size_t>(TrailingZeros(steps_)) + 1;
  const auto heights = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(steps_)));
  if (!(increments_.empty() && latest_.size() == completed && waiting_.size() == heights)) return false;
  return are_nodes(latest_) && are_nodes(waiting_);
}

absl::StatusOr<SiloPrefixSum> SiloPrefixSum::Create(const SiloPrefixSumParams& params) {
  if (!(params.radius >= kUnit && params.radius <= 0x1p14)) {
    return InvalidOption("radius", params.radius, "a number in [2^-30, 2^14]: the grid's unit is 2^-30");
  }
  const RecordBounds records{
      .distance = 2 * params.radius, .length = params.radius, .paper_distance = 2 * params.radius};
  return CreateFor(params, records, 1);
}

absl::StatusOr<SiloPrefixSum> SiloPrefixSum::CreateFor(const SiloPrefixSumParams& params,
                                                       const RecordBounds& records, double share) {
  if (!(params.dimension >= 1 && params.dimension <= (1 << 20))) {
    return InvalidOption("dimension", static_cast<double>(params.dimension), "a whole number from 1 to 2^20");
  }
  if (!(params.records_per_person >= 1 && params.records_per_person <= (1 << 20))) {
    return InvalidField(Part::kPrivacy, "records_per_person", static_cast<double>(params.records_per_person),
                        "a whole number from 1 to 2^20");
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
  // A record is rounded to the grid, which moves each coordinate by at most half a unit. The tree then adds
  // whole units; a Toeplitz value is rounded once more.
  const double rounding = std::sqrt(static_cast<double>(params.dimension)) * kUnit;
  BANDANA_ASSIGN_OR_RETURN(
      double sensitivity,
      PrefixSumGridSensitivity(cost, (records.distance + rounding) * LengthSlack(params.dimension), kUnit,
                               params.dimension, toeplitz ? 0.5 : 0));
  // However a person's records are spread over steps, and over silos with noise of their own, together they
  // move the releases by at most the sum of what each moves (docs/proofs/silo-prefix-sum.md).
  sensitivity *= static_cast<double>(params.records_per_person);
  Calibrated calibrated{0, {0, 0}};
  if (share > 0) {
    BANDANA_ASSIGN_OR_RETURN(calibrated, CalibrateUnits(params, sensitivity, records.paper_distance));
  }
  DpGuarantee alone = calibrated.delivered;
  if (share > 0 && share < 1) {
    calibrated.units = std::ceil(std::max(calibrated.units * share * kPrefixSlack, kLeastShare));
    alone.epsilon = GaussianEpsilon(alone.delta, calibrated.units / (sensitivity * kPrefixSlack));
  }
  if (!(calibrated.units < 0x1p51)) {
    return InvalidField(Part::kPrivacy, "epsilon", params.nominal.epsilon,
                        "a larger one: the noise is beyond the grid");
  }
  std::vector<std::int64_t> weights;
  long double weight = 1;  // rounded down below; after 2^20 products its relative error is still 1e-13
  for (std::int64_t k = 0; toeplitz && k < params.steps; ++k) {
    if (k > 0) weight *= static_cast<long double>(2 * k - 1) / static_cast<long double>(2 * k);
    weights.push_back(static_cast<std::int64_t>(std::floor(std::ldexp(weight, kWeightBits))));
  }
  const double longest_units = records.length / kUnit * LengthSlack(params.dimension) + 1;
  return SiloPrefixSum(params, std::move(strategy), std::move(weights), longest_units,
                       static_cast<std::uint64_t>(calibrated.units), calibrated.delivered, alone);
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
      fmt::format("step {} does not exist: the noise was set for {} steps", query.step, params_.steps));
}

absl::StatusOr<Count> SiloPrefixSum::ReportBits(const StepQuery& query) const {
  BANDANA_RETURN_IF_ERROR(CheckStep(query));
  return static_cast<Count>(64 * EntriesAt(query.step));
}

absl::Status SiloPrefixSum::CheckOwner(const SiloStream& stream) const {
  if (stream.owner_ == strategy_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the stream belongs to another mechanism, whose noise was set for other data");
}

// Errors depend on the number of records, which is public, and on their size, never on their values.
absl::Status SiloPrefixSum::CheckRecords(std::int64_t records, const SiloStream& stream) const {
  const double all = static_cast<double>(stream.records_) + static_cast<double>(records);
  if (all * longest_units_ < kMostPrefixUnits) return absl::OkStatus();
  return absl::OutOfRangeError("the step has more records than the grid can hold");
}

absl::Status SiloPrefixSum::Append(const Raw<StepRecords>& records, SiloStream& stream) const {
  const StepRecords step = Reveal(records);
  const auto count = static_cast<std::int64_t>(step.size());
  BANDANA_RETURN_IF_ERROR(CheckRecords(count, stream));
  const auto dimension = static_cast<std::size_t>(params_.dimension);
  Units increment(dimension, 0);
  for (const std::vector<double>& record : step) {
    if (record.size() != dimension) {
      return absl::InvalidArgumentError(
          fmt::format("a record has {} entries, but the mechanism takes {}", record.size(), dimension));
    }
    const std::vector<double> shortened = Shortened(record, params_.radius);
    for (std::size_t i = 0; i < dimension; ++i) {
      increment[i] += static_cast<std::int64_t>(std::nearbyint(shortened[i] * (params_.radius / kUnit)));
    }
  }
  return AppendUnits(std::move(increment), count, stream);
}

absl::Status SiloPrefixSum::AppendUnits(Units node, std::int64_t records, SiloStream& stream) const {
  if (stream.owner_ == nullptr) stream.owner_ = strategy_;
  BANDANA_RETURN_IF_ERROR(CheckOwner(stream));
  BANDANA_RETURN_IF_ERROR(CheckStep({.step = stream.steps_ + 1, .silos = 1}));
  BANDANA_RETURN_IF_ERROR(CheckRecords(records, stream));
  stream.records_ += records;
  ++stream.steps_;
  if (!weights_.empty()) {
    stream.increments_.push_back(std::move(node));
    return absl::OkStatus();
  }
  // The left half of a node has waited for its right half, which ends at this step.
  const int top = TrailingZeros(stream.steps_);
  stream.latest_.clear();
  for (int height = 0; height < top; ++height) {
    stream.latest_.push_back(node);
    AddTo(At(stream.waiting_, height), node);
  }
  stream.latest_.push_back(node);
  At(stream.waiting_, top) = std::move(node);
  return absl::OkStatus();
}

absl::StatusOr<SiloPrefixSum::Units> SiloPrefixSum::Take(const StepQuery& query, SiloStream& stream) const {
  BANDANA_RETURN_IF_ERROR(CheckStep(query));
  BANDANA_RETURN_IF_ERROR(CheckOwner(stream));
  if (stream.steps_ != query.step || stream.released_ + 1 != query.step) {
    return absl::FailedPreconditionError(
        fmt::format("step {} cannot be released: the stream has {} steps, of which {} are released",
                    query.step, stream.steps_, stream.released_));
  }
  stream.released_ = query.step;
  Units units;
  units.reserve(EntriesAt(query.step));
  if (weights_.empty()) {
    for (const Units& node : stream.latest_) units.insert(units.end(), node.begin(), node.end());
    return units;
  }
  std::vector<Wide> value(static_cast<std::size_t>(params_.dimension), 0);
  for (std::size_t at = 0; at < stream.increments_.size(); ++at) {
    const Wide weight = weights_[stream.increments_.size() - 1 - at];
    for (std::size_t i = 0; i < value.size(); ++i) value[i] += weight * stream.increments_[at][i];
  }
  for (const Wide x : value) {
    units.push_back(static_cast<std::int64_t>((x + (Wide{1} << (kWeightBits - 1))) >> kWeightBits));
  }
  return units;
}

absl::StatusOr<Report> SiloPrefixSum::Randomize(const StepQuery& query, SiloStream& stream,
                                                NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(Units units, Take(query, stream));
  if (noise_units_ > 0) {
    for (std::int64_t& each : units) {
      each += params_.sampler == Sampler::kExact ? RoundedNormal(noise_units_, noise)
                                                 : FastRoundedNormal(noise_units_, noise);
    }
  }
  const auto bits = static_cast<Count>(64 * units.size());
  return MakeReport(std::move(units), bits);
}

absl::StatusOr<Report> SiloPrefixSum::Randomize(const StepQuery& query, const Raw<SiloStream*>& stream,
                                                NoiseGen& noise) const {
  if (query.group != 0 || query.payer != 0) {  // other groups are not charged
    return absl::InvalidArgumentError(fmt::format(
        "a stream of vectors has only group 0 and no payer, but the query names group {} and payer {}",
        query.group, query.payer));
  }
  return Randomize(query, *Reveal(stream), noise);
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
  const double mean = noise_units_ > 0 ? -silos / 2 : 0;  // a draw has the mean -1/2
  StepValues values{.step = query.step, .values = {}};
  for (std::size_t at = 0; at < units.size(); at += dimension) {
    std::vector<double> value(dimension);
    for (std::size_t i = 0; i < dimension; ++i) {
      value[i] = (static_cast<double>(units[at + i]) - mean) * kUnit;
    }
    values.values.push_back(std::move(value));
  }
  const NoiseLaw law{.proxy = static_cast<double>(noise_units_) * kUnit * std::sqrt(silos)};
  return Mint(std::move(values), std::vector<NoiseLaw>(units.size(), law));
}

absl::Status PrefixSumEstimator::Add(const Released<StepValues>& released) {
  if (released.value().step != step_ + 1) {
    return absl::InvalidArgumentError(
        fmt::format("step {} cannot follow step {}", released.value().step, step_));
  }
  ++step_;
  for (const NoiseLaw& law : released.noise()) proxy_ = std::max(proxy_, law.proxy);
  if (mechanism_->strategy().mechanism() == PrefixSumMechanism::kToeplitz) {
    values_.push_back(released.value().values.front());
    return absl::OkStatus();
  }
  // Computes the best estimate of a node, of variance v, from its own value and the estimates of its two
  // halves. That of the left half has waited; that of the right half is the node one height below. The tree
  // mechanism uses the value alone.
  std::vector<double> node;
  int height = 0;
  for (const std::vector<double>& value : released.value().values) {
    const double v = mechanism_->strategy().Variance(std::int64_t{1} << height);
    if (height == 0) {
      node = value;
    } else {
      const std::vector<double>& left = At(values_, height - 1);
      for (std::size_t i = 0; i < node.size(); ++i) {
        node[i] = v == 1 ? value[i] : v * value[i] + (1 - v) * (left[i] + node[i]);
      }
    }
    ++height;
  }
  At(values_, TrailingZeros(step_)) = std::move(node);
  return absl::OkStatus();
}

bool PrefixSumEstimator::Fits() const {
  const PrefixSumStrategy& strategy = mechanism_->strategy();
  if (!(step_ >= 0 && step_ <= strategy.steps())) return false;
  const bool toeplitz = strategy.mechanism() == PrefixSumMechanism::kToeplitz;
  const auto values =
      static_cast<std::size_t>(toeplitz ? step_ : std::bit_width(static_cast<std::uint64_t>(step_)));
  const auto dimension = static_cast<std::size_t>(mechanism_->params().dimension);
  return values_.size() == values &&
         std::all_of(values_.begin(), values_.end(),
                     [&](const std::vector<double>& value) { return value.size() == dimension; });
}

PrefixSumEstimator::Estimate PrefixSumEstimator::Sum() const {
  BANDANA_CHECK(step_ >= 1);
  const PrefixSumStrategy& strategy = mechanism_->strategy();
  Estimate estimate{std::vector<double>(static_cast<std::size_t>(mechanism_->params().dimension), 0), {}};
  const auto add = [&](double weight, const std::vector<double>& value) {
    for (std::size_t i = 0; i < value.size(); ++i) estimate.sum[i] += weight * value[i];
  };
  if (strategy.mechanism() == PrefixSumMechanism::kToeplitz) {
    for (const WeightedTerm& term : strategy.Estimate(step_)) {
      add(term.weight, values_[static_cast<std::size_t>(term.index)]);
    }
  } else {
    for (std::size_t height = values_.size(); height-- > 0;) {
      if ((step_ >> height & 1) != 0) add(1, values_[height]);
    }
  }
  estimate.noise.proxy = proxy_ * std::sqrt(strategy.Variance(step_));
  return estimate;
}

}  // namespace bandana
