#include "bandana/privacy/calibration/amplification.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/functional/function_ref.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/binomial_law.h"
#include "bandana/privacy/calibration/gaussian.h"

namespace bandana {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();
constexpr double kEpsilonBracket = 1e-9;
// More than underflow can hide.
constexpr double kUnderflow = 1e-290;
// The tails of C, the number of clones, that are not summed: the upper one by its mass, the lower one by its
// share of delta.
constexpr double kUpperTail = 1e-9;
constexpr double kLowerTail = 1e-8;
// From this epsilon0 on there is no gain with fewer than 2^63 users: n exp(-epsilon0) < 1e-45.
constexpr double kNoAmplification = 150;

absl::Status ValidateUsers(Count n) {
  if (n < 1) return InvalidOption("n", std::to_string(n), "a whole number >= 1");
  return absl::OkStatus();
}

absl::Status ValidateEpsilon(const std::string& key, double epsilon) {
  if (!(epsilon >= std::numeric_limits<double>::min() && std::isfinite(epsilon))) {
    return InvalidOption(key, epsilon, "a finite number > 0");
  }
  return absl::OkStatus();
}

absl::Status ValidateDelta(double delta) {
  if (!(delta >= std::numeric_limits<double>::min() && delta < 1)) {
    return InvalidField(Part::kPrivacy, "delta", delta, "a number in (0, 1)");
  }
  return absl::OkStatus();
}

// The pair of Theorem 3.2 at one (epsilon0, n, epsilon), epsilon < epsilon0. Given C = c clones, only the
// first count X matters, and the likelihood ratio increases with it. With B ~ Bin(c, 1/2)
//   delta_c = weight P[B = k - 1] - (e^epsilon - 1) P[B >= k],  k = floor(theta (c + 1)) + 1.
class ClonePair {
 public:
  ClonePair(double epsilon0, Count n, double epsilon)
      : others_(static_cast<double>(std::min(n, kMostUsersCounted) - 1)),
        clone_(std::exp(-epsilon0)),
        own_(-std::expm1(-epsilon0)),
        weight_(-std::expm1(epsilon - epsilon0) / (1 + clone_)),
        slope_(std::expm1(epsilon)),
        theta_((slope_ + own_) / ((2 + slope_) * own_)) {}

  /// Returns the sum of P[C = c] delta_c, plus everything that was left out or rounded away. The lowest terms
  /// are replaced by one bound on all of them, once it is below 1e-8 of the larger of the sum and `least`.
  double DeltaAbove(double least) const;

 private:
  // (c, k) during the descent, with P[B = k - 1], P[B >= k] and bounds on their errors.
  struct Cell {
    double c;
    double k;
    double mass;
    double tail;
    double mass_error;  // relative
    double tail_error;  // absolute
  };

  double Threshold(double c) const { return std::min(std::floor(theta_ * (c + 1)) + 1, c + 1); }
  Cell Start(double c) const;
  void StepDown(Cell& cell) const;
  double DeltaOf(const Cell& cell) const;
  double HighestCount() const;

  double others_;
  double clone_;  // e^-epsilon0
  double own_;    // 1 - clone_
  double weight_;
  double slope_;  // e^epsilon - 1
  double theta_;
};

ClonePair::Cell ClonePair::Start(double c) const {
  Cell cell{.c = c, .k = Threshold(c), .mass = 0, .tail = 0, .mass_error = 0, .tail_error = 0};
  const double log_mass = LogBinomial(cell.k - 1, c, 0.5, 0.5);
  cell.mass = std::exp(log_mass);
  cell.mass_error = BinomialLogError(log_mass);
  double term = cell.mass;
  double terms = 0;
  for (double x = cell.k; x <= c && term > 1e-18 * cell.tail; ++x, ++terms) {
    term *= (c + 1 - x) / x;
    cell.tail += term;
  }
  // Omitted terms of the series make the computed delta_c larger, never smaller.
  cell.tail_error = (cell.mass_error + 4 * kUnit * (terms + 1)) * cell.tail;
  return cell;
}

void ClonePair::StepDown(Cell& cell) const {
  // k comes first: P[B = k - 1] is positive for k <= c + 1, also one step down.
  const double k = Threshold(cell.c - 1);
  while (cell.k > k) {
    cell.tail += cell.mass;
    cell.tail_error += 2 * kUnit * cell.tail + cell.mass_error * cell.mass;
    cell.k -= 1;
    cell.mass *= cell.k / (cell.c + 1 - cell.k);
    cell.mass_error += 4 * kUnit;
  }
  cell.mass *= 2 * (cell.c + 1 - cell.k) / cell.c;
  cell.mass_error += 4 * kUnit;
  cell.tail_error += 2 * kUnit * cell.tail + 0.5 * cell.mass_error * cell.mass;
  cell.tail = std::max(0.0, cell.tail - 0.5 * cell.mass);
  cell.c -= 1;
}

double ClonePair::DeltaOf(const Cell& cell) const {
  const double value = weight_ * cell.mass - slope_ * cell.tail;
  const double rounding = cell.mass * (weight_ * cell.mass_error + 32 * kUnit * (2 + slope_)) +
                          slope_ * (cell.tail_error + 4 * kUnit * cell.tail);
  return std::max(0.0, value) + rounding;
}

double ClonePair::HighestCount() const {
  const double mean = others_ * clone_;
  const double target = std::log(kUpperTail);
  double step = std::sqrt(-2 * target * mean * own_) + 1;
  double high = std::floor(mean + step);
  while (high < others_ && LogBinomialTailBound(high, others_, clone_, own_) > target) {
    step = std::max(1.0, 0.1 * step);
    high = std::floor(high + step);
  }
  return std::min(high, others_);
}

double ClonePair::DeltaAbove(double least) const {
  const double highest = HighestCount();
  const double mean = others_ * clone_;
  double sum = 0;
  double steps = 0;
  // Proceeds in blocks, each with a fresh start, so that recurrences do not lose their accuracy.
  for (double top = highest;;) {
    Cell cell = Start(top);
    const double log_probability = LogBinomial(top, others_, clone_, own_);
    double probability = std::exp(log_probability);
    double error = BinomialLogError(log_probability) + BinomialMeanError(top, others_, clone_);
    if (top == highest && highest < others_) sum += kUpperTail * DeltaOf(cell);
    const double bottom = std::max(0.0, top - std::max(512.0, std::floor(std::sqrt(top))));
    while (true) {
      sum += probability * (1 + error) * DeltaOf(cell);
      ++steps;
      if (cell.c <= bottom) break;
      probability *= cell.c * own_ / ((others_ - cell.c + 1) * clone_);
      error += 6 * kUnit;
      StepDown(cell);
    }
    BANDANA_CHECK(std::isfinite(sum));
    top = bottom - 1;
    double rest = 0;  // bound on P[C <= top] times the largest delta_c, which is weight_
    if (top >= mean) {
      rest = 1;
    } else if (top >= 0) {
      rest = weight_ * std::exp(LogBinomialTailBound(top, others_, clone_, own_)) * (1 + kEpsilonBracket);
    }
    if (rest <= std::max(kLowerTail * std::max(sum, least), kUnderflow)) {
      return (sum + rest) * (1 + 2 * kUnit * steps) + kUnderflow;
    }
  }
}

double DeltaBound(double epsilon0, Count n, double epsilon, double least) {
  if (epsilon >= epsilon0) return 0;
  // (P - e^epsilon Q)_+ <= weight, whatever the clones do.
  if (epsilon0 >= kNoAmplification) return -std::expm1(epsilon - epsilon0);
  return std::min(1.0, ClonePair(epsilon0, n, epsilon).DeltaAbove(least));
}

// Shrinks [outside, inside] around the place where `excess` changes its sign (> 0 outside, <= 0 inside),
// until it is narrower than kEpsilonBracket of its size; returns the inner end. It uses the Illinois method,
// and bisection if a step gains too little or a value is infinite.
double InnerEnd(double outside, double inside, absl::FunctionRef<double(double)> excess) {
  double value_out = excess(outside);
  double value_in = excess(inside);
  int last_side = 0;
  for (int i = 0; std::abs(inside - outside) > kEpsilonBracket * std::max(inside, outside); ++i) {
    double next = outside + (inside - outside) / 2;
    if (i % 4 != 3 && std::isfinite(value_in) && std::isfinite(value_out) && value_out > value_in) {
      next = inside + (outside - inside) * (value_in / (value_in - value_out));
      // Aims half a bracket beyond the root, so that the other end comes close as well.
      const double nudge = 0.4 * kEpsilonBracket * next;
      const double low = std::min(inside, outside) + nudge;
      const double high = std::max(inside, outside) - nudge;
      next = std::clamp(next + (last_side == 1 ? (inside > outside ? nudge : -nudge) : 0), low, high);
    }
    const double value = excess(next);
    if (value <= 0) {
      inside = next;
      value_in = value;
      if (last_side == -1) value_out /= 2;
      last_side = -1;
    } else {
      outside = next;
      value_out = value;
      if (last_side == 1) value_in /= 2;
      last_side = 1;
    }
  }
  return inside;
}

double EpsilonBound(double epsilon0, Count n, double delta) {
  const auto excess = [&](double epsilon) {
    return std::log(DeltaBound(epsilon0, n, epsilon, delta)) - std::log(delta);
  };
  if (epsilon0 >= kNoAmplification) return epsilon0;
  if (excess(0) <= 0) return 0;
  // Given C near its mean the pair is roughly Gaussian, with this multiplier.
  const double clones = static_cast<double>(std::min(n, kMostUsersCounted) - 1) * std::exp(-epsilon0);
  const double guess = GaussianEpsilon(delta, 0.5 * std::sqrt(clones + 1) / std::tanh(0.5 * epsilon0));
  double high = std::min(epsilon0, guess);
  double low = 0;
  while (high < epsilon0 && excess(high) > 0) {
    low = high;
    high = std::min(epsilon0, 1.1 * high);
  }
  if (low == 0) {
    low = high / 1.1;
    while (excess(low) <= 0) {
      high = low;
      low /= 1.1;
    }
  }
  return InnerEnd(low, high, excess);
}

// Returns ln(n/(16 ln(2/delta))), rounded down if it is positive.
double ClosedFormRange(Count n, double delta) {
  return std::log(static_cast<double>(n) / (16 * std::log(2 / delta))) * (1 - 4 * kUnit);
}

double ClosedForm(double epsilon0, Count n, double delta) {
  const auto users = static_cast<double>(n);
  const double growth = std::exp(epsilon0);
  const double spread =
      8 * std::sqrt(growth * std::log(4 / delta) / users) + 8 * growth / users;  // Theorem 3.1
  return std::log1p(std::tanh(0.5 * epsilon0) * spread) * (1 + 16 * kUnit);
}

}  // namespace

absl::StatusOr<double> ClosedFormAmplification(double epsilon0, Count n, double delta) {
  BANDANA_RETURN_IF_ERROR(ValidateEpsilon("epsilon0", epsilon0));
  BANDANA_RETURN_IF_ERROR(ValidateUsers(n));
  BANDANA_RETURN_IF_ERROR(ValidateDelta(delta));
  const double most = ClosedFormRange(n, delta);
  if (!(epsilon0 <= most)) {
    return InvalidField(Part::kPrivacy, "epsilon0", epsilon0,
                        most > 0 ? "at most ln(n/(16 ln(2/delta))) = " + std::to_string(most)
                                 : "nothing: the closed form needs n > 16 ln(2/delta)");
  }
  return ClosedForm(epsilon0, n, delta);
}

absl::StatusOr<double> AmplificationDelta(double epsilon0, Count n, double epsilon) {
  BANDANA_RETURN_IF_ERROR(ValidateEpsilon("epsilon0", epsilon0));
  BANDANA_RETURN_IF_ERROR(ValidateUsers(n));
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    return InvalidField(Part::kPrivacy, "epsilon", epsilon, "a finite number >= 0");
  }
  return DeltaBound(epsilon0, n, epsilon, 0);
}

absl::StatusOr<double> NumericalAmplification(double epsilon0, Count n, double delta) {
  BANDANA_RETURN_IF_ERROR(ValidateEpsilon("epsilon0", epsilon0));
  BANDANA_RETURN_IF_ERROR(ValidateUsers(n));
  BANDANA_RETURN_IF_ERROR(ValidateDelta(delta));
  return EpsilonBound(epsilon0, n, delta);
}

absl::StatusOr<LocalBudget> LargestLocalEpsilon(DpGuarantee guarantee, Count n) {
  BANDANA_RETURN_IF_ERROR(ValidateEpsilon("epsilon", guarantee.epsilon));
  BANDANA_RETURN_IF_ERROR(ValidateDelta(guarantee.delta));
  BANDANA_RETURN_IF_ERROR(ValidateUsers(n));
  const double epsilon = guarantee.epsilon;
  const LocalBudget local{epsilon, {epsilon, 0}, AmplificationMethod::kLocal};
  const auto excess = [&](double epsilon0) {
    return std::log(DeltaBound(epsilon0, n, epsilon, guarantee.delta)) - std::log(guarantee.delta);
  };
  double inside = epsilon;
  double outside = epsilon;
  while (inside == outside) {
    outside *= 2;
    if (outside >= kNoAmplification) break;
    if (excess(outside) <= 0) inside = outside;
  }
  if (outside >= kNoAmplification && excess(kNoAmplification) <= 0) return local;
  outside = std::min(outside, kNoAmplification);
  const double epsilon0 = InnerEnd(outside, inside, excess);
  if (!(epsilon0 > epsilon * (1 + kEpsilonBracket))) return local;
  return LocalBudget{epsilon0, guarantee, AmplificationMethod::kNumerical};
}

absl::StatusOr<double> PaperLocalEpsilon(DpGuarantee guarantee, Count n) {
  BANDANA_RETURN_IF_ERROR(ValidateEpsilon("epsilon", guarantee.epsilon));
  BANDANA_RETURN_IF_ERROR(ValidateDelta(guarantee.delta));
  BANDANA_RETURN_IF_ERROR(ValidateUsers(n));
  constexpr double kMost = 600;  // exp(kMost) is finite
  const auto excess = [&](double epsilon0) {
    return ClosedForm(epsilon0, n, guarantee.delta) - guarantee.epsilon;
  };
  if (!(excess(kMost) > 0)) {
    return InvalidField(Part::kPrivacy, "epsilon", guarantee.epsilon, "one whose epsilon0 is below 600");
  }
  double inside = guarantee.epsilon;
  while (excess(inside) > 0) inside /= 2;
  double outside = inside;
  while (!(excess(outside) > 0)) outside = std::min(kMost, 2 * outside);
  return InnerEnd(outside, inside, excess);  // P2, Algorithm 3, line 8
}

}  // namespace bandana
