#include "bandana/privacy/accounting/privacy_loss_distribution.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/privacy/calibration/binomial_law.h"

namespace bandana {
namespace {

// Exceeds the relative error of a mass that the factories compute: masses are multiplied by 1 + this.
constexpr double kMassGuard = 1e-11;
// Gaussian and binomial tails beyond this many standard deviations, of mass below 2e-33, are cut.
constexpr double kCut = 12;
constexpr std::size_t kMostCells = std::size_t{1} << 26;

// Returns an upper bound on a loss that was computed with a few roundings.
double NudgedUp(double loss) { return loss + 1e-15 * std::abs(loss); }

bool IsPowerOfTwo(double x) {
  int exponent;
  return x > 0 && std::isfinite(x) && std::frexp(x, &exponent) == 0.5;
}

}  // namespace

double LossGrid(double scale, double cells) {
  BANDANA_CHECK(scale > 0 && std::isfinite(scale) && cells > 0 && std::isfinite(cells));
  return std::exp2(std::clamp(std::floor(std::log2(scale / cells)), -500.0, 500.0));
}

// Collects masses at any losses within [least, most].
class PrivacyLossDistribution::Builder {
 public:
  Builder(double least, double most, double spacing) : split_(-std::expm1(-spacing)) {
    BANDANA_CHECK(IsPowerOfTwo(spacing) && least <= most);
    const double low = std::floor(least / spacing);
    const double high = std::ceil(most / spacing);
    BANDANA_CHECK(high - low < kMostCells && std::abs(low) < 0x1p53 && std::abs(high) < 0x1p53);
    result_.spacing_ = spacing;
    result_.lowest_ = static_cast<std::int64_t>(low);
    result_.masses_.assign(static_cast<std::size_t>(high - low) + 2, 0.0);
  }

  // Splits the mass: p_a + p_b = mass and p_a exp(-a) + p_b exp(-b) = mass exp(-loss), where a and b are the
  // neighbouring grid points.
  void Add(double loss, double mass) {
    const double spacing = result_.spacing_;
    const double cell = std::floor(loss / spacing);
    const double above = loss - cell * spacing;
    const auto i = static_cast<std::size_t>(cell - static_cast<double>(result_.lowest_));
    result_.masses_[i] += mass * std::exp(-above) * -std::expm1(above - spacing) / split_;
    result_.masses_[i + 1] += mass * -std::expm1(-above) / split_;
  }

  // Adds a density of the loss over [least, most] that is smooth on the scale `smooth`. It uses
  // Gauss-Legendre with five nodes, on pieces of at most smooth/16 within one cell. The nodes are atoms to
  // Add: the weights are positive.
  template <class Density>
  void AddDensity(Density density, double least, double most, double smooth) {
    static constexpr double kNodes[] = {-0.90617984593866399280, -0.53846931010568309104, 0,
                                        0.53846931010568309104, 0.90617984593866399280};
    static constexpr double kWeights[] = {0.23692688505618908751, 0.47862867049936646804, 128. / 225,
                                          0.47862867049936646804, 0.23692688505618908751};
    const double spacing = result_.spacing_;
    const auto pieces = static_cast<int>(std::clamp(std::ceil(16 * spacing / smooth), 1.0, 1e6));
    for (double cell = std::floor(least / spacing); cell * spacing < most; ++cell) {
      for (int i = 0; i < pieces; ++i) {
        const double from = std::max(least, (cell + static_cast<double>(i) / pieces) * spacing);
        const double to = std::min(most, (cell + static_cast<double>(i + 1) / pieces) * spacing);
        if (!(from < to)) continue;
        const double half = (to - from) / 2;
        for (int j = 0; j < 5; ++j) {
          const double loss = (from + to) / 2 + half * kNodes[j];
          Add(loss, half * kWeights[j] * density(loss));
        }
      }
    }
  }

  PrivacyLossDistribution Finish(double infinity_mass) {
    std::vector<double>& masses = result_.masses_;
    while (masses.size() > 1 && masses.back() == 0) masses.pop_back();
    for (double& mass : masses) mass *= 1 + kMassGuard;
    result_.infinity_mass_ = std::min(1.0, infinity_mass * (1 + kMassGuard));
    return std::move(result_);
  }

 private:
  PrivacyLossDistribution result_;
  double split_;
};

PrivacyLossDistribution PrivacyLossDistribution::FromAtoms(std::span<const LossAtom> atoms,
                                                           double infinity_mass, double spacing) {
  BANDANA_CHECK(infinity_mass >= 0);
  double least = kInfinity;
  double most = -kInfinity;
  for (const LossAtom& atom : atoms) {
    BANDANA_CHECK(atom.mass >= 0 && std::isfinite(atom.mass) && !std::isnan(atom.loss));
    if (atom.mass == 0) continue;
    BANDANA_CHECK(atom.loss > -kInfinity);
    if (atom.loss == kInfinity) {
      infinity_mass += atom.mass;
      continue;
    }
    least = std::min(least, atom.loss);
    most = std::max(most, atom.loss);
  }
  if (!(least <= most)) least = most = 0;
  Builder builder(least, most, spacing);
  for (const LossAtom& atom : atoms) {
    if (atom.mass > 0 && atom.loss < kInfinity) builder.Add(atom.loss, atom.mass);
  }
  return builder.Finish(infinity_mass);
}

PrivacyLossDistribution PrivacyLossDistribution::Gaussian(double noise_multiplier, double spacing) {
  BANDANA_CHECK(noise_multiplier > 0 && std::isfinite(noise_multiplier));
  // The loss is N(mu^2/2, mu^2).
  const double mu = 1 / noise_multiplier;
  const double mean = mu * mu / 2;
  const double least = mean - kCut * mu;
  const double most = mean + kCut * mu;
  const double tail = 0.5 * std::erfc(kCut * (std::numbers::sqrt2 / 2));
  Builder builder(least, most, spacing);
  const double height = 1 / (mu * std::sqrt(2 * std::numbers::pi));
  builder.AddDensity(
      [&](double loss) {
        const double z = (loss - mean) / mu;
        return height * std::exp(-0.5 * z * z);
      },
      least, most, std::min(mu, 1.0));
  builder.Add(least, tail);
  return builder.Finish(tail);
}

PrivacyLossDistribution PrivacyLossDistribution::Laplace(double scale, double spacing) {
  BANDANA_CHECK(scale > 0 && std::isfinite(scale));
  const double epsilon = 1 / scale;
  Builder builder(-epsilon, epsilon, spacing);
  builder.AddDensity([&](double loss) { return 0.25 * std::exp((loss - epsilon) / 2); }, -epsilon, epsilon,
                     1);
  builder.Add(epsilon, 0.5);
  builder.Add(-epsilon, 0.5 * std::exp(-epsilon));
  return builder.Finish(0);
}

PrivacyLossDistribution PrivacyLossDistribution::DiscreteLaplace(double scale, std::int64_t shift,
                                                                 double spacing) {
  BANDANA_CHECK(scale > 0 && std::isfinite(scale) && shift >= 1);
  const double rate = 1 / scale;
  const double most = static_cast<double>(shift) * rate;
  // P(0) = (1 - e^-r)/(1 + e^-r); P(x <= 0) = 1/(1 + e^-r).
  const double decay = std::exp(-rate);
  const double centre = -std::expm1(-rate) / (1 + decay);
  Builder builder(-most, most, spacing);
  builder.Add(most, 1 / (1 + decay));
  // For 0 < x < shift. All x whose total mass is below 1e-33 count as the first of them.
  for (std::int64_t x = 1; x < shift; ++x) {
    const double at = static_cast<double>(x);
    const double loss = NudgedUp(most - 2 * at * rate);
    if (at * rate > 80) {
      builder.Add(loss, std::exp(-at * rate) / (1 + decay));
      return builder.Finish(0);
    }
    builder.Add(loss, centre * std::exp(-at * rate));
  }
  builder.Add(-most, std::exp(-most) / (1 + decay));
  return builder.Finish(0);
}

PrivacyLossDistribution PrivacyLossDistribution::SymmetricBinomial(std::int64_t n, std::int64_t shift,
                                                                   double spacing) {
  BANDANA_CHECK(n >= 1 && shift >= 1);
  // P = Bin(n, 1/2), Q = P + shift. The loss decreases with x, so the outcomes below `first` have the largest
  // losses.
  const double reach = kCut * std::sqrt(static_cast<double>(n)) / 2 + 1;
  const auto middle = n / 2;
  const auto first = std::max(shift, middle - static_cast<std::int64_t>(reach));
  const auto last = std::min(n, middle + static_cast<std::int64_t>(reach) + 1);
  if (first > last) return FromAtoms({}, 1, spacing);
  const auto log_mass = [n](std::int64_t x) {
    return LogBinomial(static_cast<double>(x), static_cast<double>(n), 0.5, 0.5);
  };
  const auto loss_from = [&](std::int64_t x, double here) {
    const double there = log_mass(x - shift);
    return here - there + BinomialLogError(here) + BinomialLogError(there);
  };
  const double infinity_mass = BinomialLowerTail(first - 1, n, 0.5);
  Builder builder(loss_from(last, log_mass(last)), loss_from(first, log_mass(first)), spacing);
  for (std::int64_t x = first; x <= last; ++x) {
    const double here = log_mass(x);
    builder.Add(loss_from(x, here), std::exp(here + BinomialLogError(here)));
  }
  builder.Add(loss_from(last, log_mass(last)), BinomialUpperTail(last + 1, n, 0.5));
  return builder.Finish(infinity_mass);
}

PrivacyLossDistribution PrivacyLossDistribution::DiscreteGaussian(double sigma, std::int64_t shift,
                                                                  double spacing) {
  BANDANA_CHECK(sigma > 0 && std::isfinite(sigma) && shift >= 1);
  // P(x) = exp(-x^2/(2 sigma^2))/Z. The loss against x - shift is (shift - 2 x) shift/(2 sigma^2), decreasing
  // in x.
  const double width = 2 * sigma * sigma;
  const double reach = std::ceil(kCut * sigma) + 1;
  BANDANA_CHECK(reach < kMostCells);
  const auto weight = [width](double x) { return std::exp(-x * x / width); };
  // By Poisson's summation Z is sigma sqrt(2 pi) (1 + 2 exp(-2 pi^2 sigma^2) + ...), a little more than the
  // first term.
  double total = sigma * std::sqrt(2 * std::numbers::pi);
  if (sigma < 4) {
    total = weight(0);
    for (double x = reach; x >= 1; --x) total += 2 * weight(x);  // never more than Z
  }
  const double d = static_cast<double>(shift);
  const auto loss = [&](double x) { return NudgedUp((d - 2 * x) * d / width); };
  // Beyond `reach` each ratio is below exp(-reach/sigma^2), so the mass there is at most this.
  const double tail = weight(reach + 1) / -std::expm1(-2 * reach / width) / total;
  Builder builder(loss(reach), loss(-reach), spacing);
  for (double x = -reach; x <= reach; ++x) builder.Add(loss(x), weight(x) / total);
  builder.Add(loss(reach), tail);
  return builder.Finish(tail);
}

PrivacyLossDistribution PrivacyLossDistribution::PureDp(double epsilon, double spacing) {
  return ApproximateDp(epsilon, 0, spacing);
}

PrivacyLossDistribution PrivacyLossDistribution::ApproximateDp(double epsilon, double delta, double spacing) {
  BANDANA_CHECK(epsilon >= 0 && std::isfinite(epsilon) && delta >= 0 && delta <= 1);
  const double low = 1 / (1 + std::exp(epsilon));
  const LossAtom atoms[] = {{epsilon, (1 - delta) / (1 + std::exp(-epsilon))}, {-epsilon, (1 - delta) * low}};
  return FromAtoms(atoms, delta, spacing);
}

PrivacyLossDistribution PrivacyLossDistribution::Coarsened(double spacing) const {
  if (spacing == spacing_) return *this;
  BANDANA_CHECK(spacing > spacing_);
  const auto last = lowest_ + static_cast<std::int64_t>(masses_.size()) - 1;
  Builder builder(static_cast<double>(lowest_) * spacing_, static_cast<double>(last) * spacing_, spacing);
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    if (masses_[i] > 0) {
      builder.Add(static_cast<double>(lowest_ + static_cast<std::int64_t>(i)) * spacing_, masses_[i]);
    }
  }
  return builder.Finish(infinity_mass_);
}

PrivacyLossDistribution PrivacyLossDistribution::SelfCompose(std::int64_t count,
                                                             const ComposeOptions& options) const {
  const Repeated list[] = {{this, count}};
  return ComposeAll(list, options);
}

// Goes from the top down, with S = sum of p_j, T = sum of p_j exp(-(j - k) h) and A = S - T over j >= k, all
// sums of positive terms: Delta(k h - t) = infinity + A + T (1 - exp(-t)) for 0 <= t <= h.
double PrivacyLossDistribution::Delta(double epsilon) const {
  BANDANA_CHECK(!std::isnan(epsilon));
  const double decay = std::exp(-spacing_);
  const double rise = -std::expm1(-spacing_);
  const double guard = 1 + 1e-15 * (8 + static_cast<double>(masses_.size()));
  double sum = 0;
  double discounted = 0;
  double excess = 0;
  double delta = infinity_mass_;
  for (std::size_t i = masses_.size(); i-- > 0;) {
    const double at = static_cast<double>(lowest_ + static_cast<std::int64_t>(i)) * spacing_;
    if (at <= epsilon) break;
    excess = excess * decay + sum * rise;
    sum += masses_[i];
    discounted = discounted * decay + masses_[i];
    const double below = std::min(at - epsilon, i > 0 ? spacing_ : kInfinity);
    delta = infinity_mass_ + excess + discounted * -std::expm1(-below);
  }
  return std::min(1.0, delta * guard);
}

double PrivacyLossDistribution::Epsilon(double delta) const {
  BANDANA_CHECK(delta >= 0);
  if (delta >= 1) return 0;
  const double guard = 1 + 1e-15 * (8 + static_cast<double>(masses_.size()));
  const double target = delta / guard;
  if (infinity_mass_ > target) return kInfinity;
  const double decay = std::exp(-spacing_);
  const double rise = -std::expm1(-spacing_);
  double sum = 0;
  double discounted = 0;
  double excess = 0;
  for (std::size_t i = masses_.size(); i-- > 0;) {
    const double at = static_cast<double>(lowest_ + static_cast<std::int64_t>(i)) * spacing_;
    if (at <= 0) return 0;
    excess = excess * decay + sum * rise;
    sum += masses_[i];
    discounted = discounted * decay + masses_[i];
    const double spare = target - infinity_mass_ - excess;
    if (spare >= discounted * (i > 0 ? rise : 1)) continue;
    const double epsilon = at + std::log1p(-std::max(0.0, spare) / discounted);
    return std::max(0.0, epsilon + 4e-16 * at);
  }
  return 0;
}

double DominatingPair::Delta(double epsilon) const {
  return std::max(forward.Delta(epsilon), backward.has_value() ? backward->Delta(epsilon) : 0.0);
}

double DominatingPair::Epsilon(double delta) const {
  return std::max(forward.Epsilon(delta), backward.has_value() ? backward->Epsilon(delta) : 0.0);
}

DominatingPair DominatingPair::ComposeAll(std::span<const Repeated> list) {
  std::vector<PrivacyLossDistribution::Repeated> forward;
  std::vector<PrivacyLossDistribution::Repeated> backward;
  bool symmetric = true;
  for (const Repeated& item : list) {
    const DominatingPair& pair = *item.pair;
    symmetric &= !pair.backward.has_value();
    forward.push_back({&pair.forward, item.count});
    backward.push_back({pair.backward.has_value() ? &*pair.backward : &pair.forward, item.count});
  }
  DominatingPair result{PrivacyLossDistribution::ComposeAll(forward), std::nullopt};
  if (!symmetric) result.backward = PrivacyLossDistribution::ComposeAll(backward);
  return result;
}

}  // namespace bandana
