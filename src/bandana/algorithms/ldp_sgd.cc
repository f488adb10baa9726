#include "bandana/algorithms/ldp_sgd.h"

#include <cmath>

#include "bandana/algorithms/projection.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// No step is longer than theta's ball is wide; and after so many steps noise has moved theta by about its
// ball's radius, and then ever less.
double DelayOf(const LdpSgdParams& params, const LocalGradient& gradient) {
  const auto d = static_cast<double>(params.frame.dimension);
  const double scale = params.step * d / (params.least_slope * params.theta_norm);
  const double first = scale * gradient.radius();
  const double noise = scale * gradient.noise() * std::sqrt(d);
  return params.delay * (first + static_cast<double>(params.frame.slots()) * noise * noise);
}

}  // namespace

absl::StatusOr<LdpSgd> LdpSgd::Create(const LdpSgdParams& params, const LocalGradient& gradient) {
  BANDANA_RETURN_IF_ERROR(params.frame.Check());
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(params.step)) {
    return InvalidOption("algorithm.step", fmt::format("{}", params.step), "a finite number > 0");
  }
  if (!(params.least_slope > kLeastSlope)) {
    return InvalidOption("environment.theta_bound", fmt::format("{}", params.theta_norm),
                         "a smaller one: over so large a ball the link is flat");
  }
  if (!positive(params.theta_norm)) {
    return InvalidOption("environment.theta_norm", fmt::format("{}", params.theta_norm),
                         "a finite number > 0");
  }
  if (!(params.delay >= 0 && std::isfinite(params.delay))) {
    return InvalidOption("algorithm.delay", fmt::format("{}", params.delay), "a finite number >= 0");
  }
  if (params.average.has_value() && !(*params.average >= 0 && *params.average <= 100)) {
    return InvalidOption("algorithm.average", fmt::format("{}", *params.average), "a number in [0, 100]");
  }
  return LdpSgd(params, gradient);
}

LdpSgd::LdpSgd(const LdpSgdParams& params, const LocalGradient& gradient)
    : params_(params),
      gradient_(gradient),
      delay_(DelayOf(params, gradient_)),
      policy_(params.frame),
      iterate_(policy_.thetas().begin(), policy_.thetas().end()) {}

void LdpSgd::Learn(const LocalMessage& message, Count users) {
  const UserFrame& frame = params_.frame;
  const std::span<const double> entries = message.entries();
  const Count before = policy_.users() / frame.slots();  // pulls of an arm, all of them or on average
  const auto n = static_cast<double>(before + 1);
  if (policy_.warming_up()) {
    Step(policy_.warm_up_arm(), entries, n, n);
  } else {
    const Count others = (frame.slots() - 1) * frame.warm_up;  // messages of the warm-up in other slots
    const auto messages = static_cast<double>(policy_.users() - (frame.multi ? others : 0) + 1);
    const auto dimension = static_cast<std::size_t>(frame.dimension);
    for (Count slot = 0; slot < frame.slots(); ++slot) {
      Step(slot, entries.subspan(static_cast<std::size_t>(slot) * dimension, dimension), n, messages);
    }
  }
  policy_.Advance(users);
}

void LdpSgd::Step(Count slot, std::span<const double> gradient, double n, double messages) {
  const std::size_t dimension = gradient.size();
  double* theta = iterate_.data() + static_cast<std::size_t>(slot) * dimension;
  const double step = params_.step * static_cast<double>(dimension) / (params_.least_slope * (n + delay_));
  for (std::size_t i = 0; i < dimension; ++i) theta[i] -= step * gradient[i];
  ProjectOntoBall({theta, dimension}, params_.theta_norm);
  double* chosen_by = policy_.theta(slot).data();
  const double weight =
      params_.average.has_value() ? (*params_.average + 1) / (messages + *params_.average) : 1;
  for (std::size_t i = 0; i < dimension; ++i) chosen_by[i] += weight * (theta[i] - chosen_by[i]);
}

}  // namespace bandana
