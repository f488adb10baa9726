#include "bandana/privacy/calibration/prefix_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/rounding.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using calibration::CheckPositive;
using calibration::NextUp;
using calibration::ProductUp;
using calibration::QuotientUp;
using calibration::SqrtUp;

constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;
constexpr std::int64_t kMostCoefficients = std::int64_t{1} << 26;
constexpr std::array kMechanisms = {PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                    PrefixSumMechanism::kToeplitz};

absl::Status CheckSteps(std::int64_t n, std::int64_t most) {
  if (n >= 1 && n <= most) return absl::OkStatus();
  return InvalidOption("n", fmt::format("{}", n), fmt::format("a whole number from 1 to {}", most));
}

std::uint64_t Bits(std::int64_t t) { return static_cast<std::uint64_t>(t); }

// Every interval of 2^h steps that ends at a multiple of 2^h is a node of height h. It is released when it
// ends.

int Levels(std::int64_t n) { return static_cast<int>(std::bit_width(Bits(n))); }

std::int64_t NodesBy(std::int64_t t) { return 2 * t - std::popcount(Bits(t)); }

// Returns the index of the node of height h that ends at step `end`.
std::int64_t NodeIndex(std::int64_t end, int h) { return NodesBy(end - 1) + h; }

// Returns the variance of a node of height h that is estimated from all nodes in its subtree. Honaker's
// recursion v_h = 1/(1 + 1/(2 v_(h-1))), v_0 = 1, has this solution: 1 for a leaf, and 1/2 in the limit.
double HonakerNodeVariance(int h) { return std::ldexp(1, h) / (std::ldexp(1, h + 1) - 1); }

double NodeVariance(PrefixSumMechanism mechanism, int h) {
  return mechanism == PrefixSumMechanism::kHonaker ? HonakerNodeVariance(h) : 1;
}

// A prefix of t steps consists of one node for each bit of t.
double TreeVariance(PrefixSumMechanism mechanism, std::int64_t t) {
  double variance = 0;
  for (int h = 0; h < Levels(t); ++h) {
    if (Bits(t) >> h & 1) variance += NodeVariance(mechanism, h);
  }
  return variance;
}

// More bits mean more variance, so the worst t is n, or n with one bit cleared and all lower bits set.
double MaxTreeVariance(PrefixSumMechanism mechanism, std::int64_t n) {
  double most = TreeVariance(mechanism, n);
  for (int h = 0; h < Levels(n); ++h) {
    if (!(Bits(n) >> h & 1)) continue;
    const std::int64_t t = n - 1 - (n & ((std::int64_t{1} << h) - 1));
    if (t >= 1) most = std::max(most, TreeVariance(mechanism, t));
  }
  return most;
}

class TreeStrategy : public PrefixSumStrategy {
 public:
  TreeStrategy(PrefixSumMechanism mechanism, std::int64_t n) : PrefixSumStrategy(mechanism, n) {}

  std::int64_t ReleasedBy(std::int64_t t) const override {
    BANDANA_CHECK(t >= 0 && t <= steps());
    return NodesBy(t);
  }

  std::vector<WeightedTerm> Functional(std::int64_t t, std::int64_t j) const override {
    BANDANA_CHECK(t >= 1 && t <= steps() && j >= 0 && j <= std::countr_zero(Bits(t)));
    std::vector<WeightedTerm> terms;
    for (std::int64_t i = t - (std::int64_t{1} << j) + 1; i <= t; ++i) terms.push_back({i, 1});
    return terms;
  }

  std::vector<WeightedTerm> Estimate(std::int64_t t) const override {
    BANDANA_CHECK(t >= 1 && t <= steps());
    std::vector<WeightedTerm> terms;
    std::int64_t end = 0;
    for (int h = Levels(t) - 1; h >= 0; --h) {
      if (!(Bits(t) >> h & 1)) continue;
      AddNode(end, h, terms);
      end += std::int64_t{1} << h;
    }
    return terms;
  }

  double Variance(std::int64_t t) const override {
    BANDANA_CHECK(t >= 1 && t <= steps());
    return TreeVariance(mechanism(), t);
  }

 private:
  // Adds the node of height `top` that begins after step `start`. For Honaker each node of height h below it
  // has the weight v_h (1 - v_(h+1)) ... (1 - v_top) = 2^h/(2^(top + 1) - 1).
  void AddNode(std::int64_t start, int top, std::vector<WeightedTerm>& terms) const {
    if (mechanism() == PrefixSumMechanism::kTree) {
      terms.push_back({NodeIndex(start + (std::int64_t{1} << top), top), 1});
      return;
    }
    for (int h = 0; h <= top; ++h) {
      const double weight = std::ldexp(1, h) / (std::ldexp(1, top + 1) - 1);
      const std::int64_t size = std::int64_t{1} << h;
      for (std::int64_t i = 1; i <= std::int64_t{1} << (top - h); ++i) {
        terms.push_back({NodeIndex(start + i * size, h), weight});
      }
    }
  }
};

// Calls use(c_k) for k = 0, ..., count - 1: c_0 = 1, c_k = c_(k-1) (2k - 1)/(2k). This is the power series of
// 1/sqrt(1 - z), whose square is 1/(1 - z). In long doubles the relative error stays below 2^-63 (2 k + 1).
template <class Use>
void ForCoefficients(std::int64_t count, Use use) {
  long double c = 1;
  for (std::int64_t k = 0; k < count; ++k) {
    if (k > 0) c *= static_cast<long double>(2 * k - 1) / static_cast<long double>(2 * k);
    use(c);
  }
}

// Returns c_0^2 + ... + c_(n-1)^2 with a relative error of 1e-12. The terms are added up to 2^20. Beyond that
// it uses c_k^2 = (1 - O(k^-2))/(pi (k + 1/4)), whose integral by the midpoint rule is an upper bound.
double ToeplitzSquares(std::int64_t n) {
  constexpr std::int64_t kSummed = std::int64_t{1} << 20;
  long double squares = 0;
  ForCoefficients(std::min(n, kSummed), [&](long double c) { squares += c * c; });
  if (n > kSummed) {
    const auto rest = static_cast<long double>(n - kSummed);
    squares += std::log1p(rest / (kSummed - 0.25L)) / std::numbers::pi_v<long double>;
  }
  return static_cast<double>(squares);
}

class ToeplitzStrategy : public PrefixSumStrategy {
 public:
  explicit ToeplitzStrategy(std::int64_t n) : PrefixSumStrategy(PrefixSumMechanism::kToeplitz, n) {
    coefficients_.reserve(static_cast<std::size_t>(n));
    ForCoefficients(n, [&](long double c) { coefficients_.push_back(static_cast<double>(c)); });
  }

  std::int64_t ReleasedBy(std::int64_t t) const override {
    BANDANA_CHECK(t >= 0 && t <= steps());
    return t;
  }

  std::vector<WeightedTerm> Functional(std::int64_t t, std::int64_t j) const override {
    BANDANA_CHECK(j == 0);
    return Row(t, 1);
  }

  std::vector<WeightedTerm> Estimate(std::int64_t t) const override { return Row(t, 0); }

  double Variance(std::int64_t t) const override {
    BANDANA_CHECK(t >= 1 && t <= steps());
    return ToeplitzSquares(t);
  }

 private:
  // Returns the weights c_(t-1), ..., c_0 as terms; the first has the index `first`.
  std::vector<WeightedTerm> Row(std::int64_t t, std::int64_t first) const {
    BANDANA_CHECK(t >= 1 && t <= steps());
    std::vector<WeightedTerm> terms;
    terms.reserve(static_cast<std::size_t>(t));
    for (std::int64_t i = 0; i < t; ++i) {
      terms.push_back({first + i, coefficients_[static_cast<std::size_t>(t - 1 - i)]});
    }
    return terms;
  }

  std::vector<double> coefficients_;
};

PrefixSumCost Cost(PrefixSumMechanism mechanism, std::int64_t n) {
  constexpr double kGuard = 1 + 1e-12;  // exceeds the error of ToeplitzSquares and of the coefficients
  if (mechanism == PrefixSumMechanism::kToeplitz) {
    const double squares = ToeplitzSquares(n);
    return {.sensitivity = std::sqrt(squares) * kGuard,
            .touched = n,
            .max_variance = squares,
            .last_variance = squares,
            .memory = n,
            .released = n};
  }
  const int levels = Levels(n);
  return {.sensitivity = SqrtUp(levels),
          .touched = levels,
          .max_variance = MaxTreeVariance(mechanism, n),
          .last_variance = TreeVariance(mechanism, n),
          .memory = levels,
          .released = NodesBy(n)};
}

PrefixSumSetting Setting(PrefixSumMechanism mechanism, const PrefixSumCost& cost, double sigma,
                         DpGuarantee delivered) {
  return {mechanism, cost, sigma, sigma * std::sqrt(cost.max_variance), sigma * std::sqrt(cost.last_variance),
          delivered};
}

}  // namespace

std::string_view NameOf(PrefixSumMechanism mechanism) {
  switch (mechanism) {
    case PrefixSumMechanism::kTree:
      return "tree";
    case PrefixSumMechanism::kHonaker:
      return "honaker";
    case PrefixSumMechanism::kToeplitz:
      return "toeplitz";
  }
  return "";
}

absl::StatusOr<std::unique_ptr<const PrefixSumStrategy>> PrefixSumStrategy::Create(
    PrefixSumMechanism mechanism, std::int64_t n) {
  if (mechanism == PrefixSumMechanism::kToeplitz) {
    BANDANA_RETURN_IF_ERROR(CheckSteps(n, kMostCoefficients));
    return std::make_unique<const ToeplitzStrategy>(n);
  }
  BANDANA_RETURN_IF_ERROR(CheckSteps(n, kMostSteps));
  return std::make_unique<const TreeStrategy>(mechanism, n);
}

absl::StatusOr<PrefixSumCost> CostOfPrefixSum(PrefixSumMechanism mechanism, std::int64_t n) {
  BANDANA_RETURN_IF_ERROR(CheckSteps(n, kMostSteps));
  return Cost(mechanism, n);
}

absl::StatusOr<PrefixSumMechanism> BestPrefixSum(std::int64_t n, std::optional<std::int64_t> memory) {
  BANDANA_RETURN_IF_ERROR(CheckSteps(n, kMostSteps));
  std::optional<PrefixSumMechanism> best;
  double least = 0;
  std::int64_t smallest = 0;
  std::int64_t needed = kMostSteps;
  for (const PrefixSumMechanism mechanism : kMechanisms) {
    const PrefixSumCost cost = Cost(mechanism, n);
    needed = std::min(needed, cost.memory);
    if (memory.has_value() && cost.memory > *memory) continue;
    const double variance = cost.sensitivity * cost.sensitivity * cost.max_variance;
    if (!best.has_value() || std::pair(variance, cost.memory) < std::pair(least, smallest)) {
      best = mechanism;
      least = variance;
      smallest = cost.memory;
    }
  }
  if (!best.has_value()) {
    return InvalidOption("memory", fmt::format("{}", *memory),
                         fmt::format("at least {} numbers for n = {}", needed, n));
  }
  return *best;
}

absl::StatusOr<PrefixSumSetting> TightPrefixSum(PrefixSumMechanism mechanism, std::int64_t n,
                                                DpGuarantee guarantee, double sensitivity) {
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumCost cost, CostOfPrefixSum(mechanism, n));
  BANDANA_RETURN_IF_ERROR(CheckPositive("sensitivity", sensitivity));
  BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(guarantee));
  return Setting(mechanism, cost, ProductUp(multiplier, ProductUp(cost.sensitivity, sensitivity)), guarantee);
}

absl::StatusOr<PrefixSumSetting> PaperPrefixSum(std::int64_t n, DpGuarantee guarantee, double sensitivity) {
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumCost cost, CostOfPrefixSum(PrefixSumMechanism::kTree, n));
  BANDANA_RETURN_IF_ERROR(CheckPositive("sensitivity", sensitivity));
  BANDANA_RETURN_IF_ERROR(TightGaussianMultiplier(guarantee).status());
  const int m = 1 + Levels(n - 1);  // 1 + ceil(log2 n)
  const double sigma =
      4 * std::sqrt(static_cast<double>(m)) * sensitivity * std::log(2 / guarantee.delta) / guarantee.epsilon;
  constexpr double kGuard = 1 - 1e-12;  // the quotient is rounded; the claim must assume less noise, not more
  const double multiplier = sigma / (cost.sensitivity * sensitivity) * kGuard;
  return Setting(PrefixSumMechanism::kTree, cost, sigma,
                 {GaussianEpsilon(guarantee.delta, multiplier), guarantee.delta});
}

absl::StatusOr<double> PrefixSumGridSensitivity(const PrefixSumCost& cost, double sensitivity, double unit,
                                                std::int64_t coordinates, double value_error) {
  BANDANA_RETURN_IF_ERROR(CheckPositive("sensitivity", sensitivity));
  BANDANA_RETURN_IF_ERROR(CheckPositive("unit", unit));
  if (!(coordinates >= 1 && coordinates <= kMostSteps)) {
    return InvalidOption("coordinates", fmt::format("{}", coordinates),
                         fmt::format("a whole number from 1 to {}", kMostSteps));
  }
  if (!(value_error >= 0 && value_error <= calibration::kMost)) {
    return InvalidOption("value_error", value_error, "a finite number >= 0");
  }
  const double moved = QuotientUp(ProductUp(cost.sensitivity, sensitivity), unit);
  if (value_error == 0) return moved;
  const double roots =
      ProductUp(SqrtUp(static_cast<double>(cost.touched)), SqrtUp(static_cast<double>(coordinates)));
  return NextUp(moved + ProductUp(2 * value_error, roots));
}

}  // namespace bandana
