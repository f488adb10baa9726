#include "bandana/algorithms/arms/arm_schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "bandana/algorithms/chernoff.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

double Square(double x) { return x * x; }

}  // namespace

absl::StatusOr<ArmSchedule> ArmSchedule::Create(const ArmScheduleParams& params) {
  const auto at_least_one = [](Part part, const char* field, Count value) {
    return value >= 1 ? absl::OkStatus()
                      : InvalidField(part, field, fmt::format("{}", value), "a whole number >= 1");
  };
  BANDANA_RETURN_IF_ERROR(at_least_one(Part::kFacts, "horizon", params.horizon));
  BANDANA_RETURN_IF_ERROR(at_least_one(Part::kFacts, "arms", params.arms));
  BANDANA_RETURN_IF_ERROR(at_least_one(Part::kFacts, "people", params.reporting));
  if (params.rounds.has_value()) {
    BANDANA_RETURN_IF_ERROR(at_least_one(Part::kParams, "rounds", *params.rounds));
  }
  if (params.failure.has_value() && !(*params.failure > 0 && *params.failure < 1)) {
    return InvalidField(Part::kParams, "failure", *params.failure, "a number in (0, 1)");
  }
  const double range = params.rewards.high - params.rewards.low;
  if (params.gap.has_value() && !(*params.gap > 0 && *params.gap <= range)) {
    return InvalidField(Part::kParams, "gap", *params.gap, fmt::format("a number in (0, {}]", range));
  }
  if (!(params.bonus > 0 && std::isfinite(params.bonus))) {
    return InvalidField(Part::kParams, "bonus", params.bonus, "a finite number > 0");
  }
  BANDANA_CHECK(range > 0 && params.noise_scale >= 0 && std::isfinite(params.noise_scale));
  return ArmSchedule(params);
}

ArmSchedule::ArmSchedule(const ArmScheduleParams& params)
    : params_(params), failure_(params.failure.value_or(1 / (1 + static_cast<double>(params.horizon)))) {
  if (!params_.rounds.has_value()) return;
  if (params_.gap.has_value()) {
    last_resolution_ = params_.width == Width::kExact ? *params_.gap / 2 : *params_.gap;
    return;
  }
  // The finest resolution at which two arms can be told apart in half of the horizon.
  const auto last = static_cast<Epoch>(*params_.rounds);
  double fine = 1e-9;
  double coarse = 0.5;
  while (coarse / fine > 1 + 1e-6) {
    const double middle = std::sqrt(fine * coarse);
    (ExactPulls(last, middle) <= params_.horizon / 4 ? coarse : fine) = middle;
  }
  last_resolution_ = coarse;
}

double ArmSchedule::Resolution(Epoch round) const {
  if (!params_.rounds.has_value()) return std::ldexp(params_.rewards.high - params_.rewards.low, -round);
  return std::pow(last_resolution_, static_cast<double>(round) / static_cast<double>(*params_.rounds));
}

// Returns the failure probability of one bound, so that those of all syncs, all arms and both sides add up to
// `failure`. The union is over all K arms and not over those that are left: which arms are left depends on
// the same sums, and an arm whose estimate is far too high is one of them.
double ArmSchedule::Level(Epoch round) const {
  const double share = params_.rounds.has_value()
                           ? static_cast<double>(*params_.rounds)
                           : static_cast<double>(round) * static_cast<double>(round + 1);
  return failure_ / (2 * static_cast<double>(params_.arms) * share);
}

double ArmSchedule::ExactWidth(Epoch round, double pulls, Count noise_terms) const {
  const double half_range = (params_.rewards.high - params_.rewards.low) / 2;
  const double weight = 1 / pulls;
  const NoiseLaw law{.laplace_scale = params_.noise_scale,
                     .laplace_terms = params_.noise_scale > 0 ? noise_terms : 0};
  return params_.bonus *
         TailBound({.sub_gaussian = Square(half_range) / pulls, .weights = {&weight, 1}, .laws = {&law, 1}},
                   Level(round));
}

Count ArmSchedule::ExactPulls(Epoch round, double resolution) const {
  const auto agents = static_cast<double>(params_.reporting);
  const auto fits = [&](Count pulls) {
    return ExactWidth(round, agents * static_cast<double>(pulls), params_.reporting * round) <=
           resolution / 2;
  };
  Count high = 1;
  while (!fits(high)) {
    if (high > params_.horizon) return high;
    high *= 2;
  }
  Count low = high / 2;  // it does not fit, or it is 0
  while (high - low > 1) {
    const Count middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

Count ArmSchedule::Pulls(Epoch round, Count active) const {
  const double resolution = Resolution(round);
  if (params_.width == Width::kExact) return ExactPulls(round, resolution);
  const auto r = static_cast<double>(round);
  const auto agents = static_cast<double>(params_.reporting);
  const auto horizon = static_cast<double>(params_.horizon);
  const double range = params_.rewards.high - params_.rewards.low;
  const double learning = 8 * std::log(8 * static_cast<double>(active) * r * r * horizon) *
                          Square(params_.bonus * range / resolution) / agents;  // Line 4
  const double noise = 8 * r *
                       std::sqrt(2 * std::log(8 * static_cast<double>(params_.arms) * r * r * horizon)) *
                       params_.bonus * params_.noise_scale / (std::sqrt(agents) * resolution);
  return static_cast<Count>(std::ceil(std::min(std::max({learning, noise, 1.0}), 2 * horizon + 1)));
}

Count ArmSchedule::Next(Epoch round, Count active, Count pulled, Count left, Count waiting) const {
  if (active <= 1 || (params_.rounds.has_value() && round > *params_.rounds)) return 0;
  const Count wanted = std::max<Count>(1, Pulls(round, active) - pulled);
  if (left >= waiting && wanted <= (left - waiting) / active) {
    const bool gap_free = params_.rounds.has_value() && !params_.gap.has_value();
    if (!gap_free || wanted <= left / (2 * active)) return wanted;
  }
  // A schedule without a gap is cut to fit the horizon. So is the first exploration: an agent must know
  // something about the arms before it pulls one of them until the end.
  const bool cut = (pulled == 0 && params_.overrun == Overrun::kBest) ||
                   (params_.rounds.has_value() && !params_.gap.has_value());
  return cut && left / 2 >= waiting ? left / (2 * active) : 0;
}

bool ArmSchedule::ExploresToTheEnd(Epoch round, Count active) const {
  const bool ended = active <= 1 || (params_.rounds.has_value() && round > *params_.rounds);
  return !ended && params_.overrun == Overrun::kExplore;
}

double ArmSchedule::HalfWidth(Epoch round, Count active, std::span<const WeightedSums> parts) const {
  const double range = params_.rewards.high - params_.rewards.low;
  if (params_.width == Width::kPaper) {
    // Line 5, with the agents and pulls whose sums are at hand.
    double pulls = 0;
    double agents = 0;
    for (const WeightedSums& part : parts) {
      pulls += static_cast<double>(part.sums->pulls);
      agents += static_cast<double>(part.sums->agents);
    }
    const auto r = static_cast<double>(round);
    const auto horizon = static_cast<double>(params_.horizon);
    return params_.bonus *
           (range * std::sqrt(std::log(8 * static_cast<double>(active) * r * r * horizon) / (2 * pulls)) +
            r * std::sqrt(8 * std::log(8 * static_cast<double>(params_.arms) * r * r * horizon) * agents) *
                params_.noise_scale / pulls);
  }
  double rewards = 0;
  std::vector<double> weights;
  std::vector<NoiseLaw> laws;
  for (const WeightedSums& part : parts) {
    const auto pulls = static_cast<double>(part.sums->pulls);
    rewards += Square(part.weight * range / 2) / pulls;
    if (part.sums->noise_scale > 0) {
      weights.push_back(part.weight / pulls);
      laws.push_back({.laplace_scale = part.sums->noise_scale, .laplace_terms = part.sums->noise_terms});
    }
  }
  return params_.bonus * TailBound({.sub_gaussian = rewards, .weights = weights, .laws = laws}, Level(round));
}

bool AreArms(std::span<const ArmId> some, Count arms) {
  return !some.empty() && some.front() >= 0 && some.back() < arms &&
         std::adjacent_find(some.begin(), some.end(), std::greater_equal<>()) == some.end();
}

ArmDecision EliminateArms(const ArmSchedule& schedule, Epoch round,
                          std::span<const ArmSchedule::WeightedSums> parts) {
  BANDANA_CHECK(!parts.empty() && !parts.front().sums->arms.empty());
  const std::vector<ArmId>& arms = parts.front().sums->arms;
  std::vector<double> means(arms.size());
  for (const ArmSchedule::WeightedSums& part : parts) {
    const double scale = part.weight * kArmSumsUnit / static_cast<double>(part.sums->pulls);
    for (std::size_t i = 0; i < arms.size(); ++i)
      means[i] += scale * static_cast<double>(part.sums->units[i]);
  }
  const auto best = static_cast<std::size_t>(std::max_element(means.begin(), means.end()) - means.begin());
  ArmDecision decision{.best = arms[best],
                       .half_width = schedule.HalfWidth(round, static_cast<Count>(arms.size()), parts)};
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (means[best] - means[i] < 2 * decision.half_width || i == best) decision.arms.push_back(arms[i]);
  }
  return decision;
}

}  // namespace bandana
