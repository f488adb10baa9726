#include "bandana/privacy/regression_prefix_sum.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/calibration/sensitivity.h"
#include "bandana/privacy/shortened.h"

namespace bandana {
namespace {

constexpr double kPerUnit = 1 / SiloPrefixSum::kUnit;
constexpr double kMostDoubleUnits = 0x1p52;  // doubles add integers of that size exactly

// Returns the nearest integer, ties to even, for |x| < 2^51. It is twice as fast as nearbyint.
inline double Nearest(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

// A released vector holds, for each i, the products x_i x_j, j < i, and x_i^2/sqrt2; then w y x.
std::int64_t EntriesOf(Count dimension) { return dimension * (dimension + 1) / 2 + dimension; }

absl::Status CheckSpace(const RegressionSpace& space) {
  if (!(space.dimension >= 1 && space.dimension <= 1024)) {
    return InvalidOption("dimension", static_cast<double>(space.dimension), "a whole number from 1 to 1024");
  }
  constexpr char kWhat[] = "a number in [2^-15, 2^7]: the grid's unit is 2^-30";
  const auto fits = [](double x) { return x >= 0x1p-15 && x <= 0x1p7; };
  if (!fits(space.context_norm)) return InvalidOption("context_norm", space.context_norm, kWhat);
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("reward_bound", space.reward_bound));
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("reward_weight", space.reward_weight));
  const double weighted = space.reward_bound * space.reward_weight;
  if (!fits(weighted)) {
    return InvalidOption("reward_weight", space.reward_weight,
                         "one whose product with reward_bound is a number in [2^-15, 2^7]");
  }
  return absl::OkStatus();
}

}  // namespace

RegressionStream::RegressionStream(const RegressionPrefixSum& mechanism, RegressionStream* first)
    : owner_(mechanism.owner()),
      first_(first),
      open_(mechanism.entries(), 0),
      open_units_(mechanism.entries(), 0),
      context_(static_cast<std::size_t>(mechanism.space_.dimension), 0) {
  if (first_ != nullptr) first_->others_.push_back(this);
}

bool RegressionStream::paid() const {
  const RegressionStream& first = first_ == nullptr ? *this : *first_;
  return first.released() > 0 || std::any_of(first.others_.begin(), first.others_.end(),
                                             [](const auto* other) { return other->released() > 0; });
}

// A record has at most 2^44 units in an entry, so doubles hold at least 255 records.
RegressionPrefixSum::RegressionPrefixSum(const RegressionSpace& space, SiloPrefixSum sums, bool bare)
    : space_(space),
      sums_(std::move(sums)),
      bare_(bare),
      most_doubles_(static_cast<Count>(kMostDoubleUnits / sums_.longest_units_) - 1) {
  BANDANA_CHECK(most_doubles_ >= 1);
}

absl::StatusOr<RegressionPrefixSum> RegressionPrefixSum::Make(const RegressionParams& params, double share) {
  const RegressionSpace space = params.space();
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  const bool paper = params.calibration == Calibration::kPaper;
  if (paper && space.reward_weight != 1) {
    return InvalidOption("reward_weight", space.reward_weight, "1: the paper's calibration has no other");
  }
  const double norm = space.context_norm;
  const SiloPrefixSumParams sums{.nominal = params.nominal,
                                 .calibration = params.calibration,
                                 .sampler = params.sampler,
                                 .mechanism = params.mechanism,
                                 .steps = params.steps,
                                 .dimension = EntriesOf(space.dimension),
                                 .radius = 1,
                                 .records_per_person = params.records_per_person};
  BANDANA_ASSIGN_OR_RETURN(const double distance,
                           RegressionSensitivity(norm, space.reward_bound, space.reward_weight));
  const SiloPrefixSum::RecordBounds records{
      .distance = distance,
      .length = norm * std::max(norm, space.reward_bound * space.reward_weight),
      .paper_distance = norm * norm + 1};
  BANDANA_ASSIGN_OR_RETURN(SiloPrefixSum made, SiloPrefixSum::CreateFor(sums, records, share));
  return RegressionPrefixSum(space, std::move(made), share == 0);
}

absl::StatusOr<RegressionPrefixSum> RegressionPrefixSum::Create(const RegressionParams& params) {
  return Make(params, 1);
}

// The tree adds whole units, so its sums are exact.
absl::StatusOr<RegressionPrefixSum> RegressionPrefixSum::CreateBare(const RegressionSpace& space,
                                                                    const Declassify&) {
  return Make({.nominal = {0, 0},
               .calibration = Calibration::kTight,
               .sampler = Sampler::kFast,
               .mechanism = PrefixSumMechanism::kTree,
               .steps = space.steps,
               .dimension = space.dimension,
               .context_norm = space.context_norm,
               .reward_bound = space.reward_bound,
               .reward_weight = space.reward_weight},
              0);
}

std::vector<Claim> RegressionPrefixSum::claims() const {
  if (bare_) return {};
  return {
      {.adversary = "everyone but the silo itself, all others together, who see all releases of all steps",
       .guarantee = guarantee(),
       .unit = "one record (x, y) of one silo",
       .neighbours = "replace-one",
       .proof = "docs/proofs/regression-prefix-sum.md"}};
}

double RegressionPrefixSum::noise() const {
  return static_cast<double>(sums_.noise_units_) * SiloPrefixSum::kUnit;
}

void RegressionPrefixSum::Record(const ChosenArm& played, const Raw<double>& reward,
                                 RegressionStream& stream) const {
  const std::span<const double> x = RevealContext(played);
  const auto d = static_cast<std::size_t>(space_.dimension);
  BANDANA_CHECK(stream.owner_ == owner() && x.size() == d);
  if (stream.open_doubles_ == most_doubles_) MoveToUnits(stream);
  ++stream.open_records_;
  ++stream.open_doubles_;
  double squares = 0;
  for (const double each : x) squares += each * each;
  double* const context = stream.context_.data();
  // Covered by the slack of SiloPrefixSum. Computed unit vectors are not exactly of length 1.
  constexpr double kSlack = 1 + 1e-13;
  if (squares <= space_.context_norm * space_.context_norm * kSlack) {  // false if an entry is NaN
    std::copy(x.begin(), x.end(), context);
  } else {
    Shorten(x, space_.context_norm, stream.context_);
    for (double& each : stream.context_) each *= space_.context_norm;
  }
  double y = Reveal(reward);
  y = std::isfinite(y) ? std::clamp(y, -space_.reward_bound, space_.reward_bound) : 0;
  double* open = stream.open_.data();
  for (std::size_t i = 0; i < d; ++i) {
    const double scaled = context[i] * kPerUnit;
    for (std::size_t j = 0; j < i; ++j) open[j] += Nearest(scaled * context[j]);
    open[i] += Nearest(scaled * context[i] * (1 / std::numbers::sqrt2));
    open += i + 1;
  }
  const double scaled = y * space_.reward_weight * kPerUnit;
  for (std::size_t i = 0; i < d; ++i) open[i] += Nearest(scaled * context[i]);
}

void RegressionPrefixSum::MoveToUnits(RegressionStream& stream) {
  for (std::size_t i = 0; i < stream.open_.size(); ++i) {
    stream.open_units_[i] += static_cast<std::int64_t>(std::exchange(stream.open_[i], 0));
  }
  stream.open_doubles_ = 0;
}

absl::Status RegressionPrefixSum::EndStep(RegressionStream& stream) const {
  BANDANA_CHECK(stream.owner_ == owner());
  MoveToUnits(stream);
  BANDANA_RETURN_IF_ERROR(sums_.AppendUnits(stream.open_units_, stream.open_records_, stream.sums_));
  std::fill(stream.open_units_.begin(), stream.open_units_.end(), 0);
  stream.open_records_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<Report> RegressionPrefixSum::Randomize(const StepQuery& query,
                                                      const Raw<RegressionStream*>& stream,
                                                      NoiseGen& noise) const {
  RegressionStream& data = *Reveal(stream);
  if (query.pays() == data.paid()) {
    return absl::FailedPreconditionError("a silo pays once, with the first release of any of its streams");
  }
  return sums_.Randomize(query, data.sums_, noise);
}

absl::Status RegressionPrefixSum::Add(const StepQuery& query, const Report& report,
                                      BasicReportSum<StepQuery>& sum) const {
  return sums_.Add(query, report, sum);
}

absl::StatusOr<Sealed> RegressionPrefixSum::Seal(const BasicReportSum<StepQuery>& sum,
                                                 NoiseGen& noise) const {
  return sums_.Seal(sum, noise);
}

absl::StatusOr<Released<StepValues>> RegressionPrefixSum::Open(const StepQuery& query,
                                                               const Sealed& sealed) const {
  return sums_.Open(query, sealed);
}

RegressionEstimator::RegressionEstimator(const RegressionPrefixSum& mechanism, std::optional<double> noise)
    : mechanism_(&mechanism), estimator_(mechanism.sums_), noise_(noise) {}

absl::Status RegressionEstimator::Add(const Released<StepValues>& released) {
  BANDANA_RETURN_IF_ERROR(estimator_.Add(released));
  step_ = released.value().step;
  return absl::OkStatus();
}

Released<RegressionSums> RegressionEstimator::Total(std::span<const RegressionEstimator* const> silos) {
  BANDANA_CHECK(!silos.empty());
  RegressionSums total = silos.front()->Sums().value();
  for (const RegressionEstimator* silo : silos.subspan(1)) {
    const Released<RegressionSums> released = silo->Sums();
    const RegressionSums& sums = released.value();
    total.step = std::max(total.step, sums.step);
    total.gram += sums.gram;
    total.moments += sums.moments;
    total.gram_noise = std::hypot(total.gram_noise, sums.gram_noise);
    total.moment_noise = std::hypot(total.moment_noise, sums.moment_noise);
  }
  std::vector<NoiseLaw> laws = NoiseOf(total);
  return silos.front()->mechanism_->Mint(std::move(total), std::move(laws));
}

Released<RegressionSums> RegressionEstimator::Sums() const {
  const PrefixSumEstimator::Estimate estimate = estimator_.Sum();
  const RegressionSpace& space = mechanism_->space();
  const Eigen::Index d = space.dimension;
  const double noise =
      noise_.has_value() ? *noise_ * std::sqrt(mechanism_->strategy().Variance(step_)) : estimate.noise.proxy;
  RegressionSums sums{.step = step_,
                      .gram = Matrix(d, d),
                      .moments = Vector(d),
                      .gram_noise = noise,
                      .moment_noise = noise / space.reward_weight};
  const double* value = estimate.sum.data();
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) sums.gram(i, j) = sums.gram(j, i) = *value++;
    sums.gram(i, i) = std::numbers::sqrt2 * *value++;
  }
  for (Eigen::Index i = 0; i < d; ++i) sums.moments(i) = *value++ / space.reward_weight;
  std::vector<NoiseLaw> laws = NoiseOf(sums);
  return mechanism_->Mint(std::move(sums), std::move(laws));
}

}  // namespace bandana
