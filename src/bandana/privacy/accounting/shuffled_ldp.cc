#include "bandana/privacy/accounting/shuffled_ldp.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/privacy/calibration/binomial_law.h"

namespace bandana {
namespace {

constexpr double kReach = 12;  // standard deviations
// On average. To count fewer clones than there are never improves the bound.
constexpr double kMostClones = 2e8;

// Takes slightly fewer clones than there are on average, so that rounding is on the safe side. 1 - p keeps
// all its digits.
double CloneProbability(double epsilon0) { return std::min(std::exp(-epsilon0) * (1 - 1e-15), 0.999); }

// Adds the pair for `clones` clones, weighted. If u reports look like the one value and v like the other, u +
// v = clones + 1, the loss is ln((exp(epsilon0) u + v)/(u + exp(epsilon0) v)), which increases with u.
void AddClones(std::int64_t clones, double weight, double epsilon0, bool keep_rare,
               std::vector<LossAtom>& atoms, double& infinity_mass) {
  const double truthful = 1 / (1 + std::exp(-epsilon0));
  const double other = 1 / (1 + std::exp(epsilon0));
  const double decay = std::exp(-epsilon0);
  const auto reach = static_cast<std::int64_t>(kReach * std::sqrt(static_cast<double>(clones)) / 2 + 2);
  const std::int64_t first = std::max<std::int64_t>(0, clones / 2 - reach);
  const std::int64_t last = std::min(clones + 1, clones / 2 + reach + 1);
  const auto loss = [&](std::int64_t count) {
    const auto u = static_cast<double>(count);
    const auto v = static_cast<double>(clones + 1 - count);
    // ln((u + v/e)/(v + u/e)) = ln(1 + (u - v)(1 - 1/e)/(v + u/e))
    const double value = std::log1p((u - v) * -std::expm1(-epsilon0) / (v + u * decay));
    return std::min(epsilon0, value + 1e-15 * (1 + std::abs(value)));
  };
  const auto mass = [&](std::int64_t x) { return BinomialMass(x, clones, 0.5); };
  double before = mass(first - 1);
  for (std::int64_t u = first; u <= last; ++u) {
    const double here = mass(u);
    atoms.push_back({loss(u), weight * (truthful * before + other * here)});
    before = here;
  }
  if (first > 0) atoms.push_back({loss(first), weight * BinomialLowerTail(first - 1, clones, 0.5)});
  if (last <= clones) {
    const double rare = weight * BinomialUpperTail(last, clones, 0.5);
    if (keep_rare) {
      atoms.push_back({epsilon0, rare});
    } else {
      infinity_mass += rare;
    }
  }
}

}  // namespace

double ShuffledLdpScale(double epsilon0, std::int64_t n) {
  const double clones = std::min(static_cast<double>(n - 1) * CloneProbability(epsilon0), kMostClones);
  return std::min(epsilon0, 2 * std::tanh(epsilon0 / 2) / std::sqrt(clones + 1));
}

PrivacyLossDistribution ShuffledLdpLoss(double epsilon0, std::int64_t n, double spacing) {
  BANDANA_CHECK(epsilon0 > 0 && std::isfinite(epsilon0) && n >= 1 && n <= std::int64_t{1} << 53);
  const double p = CloneProbability(epsilon0);
  const std::int64_t trials = std::min(n - 1, static_cast<std::int64_t>(std::min(kMostClones / p, 0x1p53)));
  const double mean = static_cast<double>(trials) * p;
  const auto reach = static_cast<std::int64_t>(kReach * std::sqrt(mean * (1 - p)) + kReach * kReach / 2);
  const std::int64_t first = std::max<std::int64_t>(0, static_cast<std::int64_t>(mean) - reach);
  const std::int64_t last = std::min(trials, static_cast<std::int64_t>(mean) + reach + 1);
  // Masses of 1e-30 at epsilon0 keep the loss bounded, unless that needs too many grid points.
  const bool keep_rare = 2 * epsilon0 / spacing < 0x1p18;

  std::vector<LossAtom> atoms;
  double infinity_mass = 0;
  if (first > 0) {
    const double rare = BinomialLowerTail(first - 1, trials, p);
    if (keep_rare) {
      AddClones(0, rare, epsilon0, true, atoms, infinity_mass);
    } else {
      infinity_mass += rare;
    }
  }
  // Blocks as wide as 1e-4 of the number of clones make losses too large by a relative 0.5e-4.
  const double blocks = std::clamp(1e4 * static_cast<double>(last - first) / (mean + 1), 16.0, 512.0);
  const std::int64_t width = static_cast<std::int64_t>(static_cast<double>(last - first) / blocks) + 1;
  for (std::int64_t block = first; block <= last; block += width) {
    double weight = 0;
    for (std::int64_t c = block; c < block + width && c <= last; ++c) weight += BinomialMass(c, trials, p);
    if (block + width > last && last < trials) weight += BinomialUpperTail(last + 1, trials, p);
    weight *= 1 + 1e-15 * static_cast<double>(width);
    if (weight > 1e-300) {
      AddClones(block, weight, epsilon0, keep_rare, atoms, infinity_mass);
    } else {
      infinity_mass += weight;
    }
  }
  return PrivacyLossDistribution::FromAtoms(atoms, infinity_mass, spacing);
}

}  // namespace bandana
