// PrivacyLossDistribution::ComposeAll: one transform per event, a product of powers, one transform back. This
// is done twice, the second time tilted. docs/proofs/accounting.md, "Composition by FFT".

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <limits>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/golden_section.h"
#include "bandana/core/infinity.h"
#include "bandana/privacy/accounting/fft.h"
#include "bandana/privacy/accounting/privacy_loss_distribution.h"

namespace bandana {
namespace {

constexpr std::size_t kTogether = 8;
constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;

// Computes an upper bound on ln of the sum of p exp(lambda loss). Masses are pooled: each is split between
// the ends of its pool such that its mean stays. A chord lies above the convex exponential, so this is an
// upper bound.
class LogMoment {
 public:
  explicit LogMoment(const PrivacyLossDistribution& distribution) {
    constexpr std::int64_t kPools = 2048;
    const std::vector<double>& masses = distribution.masses();
    const auto cells = static_cast<std::int64_t>(masses.size());
    const std::int64_t width = (cells + kPools - 1) / kPools;
    step_ = static_cast<double>(width) * distribution.spacing();
    low_ = static_cast<double>(distribution.lowest()) * distribution.spacing();
    pools_.assign(static_cast<std::size_t>((cells - 1) / width + 2), 0.0);
    for (std::int64_t i = 0; i < cells; ++i) {
      const double part = static_cast<double>(i % width) / static_cast<double>(width);
      pools_[i / width] += masses[i] * (1 - part);
      pools_[i / width + 1] += masses[i] * part;
    }
    while (pools_.size() > 1 && pools_.back() == 0) pools_.pop_back();
  }

  double operator()(double lambda) const {
    const double high = low_ + step_ * static_cast<double>(pools_.size() - 1);
    const double most = lambda * (lambda > 0 ? high : low_);
    const double decay = std::exp(-std::abs(lambda) * step_);
    // Horner's rule, which begins at the far end.
    double sum = 0;
    if (lambda > 0) {
      for (const double pool : pools_) sum = sum * decay + pool;
    } else {
      for (auto pool = pools_.rbegin(); pool != pools_.rend(); ++pool) sum = sum * decay + *pool;
    }
    return most + std::log(sum) + 1e-12;
  }

  double reach() const {
    return std::max(std::abs(low_), std::abs(low_ + step_ * static_cast<double>(pools_.size() - 1)));
  }

 private:
  double low_;
  double step_;
  std::vector<double> pools_;
};

struct Item {
  PrivacyLossDistribution distribution;
  std::int64_t count;
  LogMoment moment;
};

double LogMomentOfSum(const std::vector<Item>& items, double lambda) {
  double sum = 0;
  for (const Item& item : items) sum += static_cast<double>(item.count) * item.moment(lambda);
  return sum;
}

struct Chernoff {
  double threshold;  // P(sum beyond it) <= tail
  double lambda;
};

// Returns the best threshold over lambda > 0 (sign = 1, upper tail) or lambda < 0 (lower tail). Any lambda is
// valid, so the search need not be exact.
Chernoff TailThreshold(const std::vector<Item>& items, double sign, double tail) {
  double total_reach = 0;
  double reach = 0;
  for (const Item& item : items) {
    reach = std::max(reach, item.moment.reach());
    total_reach += static_cast<double>(item.count) * item.moment.reach();
  }
  if (!(reach > 0)) return {0, 1};
  const auto threshold = [&](double log_lambda) {
    const double lambda = std::exp(log_lambda);
    return (LogMomentOfSum(items, sign * lambda) - std::log(tail)) / lambda;
  };
  const double best = GoldenSection(threshold, std::log(1e-3 / total_reach), std::log(1e3 / reach), 0.01);
  return {sign * threshold(best), sign * std::exp(best)};
}

std::complex<double> Power(std::complex<double> base, std::int64_t exponent) {
  std::complex<double> result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

struct Window {
  std::int64_t first;
  std::int64_t last;
};

// Lowers each entry of `upper` to an upper bound on the composition's mass at that cell, if this tilt has a
// better bound. With q_k = p_k exp(lambda k h - K(lambda)), the composition's tilted masses are those of the
// q's.
void BoundCells(const std::vector<Item>& items, double lambda, Window window, RealFft& fft,
                std::vector<double>& upper) {
  const std::size_t length = fft.length();
  const double spacing = items.front().distribution.spacing();
  const std::size_t half = length / 2 + 1;
  std::vector<std::complex<double>> product(half, 1.0);
  std::vector<double> log_magnitude(half, 0.0);  // ln of the product's magnitude, an upper bound
  std::vector<std::vector<double>> log_factors;  // ln of the magnitude of each item's spectrum, upper bounds
  std::vector<double> spectrum_errors;           // in l2, over the whole spectrum
  std::vector<double> folded(length);
  std::vector<std::complex<double>> spectrum;
  double offset = 0;       // offset of the cyclic index
  double log_scale = 0;    // ln of the factor that undoes the tilt, at loss 0
  double input_error = 0;  // relative error of the product of all tilted masses
  double releases = 0;
  for (const Item& item : items) {
    const PrivacyLossDistribution& distribution = item.distribution;
    const auto count = static_cast<double>(item.count);
    const double log_norm = item.moment(lambda);
    std::fill(folded.begin(), folded.end(), 0.0);
    const auto& masses = distribution.masses();
    double largest = 0;
    for (std::size_t i = 0; i < masses.size(); ++i) {
      if (masses[i] == 0) continue;
      const double loss = static_cast<double>(distribution.lowest() + static_cast<std::int64_t>(i)) * spacing;
      const double exponent = lambda * loss - log_norm;
      folded[i % length] += masses[i] * std::exp(exponent);
      largest = std::max(largest, std::abs(lambda * loss));
    }
    input_error += count * kUnit *
                   (8 + 2 * largest + 2 * std::abs(log_norm) +
                    static_cast<double>(masses.size()) / static_cast<double>(length));
    log_scale += count * log_norm;
    offset += count * static_cast<double>(distribution.lowest());
    releases += count;
    fft.Forward(folded, spectrum);
    double square = 0;
    for (const double value : folded) square += value * value;
    const double error = fft.relative_error() * std::sqrt(static_cast<double>(length) * square) * 1.001;
    spectrum_errors.push_back(error);
    std::vector<double>& log_factor = log_factors.emplace_back(half);
    for (std::size_t i = 0; i < half; ++i) {
      product[i] *= Power(spectrum[i], item.count);
      log_factor[i] = std::log(std::abs(spectrum[i]) + 2 * error);
      log_magnitude[i] += count * log_factor[i];
    }
  }

  // The error of each cell is at most the mean error of the product over the spectrum, plus the error of the
  // inverse.
  const auto weight = [&](std::size_t i) { return i == 0 || i == length / 2 ? 1.0 : 2.0; };
  double product_sum = 0;
  for (std::size_t i = 0; i < half; ++i) product_sum += weight(i) * std::exp(log_magnitude[i]);
  double spectrum_error = product_sum * 8 * kUnit * (releases + static_cast<double>(items.size()));
  for (std::size_t j = 0; j < items.size(); ++j) {
    double square = 0;
    for (std::size_t i = 0; i < half; ++i) {
      square += weight(i) * std::exp(2 * (log_magnitude[i] - log_factors[j][i]));
    }
    spectrum_error += static_cast<double>(items[j].count) * spectrum_errors[j] * std::sqrt(square);
  }
  std::vector<double> cells;
  fft.Inverse(product, cells);
  double square = 0;
  for (const double value : cells) square += value * value;
  const double error =
      1.01 * (spectrum_error / static_cast<double>(length) + fft.relative_error() * std::sqrt(square));

  const double log_guard = input_error + 1e-14 + 4 * kUnit * std::abs(log_scale);
  const auto start = static_cast<std::int64_t>(offset);
  const auto modulus = static_cast<std::int64_t>(length);
  for (std::int64_t k = window.first; k <= window.last; ++k) {
    const double shift = lambda * static_cast<double>(k) * spacing;
    const double exponent = log_scale - shift + log_guard + 4 * kUnit * std::abs(shift);
    if (exponent > 600) continue;
    const std::int64_t cyclic = ((k - start) % modulus + modulus) % modulus;
    double& cell = upper[static_cast<std::size_t>(k - window.first)];
    cell =
        std::min(cell, (std::max(0.0, cells[static_cast<std::size_t>(cyclic)]) + error) * std::exp(exponent));
  }
}

}  // namespace

PrivacyLossDistribution PrivacyLossDistribution::ComposeAll(std::span<const Repeated> list,
                                                            const ComposeOptions& options) {
  BANDANA_CHECK(options.tail_mass > 0 && options.tail_mass < 1 && options.max_cells >= 1024);
  double spacing = 0;
  for (const Repeated& item : list) {
    BANDANA_CHECK(item.distribution != nullptr && item.count >= 0 && item.count < std::int64_t{1} << 50);
    if (item.count == 0) continue;
    spacing = std::max(spacing, item.distribution->spacing_);
  }
  PrivacyLossDistribution result;
  if (spacing == 0) {  // there are no releases
    result.masses_ = {1.0};
    return result;
  }
  // A coarse grid would widen each of many small losses. So those on finer grids are composed separately
  // first.
  std::deque<PrivacyLossDistribution> sums;
  std::vector<Repeated> parts;
  for (const Repeated& item : list) {
    if (item.count == 0) continue;
    const bool finer = item.distribution->spacing_ < spacing && item.count > 1;
    if (finer) sums.push_back(item.distribution->SelfCompose(item.count, options));
    parts.push_back(finer ? Repeated{&sums.back(), 1} : item);
    spacing = std::max(spacing, parts.back().distribution->spacing_);
  }

  // Only a few spectra are held in memory at a time.
  while (parts.size() > kTogether) {
    std::vector<Repeated> fewer;
    for (std::size_t i = 0; i < parts.size(); i += kTogether) {
      const auto some = std::span(parts).subspan(i, std::min(kTogether, parts.size() - i));
      fewer.push_back({&sums.emplace_back(ComposeAll(some, options)), 1});
    }
    parts = std::move(fewer);
  }

  double log_finite = 0;  // ln of the probability that no release has an infinite loss
  for (const Repeated& item : parts) {
    log_finite += static_cast<double>(item.count) * std::log1p(-item.distribution->infinity_mass_);
  }
  result.infinity_mass_ = std::min(1.0, -std::expm1(log_finite) * (1 + 1e-14));
  if (log_finite == -kInfinity) return result;

  std::vector<Item> items;
  Window window{};
  for (;; spacing *= 2) {
    items.clear();
    double low = 0;
    double high = 0;
    for (const Repeated& item : parts) {
      PrivacyLossDistribution coarse = item.distribution->Coarsened(spacing);
      const auto count = static_cast<double>(item.count);
      low += count * static_cast<double>(coarse.lowest_);
      high +=
          count * static_cast<double>(coarse.lowest_ + static_cast<std::int64_t>(coarse.masses_.size()) - 1);
      LogMoment moment(coarse);
      items.push_back({std::move(coarse), item.count, std::move(moment)});
    }
    BANDANA_CHECK(std::max(std::abs(low), std::abs(high)) < 0x1p52);
    const double from = TailThreshold(items, -1, options.tail_mass).threshold / spacing;
    const double to = TailThreshold(items, 1, options.tail_mass).threshold / spacing;
    const double first = std::max(low, std::floor(from));
    const double last = std::max(first, std::min(high, std::ceil(to)));
    if (last - first >= static_cast<double>(options.max_cells)) continue;
    window = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
    if (last < high) result.infinity_mass_ = std::min(1.0, result.infinity_mass_ + options.tail_mass);
    result.spacing_ = spacing;
    result.lowest_ = window.first;
    result.masses_.assign(static_cast<std::size_t>(window.last - window.first) + 1, kInfinity);
    RealFft fft(RealFft::Length(result.masses_.size()));
    BoundCells(items, 0, window, fft, result.masses_);
    BoundCells(items, TailThreshold(items, 1, std::sqrt(options.tail_mass)).lambda, window, fft,
               result.masses_);
    for (double& mass : result.masses_) mass = std::min(mass, 1.0 + 1e-6);
    if (first > low) result.masses_.front() += options.tail_mass;
    return result;
  }
}

}  // namespace bandana
