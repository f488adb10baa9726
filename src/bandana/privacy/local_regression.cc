#include "bandana/privacy/local_regression.h"

#include <numbers>

#include "bandana/core/distributions.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/privacy/accounting/gdp.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/samplers/rounded_normal.h"

namespace bandana {
namespace {

// The grid of the exact sampler: in its own units the noise of an entry has this standard deviation.
constexpr std::uint64_t kNoiseUnits = std::uint64_t{1} << 40;

constexpr double kMostDistance = 512;  // in standard deviations of the noise; keeps whole units below 2^50

absl::Status CheckSpace(const LocalRegressionSpace& space) {
  if (!(space.dimension >= 1 && space.dimension <= 1024)) {
    return InvalidOption("dimension", static_cast<double>(space.dimension), "a whole number from 1 to 1024");
  }
  BANDANA_RETURN_IF_ERROR(RecordBounds::Check(space.dimension, space.context_norm, space.rewards));
  if (!(space.slots >= 1 && space.slots <= 1'000'000)) {
    return InvalidOption("slots", static_cast<double>(space.slots), "a whole number from 1 to 1000000");
  }
  if (space.side_bounds.empty() || space.side_bounds.size() > LocalRegression::kMostSides) {
    return InvalidOption("side_bounds", static_cast<double>(space.side_bounds.size()), "from 1 to 8 bounds");
  }
  for (const double bound : space.side_bounds) {
    BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("side_bounds", bound));
  }
  return absl::OkStatus();
}

std::size_t SlotSize(const LocalRegressionSpace& space) {
  const auto d = static_cast<std::size_t>(space.dimension);
  return d * (d + 1) / 2 + d * space.side_bounds.size();
}

// Returns the largest distance of two records x and z, in standard deviations of the noise: the root of the
// maximum of
//   gram (|x|^4 + |z|^4 - 2 c^2) + sides (|x|^2 + |z|^2 + 2 c),  0 <= c <= |x| |z|.
// gram is 1/(2 s^2) for noise s off the diagonal and sqrt2 s on it, or 1/a^2 for noise a in all entries.
// sides is the sum of B_j^2 divided by the squared noise in s_j x. docs/proofs/local-regression.md.
double Distance(double context_norm, double gram, double sides) {
  const double most = context_norm * context_norm;
  const double c = std::min(sides / (2 * gram), most);
  const double squared = 2 * gram * (most - c) * (most + c) + 2 * sides * (most + c);
  return std::sqrt(squared) * (1 + 1e-14);
}

// Returns the factor by which rounding in doubles may increase the distance.
double LengthSlack(std::size_t entries) { return 1 + 1e-12 + 0x1p-51 * static_cast<double>(entries); }

// Returns what rounding to whole units may add to the distance.
double GridDistance(std::size_t entries) {
  return std::sqrt(static_cast<double>(entries)) / static_cast<double>(kNoiseUnits) * (1 + 1e-12);
}

absl::Status CheckWeights(const LocalRegressionParams& params) {
  if (params.side_weights.size() != params.side_bounds.size()) {
    return InvalidOption("side_weights", static_cast<double>(params.side_weights.size()),
                         "as many as side_bounds");
  }
  for (const double weight : params.side_weights) {
    BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("side_weights", weight));
    if (params.calibration == Calibration::kPaper && weight != 1) {
      return InvalidOption("side_weights", weight, "1: the paper's calibration has no other");
    }
  }
  return absl::OkStatus();
}

}  // namespace

SealedStatistics::SealedStatistics(const LocalRegression& mechanism)
    : owner_(mechanism.owner_),
      sums_(mechanism.slot_size() * static_cast<std::size_t>(mechanism.space().slots), 0),
      records_(static_cast<std::size_t>(mechanism.space().slots), 0) {}

LocalRegression::LocalRegression(const LocalRegressionSpace& space, Noises noises, Sampler sampler,
                                 DpGuarantee delivered, bool bare)
    : space_(space),
      bounds_(space.dimension, space.context_norm, space.rewards, space.out_of_range),
      gram_noise_(noises.gram),
      diagonal_noise_(noises.diagonal),
      side_noises_(std::move(noises.sides)),
      slot_size_(SlotSize(space)),
      sampler_(sampler),
      delivered_(delivered),
      bare_(bare),
      owner_(std::make_shared<const char>()) {
  for (Count i = 0; i < space.dimension; ++i) {
    noises_.insert(noises_.end(), static_cast<std::size_t>(i), gram_noise_);
    noises_.push_back(diagonal_noise_);
  }
  for (const double each : side_noises_) {
    noises_.insert(noises_.end(), static_cast<std::size_t>(space.dimension), each);
  }
}

absl::StatusOr<LocalRegression> LocalRegression::Create(const LocalRegressionParams& params) {
  const LocalRegressionSpace space = params.space();
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  BANDANA_RETURN_IF_ERROR(CheckWeights(params));
  const bool paper = params.calibration == Calibration::kPaper;
  const bool half = paper && params.slot_budget == SlotBudget::kFull;
  const double share = ShareOf(half ? SlotBudget::kHalf : params.slot_budget, space.slots);
  const DpGuarantee budget{params.nominal.epsilon * share, params.nominal.delta * share};
  const double norm = space.context_norm;
  const std::size_t entries = SlotSize(space);
  const double on_grid = GridDistance(entries);
  Noises noises{};
  double distance = 0;  // in standard deviations of the noise; the release is GDP with mu = distance
  if (paper) {
    BANDANA_ASSIGN_OR_RETURN(const double classic, ClassicGaussianMultiplier(budget));
    const double sigma = 2 * classic;
    noises.gram = noises.diagonal = 2 * norm * sigma;
    double sides = 0;
    for (const double bound : space.side_bounds) {
      noises.sides.push_back(norm * bound * sigma);
      sides += 1 / (norm * sigma * norm * sigma);
    }
    distance = Distance(norm, 1 / (noises.gram * noises.gram), sides) * LengthSlack(entries) + on_grid;
  } else {
    BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(budget));
    distance = (1 - 1e-15) / multiplier;
    if (!(distance > 2 * on_grid)) {
      return InvalidField(Part::kPrivacy, "epsilon", budget.epsilon,
                          "one for which the grid of 2^40 units in a standard deviation is fine enough");
    }
    double sides = 0;
    for (std::size_t j = 0; j < params.side_weights.size(); ++j) {
      const double weighted = params.side_weights[j] * space.side_bounds[j];
      sides += weighted * weighted;
    }
    const double sensitivity = Distance(norm, 0.5, sides) * LengthSlack(entries);
    noises.gram = sensitivity / (distance - on_grid) * (1 + 1e-14);
    noises.diagonal = noises.gram * std::numbers::sqrt2 * (1 + 1e-15);
    for (const double weight : params.side_weights) {
      noises.sides.push_back(noises.gram / weight * (1 + 1e-15));
    }
  }
  if (!(distance <= kMostDistance)) {
    return InvalidField(Part::kPrivacy, "epsilon", params.nominal.epsilon,
                        "a smaller one: the noise would be too small for the grid");
  }
  const bool as_asked = !paper && share == 1;
  const DpGuarantee delivered{as_asked ? params.nominal.epsilon : GdpEpsilon(params.nominal.delta, distance),
                              params.nominal.delta};
  return LocalRegression(space, std::move(noises), params.sampler, delivered, false);
}

absl::StatusOr<LocalRegression> LocalRegression::CreateBare(const LocalRegressionSpace& space,
                                                            const Declassify&) {
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  const Noises none{0, 0, std::vector<double>(space.side_bounds.size(), 0)};
  return LocalRegression(space, none, Sampler::kFast, {kInfinity, 1}, true);
}

std::vector<Claim> LocalRegression::claims() const {
  if (bare_) return {};
  return {{.adversary = "everyone but the user, who see its message",
           .guarantee = guarantee(),
           .unit = "one user's context, arm and reward",
           .neighbours = "replace-one",
           .proof = space_.slots > 1 ? "docs/proofs/synthetic-slots.md" : "docs/proofs/local-regression.md"}};
}

void LocalRegression::Answer(const StatisticsQuestion& question, NoiseGen& noise, LocalMessage& message,
                             RangeCounts*) const {
  SealedStatistics& statistics = question.statistics;
  BANDANA_CHECK(statistics.owner_ == owner_ && statistics.users_ > 0);
  if (question.public_arm.has_value()) {
    BANDANA_CHECK(*question.public_arm >= 0 && *question.public_arm < space_.slots);
    const auto slot = static_cast<std::size_t>(*question.public_arm);
    BANDANA_CHECK(statistics.records_[slot] == statistics.users_);
    AnswerSlot(statistics, slot, noise, Write(message, slot_size_));
  } else {
    const auto slots = static_cast<std::size_t>(space_.slots);
    const std::span<double> out = Write(message, slots * slot_size_);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      AnswerSlot(statistics, slot, noise, out.subspan(slot * slot_size_, slot_size_));
    }
  }
  statistics.users_ = 0;
}

void LocalRegression::AnswerSlot(SealedStatistics& statistics, std::size_t slot, NoiseGen& noise,
                                 std::span<double> out) const {
  const std::span<double> sums = std::span(statistics.sums_).subspan(slot * slot_size_, slot_size_);
  if (bare_) {
    std::copy(sums.begin(), sums.end(), out.begin());
  } else if (sampler_ == Sampler::kExact) {
    BANDANA_CHECK(statistics.users_ == 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double unit = noises_[i] / static_cast<double>(kNoiseUnits);
      const auto units = static_cast<std::int64_t>(std::nearbyint(sums[i] / unit));
      out[i] = (static_cast<double>(units + RoundedNormal(kNoiseUnits, noise)) + 0.5) * unit;
    }
  } else {
    const double root = std::sqrt(static_cast<double>(statistics.users_));
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = sums[i] + root * noises_[i] * StandardNormal(noise);
    }
  }
  if (statistics.records_[slot] > 0) {
    std::fill(sums.begin(), sums.end(), 0);
    statistics.records_[slot] = 0;
  }
}

}  // namespace bandana
