#include "bandana/algorithms/users/ldp_sgd.h"

#include <cmath>

#include "bandana/algorithms/users/projection.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// Returns n_0. With it, no step is longer than theta's ball is wide, and noise moves theta by about the
// radius of its ball in the first n_0 steps, and less afterwards.
double DelayOf(const LdpSgdRules& rules, const LocalGradient& gradient) {
  const auto d = static_cast<double>(rules.shape.dimension);
  const double scale = rules.step * d / (rules.least_slope * rules.theta_norm);
  const double first = scale * gradient.radius();
  const double noise = scale * gradient.noise() * std::sqrt(d);
  return rules.delay * (first + static_cast<double>(rules.shape.slots()) * noise * noise);
}

}  // namespace

absl::StatusOr<LdpSgd> LdpSgd::Create(const LdpSgdRules& rules, const LocalGradient& gradient) {
  BANDANA_RETURN_IF_ERROR(rules.shape.Check());
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(rules.step)) {
    return InvalidField(Part::kParams, "step", fmt::format("{}", rules.step), "a finite number > 0");
  }
  if (!(rules.least_slope > kLeastSlope)) {
    return InvalidField(Part::kFacts, "theta_norm", fmt::format("{}", rules.theta_norm),
                        "a smaller number: over a ball of this radius the link is almost flat");
  }
  if (!positive(rules.theta_norm)) {
    return InvalidField(Part::kFacts, "theta_norm", fmt::format("{}", rules.theta_norm),
                        "a finite number > 0");
  }
  if (!(rules.delay >= 0 && std::isfinite(rules.delay))) {
    return InvalidField(Part::kParams, "delay", fmt::format("{}", rules.delay), "a finite number >= 0");
  }
  if (rules.average.has_value() && !(*rules.average >= 0 && *rules.average <= 100)) {
    return InvalidField(Part::kParams, "average", fmt::format("{}", *rules.average), "a number in [0, 100]");
  }
  return LdpSgd(rules, gradient);
}

LdpSgd::LdpSgd(const LdpSgdRules& rules, const LocalGradient& gradient)
    : rules_(rules),
      gradient_(gradient),
      delay_(DelayOf(rules, gradient_)),
      policy_(rules.shape),
      iterate_(policy_.thetas().begin(), policy_.thetas().end()) {}

void LdpSgd::Learn(const LocalMessage& message, Count users) {
  const UserModelShape& shape = rules_.shape;
  const std::span<const double> entries = message.entries();
  const Count before = policy_.users() / shape.slots();  // pulls of an arm: its own, or the average
  const auto n = static_cast<double>(before + 1);
  if (policy_.warming_up()) {
    Step(policy_.warm_up_arm(), entries, n, n);
  } else {
    const Count others = (shape.slots() - 1) * shape.warm_up;  // messages of the warm-up in other slots
    const auto messages = static_cast<double>(policy_.users() - (shape.multi ? others : 0) + 1);
    const auto dimension = static_cast<std::size_t>(shape.dimension);
    const double steps = rules_.steps == SgdSteps::kPaper ? messages : n;
    for (Count slot = 0; slot < shape.slots(); ++slot) {
      Step(slot, entries.subspan(static_cast<std::size_t>(slot) * dimension, dimension), steps, messages);
    }
  }
  policy_.Advance(users);
}

void LdpSgd::Step(Count slot, std::span<const double> gradient, double n, double messages) {
  const std::size_t dimension = gradient.size();
  double* theta = iterate_.data() + static_cast<std::size_t>(slot) * dimension;
  const double fall = rules_.steps == SgdSteps::kRoot ? std::sqrt(n + delay_) : n + delay_;
  const double step = rules_.step * static_cast<double>(dimension) / (rules_.least_slope * fall);
  for (std::size_t i = 0; i < dimension; ++i) theta[i] -= step * gradient[i];
  if (rules_.projection == SgdProjection::kBall) ProjectOntoBall({theta, dimension}, rules_.theta_norm);
  double* chosen_by = policy_.theta(slot).data();
  const double weight = rules_.average.has_value() ? (*rules_.average + 1) / (messages + *rules_.average) : 1;
  for (std::size_t i = 0; i < dimension; ++i) chosen_by[i] += weight * (theta[i] - chosen_by[i]);
}

}  // namespace bandana
