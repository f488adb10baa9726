#include "bandana/privacy/calibration/shuffle_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/binomial_law.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// The tails that are cut may take this share of the delta that matters.
constexpr double kTailShare = 1e-8;
// The least number of grid cells per standard deviation of a coordinate's loss. Epsilon is then too large by
// about 1e-4 of itself.
constexpr double kCells = 32;
// If there are more outcomes per standard deviation, neighbouring ones are grouped and count as the worst of
// them.
constexpr double kOutcomes = 4096;
constexpr double kMostNoiseBits = 0x1p62;
constexpr double kMostBitsCounted = 0x1p53;
constexpr double kMostBits = 65536;  // per coordinate, in the search for a setting within the loss
constexpr double kLeastDelta = 1e-25;
constexpr std::int64_t kMostDimension = 100'000;
constexpr double kMostEpsilon = 100;  // above this no guarantee is worth the search

absl::Status Validate(const ShuffleSumParams& params) {
  const auto [epsilon, delta] = params.guarantee;
  if (!(params.clients >= 1 && params.clients <= Count{1} << 40)) {
    return InvalidOption("clients", std::to_string(params.clients), "a whole number in [1, 2^40]");
  }
  if (!(params.dimension >= 1 && params.dimension <= kMostDimension)) {
    return InvalidOption("dimension", std::to_string(params.dimension), "a whole number in [1, 10^5]");
  }
  if (!(epsilon >= std::numeric_limits<double>::min() && epsilon <= kMostEpsilon)) {
    return InvalidField(Part::kPrivacy, "epsilon", epsilon, "a number in (0, 100]");
  }
  if (!(delta >= kLeastDelta && delta < 1)) {
    return InvalidField(Part::kPrivacy, "delta", delta, "a number in [1e-25, 1)");
  }
  if (!(params.hiding >= 1 && params.hiding <= params.clients)) {
    return InvalidOption("hiding", std::to_string(params.hiding),
                         fmt::format("a whole number from 1 to {}, the number of clients", params.clients));
  }
  return absl::OkStatus();
}

absl::Status TooMuchNoise(const ShuffleSumParams& params) {
  return InvalidField(Part::kPrivacy, "epsilon", params.guarantee.epsilon,
                      "one that fewer than 2^53 bits of noise in all can give");
}

// The pair of one coordinate: Bin(N, p), and Bin(N, p) shifted up.
class ShiftedBinomial {
 public:
  ShiftedBinomial(const ShuffleSumView& view, double tail_mass)
      : n_(std::min(static_cast<double>(view.noise_bits), kMostBitsCounted)),
        p_(view.p),
        q_(1 - view.p),
        shift_(static_cast<double>(view.shift)) {
    const double mean = n_ * p_;
    const double deviation = std::sqrt(mean * q_);
    const double target = std::log(tail_mass);
    first_ = std::floor(mean - std::sqrt(-2 * target) * deviation);
    last_ = std::ceil(mean + std::sqrt(-2 * target) * deviation);
    const auto heavy = [&](double x) { return LogBinomialTailBound(x, n_, p_, q_) > target; };
    while (first_ > 0 && heavy(first_ - 1)) first_ -= std::ceil(deviation / 8);
    while (last_ < n_ && heavy(last_ + 1)) last_ += std::ceil(deviation / 8);
    first_ = std::max(first_, 0.0);
    last_ = std::min(last_, n_);
    stride_ = std::ceil(deviation / kOutcomes);
    if (p_ != 0.5) {
      mean_error_ =
          std::max(BinomialMeanError(first_ - shift_, n_, p_), BinomialMeanError(last_ + shift_, n_, p_));
    }
    if (stride_ > 1) return;
    for (double x = first_; x <= last_; ++x) logs_.push_back(LogBinomial(x, n_, p_, q_));
  }

  double Error(double log_mass) const { return BinomialLogError(log_mass) + mean_error_; }

  // Returns the loss of X ~ Bin(N, p). With `up`, X is observed as X + shift and the other law is not
  // shifted; the loss then increases with x. Otherwise X is observed as X and the other law is shifted; the
  // loss then decreases.
  PrivacyLossDistribution Loss(bool up, double spacing) const {
    std::vector<LossAtom> atoms;
    double infinity_mass = 0;
    for (double x = first_; x <= last_; x += stride_) {
      const double end = std::min(x + stride_ - 1, last_);
      const double worst = up ? end : x;
      const double log_worst = Log(worst);
      const double log_largest =
          stride_ == 1 ? log_worst : Log(std::clamp(std::floor((n_ + 1) * p_), x, end));
      const double mass = (end - x + 1) * std::exp(log_largest + Error(log_largest));
      const double there = up ? worst + shift_ : worst - shift_;
      if (there < 0 || there > n_) {
        infinity_mass += mass;
        continue;
      }
      const double log_there = Log(there);
      atoms.push_back({log_worst - log_there + Error(log_worst) + Error(log_there), mass});
    }
    // Beyond the ends the loss is infinite where losses are large, and the last one seen where they are
    // small.
    const double below = first_ > 0 ? std::exp(LogBinomialTailBound(first_ - 1, n_, p_, q_)) : 0;
    const double above = last_ < n_ ? std::exp(LogBinomialTailBound(last_ + 1, n_, p_, q_)) : 0;
    infinity_mass += up ? above : below;
    if (atoms.empty()) {
      infinity_mass = 1;
    } else {
      atoms.push_back({(up ? atoms.front() : atoms.back()).loss, up ? below : above});
    }
    return PrivacyLossDistribution::FromAtoms(atoms, std::min(1.0, infinity_mass), spacing);
  }

  double deviation() const { return std::sqrt(n_ * p_ * q_); }

 private:
  double Log(double x) const {
    const double i = x - first_;
    return i >= 0 && i < static_cast<double>(logs_.size()) ? logs_[static_cast<std::size_t>(i)]
                                                           : LogBinomial(x, n_, p_, q_);
  }

  double n_;
  double p_;
  double q_;
  double shift_;
  double first_;  // outcomes from first_ to last_ are visited in steps of stride_
  double last_;
  double stride_;
  double mean_error_ = 0;     // if n p is rounded
  std::vector<double> logs_;  // ln of the masses from first_ on, if stride_ is 1
};

// Takes the larger mass at every point, an upper bound on both in any composition.
PrivacyLossDistribution Larger(const PrivacyLossDistribution& a, const PrivacyLossDistribution& b) {
  const auto end = [](const PrivacyLossDistribution& x) {
    return x.lowest() + static_cast<std::int64_t>(x.masses().size());
  };
  const auto mass = [&](const PrivacyLossDistribution& x, std::int64_t i) {
    return i < x.lowest() || i >= end(x) ? 0 : x.masses()[static_cast<std::size_t>(i - x.lowest())];
  };
  std::vector<LossAtom> atoms;
  for (std::int64_t i = std::min(a.lowest(), b.lowest()); i < std::max(end(a), end(b)); ++i) {
    atoms.push_back({static_cast<double>(i) * a.spacing(), std::max(mass(a, i), mass(b, i))});
  }
  return PrivacyLossDistribution::FromAtoms(atoms, std::max(a.infinity_mass(), b.infinity_mass()),
                                            a.spacing());
}

class TightSearch {
 public:
  TightSearch(const ShuffleSumParams& params, double gaussian_stddev)
      : params_(params),
        hiding_(static_cast<double>(params.hiding)),
        beta_(4 * gaussian_stddev * gaussian_stddev / hiding_) {}

  struct Choice {
    double levels;
    double noise_bits;
    double epsilon;  // delivered
  };

  // With b + 1 <= (1 + loss)^2 beta g^2, beta = 4 gaussian_stddev^2/hiding, the error is within the loss.
  // About beta g^2 noise bits are needed. So g increases to the next value at which the largest allowed b
  // increases.
  absl::StatusOr<Choice> Run() const {
    if (!(2 * beta_ * hiding_ < kMostBitsCounted)) return TooMuchNoise(params_);
    const double allowed = (1 + params_.loss) * (1 + params_.loss) * beta_;
    double g = 1;
    double b = 0;
    while (g + beta_ * g * g <= std::max(kMostBits, 1 + beta_)) {
      const double most = std::min(std::floor(allowed * g * g - 1), std::floor(kMostBitsCounted / hiding_));
      if (most > b && MayBeEnough(g, most)) {
        b = most;
        if (const auto epsilon = Epsilon(g, b)) return LeastNoise(g, b, *epsilon);
      }
      g = std::max(g + 1, std::ceil(std::sqrt((std::max(most, 0.0) + 2) / allowed)));
    }
    g = std::max(1.0, std::floor((std::sqrt(1 + 4 * beta_ * kMostBits) - 1) / (2 * beta_)));
    b = std::ceil(std::max(1.0, beta_ * g * g));
    for (; b * hiding_ <= kMostBitsCounted; b *= 2) {
      if (const auto epsilon = Epsilon(g, b)) return LeastNoise(g, b, *epsilon);
    }
    return TooMuchNoise(params_);
  }

 private:
  // Saves attempts: no binomial was seen to give a guarantee with a whole bit less than a Gaussian's
  // variance.
  bool MayBeEnough(double g, double b) const { return b * hiding_ + 1 >= beta_ * g * g * hiding_; }

  // Returns the epsilon that g levels and b noise bits deliver, if it meets the guarantee.
  std::optional<double> Epsilon(double g, double b) const {
    const ShuffleSumView view{static_cast<std::int64_t>(b * hiding_), 0.5, static_cast<std::int64_t>(g),
                              params_.dimension};
    const auto [epsilon, delta] = params_.guarantee;
    const PrivacyLossDistribution loss = ShuffleSumLoss(view, delta);
    if (!(loss.Delta(epsilon) <= delta)) return std::nullopt;
    return std::min(epsilon, loss.Epsilon(delta));
  }

  // Searches for the least b. More noise never loses privacy, so the least b is the one after the largest
  // that fails. `enough` does not fail; it delivers `epsilon`. The search starts at a Gaussian's b with
  // growing steps, then halves.
  Choice LeastNoise(double g, double enough, double epsilon) const {
    double low = 0;
    double high = enough;
    double next = std::min(std::ceil(beta_ * g * g), high - 1);
    for (double step = 1; high - low > 1; step *= 2) {
      if (!(next > low && next < high)) next = std::floor((low + high) / 2);
      if (const auto delivered = Epsilon(g, next)) {
        high = next;
        epsilon = *delivered;
        next -= step;
      } else {
        low = next;
        next += step;
      }
    }
    return {g, high, epsilon};
  }

  const ShuffleSumParams& params_;
  double hiding_;
  double beta_;
};

// Returns the largest change of a coordinate's count: from the lowest to the highest integer that can
// represent it.
std::int64_t Shift(double levels, double span) {
  const double low = std::floor(levels / 2 * (1 - span) - 1e-9);
  const double high = std::ceil(levels / 2 * (1 + span) + 1e-9);
  return static_cast<std::int64_t>(std::min(high, levels) - std::max(low, 0.0));
}

// Fills in everything but `delivered`.
absl::StatusOr<ShuffleSumSetting> Describe(const ShuffleSumParams& params, double levels, double noise_bits,
                                           double p, double span) {
  const double clients = static_cast<double>(params.clients);
  if (!((noise_bits + levels) * clients < kMostNoiseBits)) {
    return InvalidField(Part::kPrivacy, "epsilon", params.guarantee.epsilon,
                        "one that needs fewer than 2^62 bits in all");
  }
  BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(params.guarantee));
  ShuffleSumSetting setting{};
  setting.levels = static_cast<std::int64_t>(levels);
  setting.noise_bits = static_cast<std::int64_t>(noise_bits);
  setting.p = p;
  setting.span = span;
  const double noise_variance = clients * noise_bits * p * (1 - p);
  setting.stddev = std::sqrt(noise_variance + clients / 4) / (levels * span);
  setting.noise_stddev = std::sqrt(noise_variance) / (levels * span);
  setting.gaussian_stddev = multiplier * std::sqrt(static_cast<double>(params.dimension));
  setting.bits_per_coordinate = setting.levels + setting.noise_bits;
  setting.bits_as_count = std::bit_width(static_cast<std::uint64_t>(setting.bits_per_coordinate));
  const double hiding = static_cast<double>(params.hiding);
  setting.within_loss =
      setting.stddev <= (1 + params.loss) * setting.gaussian_stddev * std::sqrt(clients / hiding);
  return setting;
}

absl::StatusOr<ShuffleSumSetting> Published(const ShuffleSumParams& params, double levels, double noise_bits,
                                            double p, double span) {
  BANDANA_ASSIGN_OR_RETURN(ShuffleSumSetting setting, Describe(params, levels, noise_bits, p, span));
  const ShuffleSumView view{setting.noise_bits * params.hiding, p, Shift(levels, span), params.dimension};
  const double delta = params.guarantee.delta;
  setting.delivered = {ShuffleSumLoss(view, delta).Epsilon(delta), delta};
  return setting;
}

}  // namespace

PrivacyLossDistribution ShuffleSumLoss(const ShuffleSumView& view, double resolution) {
  BANDANA_CHECK(view.noise_bits >= 1 && view.shift >= 1 && view.dimension >= 1);
  BANDANA_CHECK(view.p == 0.5 || view.p == 0.25);
  BANDANA_CHECK(resolution > 0 && resolution <= 1);
  const double dimension = static_cast<double>(view.dimension);
  const ShiftedBinomial pair(view, kTailShare * resolution / dimension);
  const double scale = static_cast<double>(view.shift) / pair.deviation();
  // The second bound limits what the grid adds to all losses together, dimension h^2/8.
  const double spacing = LossGrid(std::min(scale, kCells * std::sqrt(1e-3 / dimension)), kCells);
  PrivacyLossDistribution one = pair.Loss(true, spacing);
  if (view.p != 0.5) one = Larger(one, pair.Loss(false, spacing));
  const PrivacyLossDistribution::Repeated all[] = {{&one, view.dimension}};
  return PrivacyLossDistribution::ComposeAll(all, {.tail_mass = kTailShare * resolution});
}

absl::StatusOr<ShuffleSumSetting> TightShuffleSum(const ShuffleSumParams& params) {
  BANDANA_RETURN_IF_ERROR(Validate(params));
  if (!(params.loss >= 0 && std::isfinite(params.loss))) {
    return InvalidOption("loss", params.loss, "a finite number >= 0");
  }
  BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(params.guarantee));
  const double gaussian_stddev = multiplier * std::sqrt(static_cast<double>(params.dimension));
  BANDANA_ASSIGN_OR_RETURN(const TightSearch::Choice choice, TightSearch(params, gaussian_stddev).Run());
  BANDANA_ASSIGN_OR_RETURN(ShuffleSumSetting setting,
                           Describe(params, choice.levels, choice.noise_bits, 0.5, 1));
  setting.delivered = {choice.epsilon, params.guarantee.delta};
  return setting;
}

namespace {

// The published constants. A setting has levels(n, s) levels and constant(s) levels^2/n noise bits, rounded
// up.
struct PublishedSum {
  double p;
  double most_dimension;
  std::function<double(double n, double s)> levels;
  std::function<double(double s)> constant;
  std::function<double(double s)> span;
};

PublishedSum PublishedScalar(const DpGuarantee& guarantee) {
  const double constant = 180 * std::log(2 / guarantee.delta) / (guarantee.epsilon * guarantee.epsilon);
  return {.p = 0.5,
          .most_dimension = 1,
          .levels = [](double n, double) { return std::ceil(std::sqrt(n)); },
          .constant = [constant](double) { return constant; },
          .span = [](double) { return 1.0; }};
}

PublishedSum PublishedVector(const DpGuarantee& guarantee) {
  return {.p = 0.25,
          .most_dimension = static_cast<double>(kMostDimension),
          .levels = [](double n, double s) { return std::ceil(std::max({2 * std::sqrt(n), s, 4.0})); },
          .constant =
              [guarantee](double s) {
                const double log = std::log(4 * (s * s + 1) / guarantee.delta);
                return 24e4 * log * log / (guarantee.epsilon * guarantee.epsilon);
              },
          .span = [](double s) { return 1 / std::sqrt(s); }};
}

// Returns the end of the bracket that begins with `first`. Numbers below 8 are alone.
double BracketEnd(double first, double most) { return std::min(most, first + std::floor(first / 8)); }

// Returns a bound on Shift for every number of levels up to `levels` and every span up to `span`.
std::int64_t MostShift(double levels, double span) {
  return static_cast<std::int64_t>(std::min(levels, std::floor(levels * span) + 2));
}

// Levels, constants and hiding clients grow with n and s, and the span falls. So in a bracket the loss is at
// most that of the least noise and the largest shift and dimension.
double LargestEpsilon(const PublishedSum& sum, const DpGuarantee& guarantee, const Collusion& collusion,
                      Count most_clients) {
  double largest = 0;
  const auto most = static_cast<double>(most_clients);
  for (double n = 1, n_end = 1; n <= most; n = n_end + 1) {
    n_end = BracketEnd(n, most);
    const auto hiding = static_cast<double>(collusion.Hiding(static_cast<Count>(n)));
    for (double s = 1, s_end = 1; s <= sum.most_dimension; s = s_end + 1) {
      s_end = BracketEnd(s, sum.most_dimension);
      const double levels = sum.levels(n, s);
      const bool alone = n == n_end && s == s_end;
      const double noise_bits = std::floor(sum.constant(s) * levels * levels / n_end * hiding);
      if (!(noise_bits >= 1)) return guarantee.epsilon;
      const ShuffleSumView view{
          static_cast<std::int64_t>(std::min(noise_bits, 0x1p53)), sum.p,
          alone ? Shift(levels, sum.span(s)) : MostShift(sum.levels(n_end, s_end), sum.span(s)),
          static_cast<std::int64_t>(s_end)};
      const absl::StatusOr<double> epsilon = CpSgdEpsilon(view, guarantee.delta);
      if (!epsilon.ok() || !(*epsilon < guarantee.epsilon)) return guarantee.epsilon;
      largest = std::max(largest, *epsilon);
    }
  }
  return largest;
}

absl::StatusOr<ShuffleSumSetting> AsPublished(const ShuffleSumParams& params, const PublishedSum& sum) {
  const auto n = static_cast<double>(params.clients);
  const auto s = static_cast<double>(params.dimension);
  const double g = sum.levels(n, s);
  return Published(params, g, std::ceil(sum.constant(s) * g * g / n), sum.p, sum.span(s));
}

}  // namespace

double PaperScalarEpsilon(const DpGuarantee& guarantee, const Collusion& collusion, Count most_clients) {
  return LargestEpsilon(PublishedScalar(guarantee), guarantee, collusion, most_clients);
}

double PaperVectorEpsilon(const DpGuarantee& guarantee, const Collusion& collusion, Count most_clients) {
  return LargestEpsilon(PublishedVector(guarantee), guarantee, collusion, most_clients);
}

absl::StatusOr<ShuffleSumSetting> PaperScalarSum(const ShuffleSumParams& params) {
  BANDANA_RETURN_IF_ERROR(Validate(params));
  if (params.dimension != 1) return InvalidOption("dimension", std::to_string(params.dimension), "1");
  return AsPublished(params, PublishedScalar(params.guarantee));
}

absl::Status CheckPaperVectorSum(const DpGuarantee& guarantee) {
  const auto [epsilon, delta] = guarantee;
  if (!(epsilon < 15)) return InvalidField(Part::kPrivacy, "epsilon", epsilon, "a number in (0, 15)");
  if (!(delta < 0.5)) return InvalidField(Part::kPrivacy, "delta", delta, "a number in [1e-25, 0.5)");
  return absl::OkStatus();
}

absl::StatusOr<ShuffleSumSetting> PaperVectorSum(const ShuffleSumParams& params) {
  BANDANA_RETURN_IF_ERROR(Validate(params));
  BANDANA_RETURN_IF_ERROR(CheckPaperVectorSum(params.guarantee));
  return AsPublished(params, PublishedVector(params.guarantee));
}

absl::StatusOr<double> CpSgdEpsilon(const ShuffleSumView& view, double delta) {
  BANDANA_CHECK(view.noise_bits >= 1 && view.shift >= 1 && view.dimension >= 1 && view.p > 0 && view.p < 1);
  if (!(delta > 0 && delta < 1)) return InvalidField(Part::kPrivacy, "delta", delta, "a number in (0, 1)");
  const double d = static_cast<double>(view.dimension);
  const double shift = static_cast<double>(view.shift);
  const double p = view.p;
  const double q = 1 - p;
  const double variance = static_cast<double>(view.noise_bits) * p * q;
  const double least = std::max(23 * std::log(10 * d / delta), 2 * shift);
  if (!(variance >= least)) {
    return InvalidOption("noise_bits", std::to_string(view.noise_bits),
                         "at least " + std::to_string(std::ceil(least / (p * q))) + " for this theorem");
  }
  const double b_p = 2. / 3 * (p * p + q * q) + (1 - 2 * p);
  const double c_p = std::sqrt(2) * (3 * p * p * p + 3 * q * q * q + 2 * p * p + 2 * q * q);
  const double d_p = 4. / 3 * (p * p + q * q);
  const double l1 = shift * d;
  const double l2 = shift * std::sqrt(d);
  const double gaussian = l2 * std::sqrt(2 * std::log(1.25 / delta) / variance);
  const double skew = (l2 * c_p * std::sqrt(std::log(10 / delta)) + l1 * b_p) / (variance * (1 - delta / 10));
  const double tail =
      shift * (2. / 3 * std::log(1.25 / delta) + d_p * std::log(20 * d / delta) * std::log(10 / delta)) /
      variance;
  return gaussian + skew + tail;
}

}  // namespace bandana
