#include "bandana/privacy/samplers/exact_binomial.h"

#include <bit>
#include <optional>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/bernoulli_exp.h"
#include "bandana/privacy/samplers/discrete_gaussian.h"
#include "bandana/privacy/samplers/karney.h"

namespace bandana {
namespace internal {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kMostByRejection = std::uint64_t{1} << 60;
constexpr std::uint64_t kMostByCounting = 3072;  // at this n both methods take about the same time

// Tosses coins whose probability depends on a real number D = whole + f that is uniform on a unit interval. f
// is drawn when a coin first depends on it, and kept.
class RealOdds {
 public:
  RealOdds(std::uint64_t whole, NoiseGen& gen) : whole_(whole), gen_(gen) {}

  // Returns true with probability D/total; whole < total.
  bool Over(std::uint64_t total) {
    const std::uint64_t pick = UniformBelow(total, gen_);
    return pick < whole_ || (pick == whole_ && FractionWins());
  }

  // Returns true with probability a/(total + D); a <= total + whole.
  bool SharePlus(std::uint64_t a, std::uint64_t total) {
    const std::uint64_t most = total + whole_;
    while (true) {
      const std::uint64_t pick = UniformBelow(most + 1, gen_);
      if (pick != most) return pick < a;
      if (FractionWins()) return false;
    }
  }

  // Returns true with probability a/(total - D); a <= total - whole - 1.
  bool ShareMinus(std::uint64_t a, std::uint64_t total) {
    const std::uint64_t most = total - whole_ - 1;
    while (true) {
      const std::uint64_t pick = UniformBelow(most + 1, gen_);
      if (pick != most) return pick < a;
      if (!FractionWins()) return false;
    }
  }

 private:
  // Returns true with probability f.
  bool FractionWins() {
    if (!fraction_) fraction_.emplace(gen_);
    LazyUniform<64> uniform(gen_);
    return uniform.Below(*fraction_, gen_);
  }

  std::uint64_t whole_;
  NoiseGen& gen_;
  std::optional<LazyUniform<64>> fraction_;
};

Wide UniformBelowWide(Wide n, NoiseGen& gen) {
  const Wide high = n >> 64;
  const int spare = high == 0 ? 64 + std::countl_zero(static_cast<std::uint64_t>(n))
                              : std::countl_zero(static_cast<std::uint64_t>(high));
  while (true) {
    const Wide word = gen();
    const Wide value = (word << 64 | gen()) >> spare;
    if (value < n) return value;
  }
}

// Returns true with probability C(n, n/2 + x)/C(n, n/2) exp(2 x^2/(n + 1)), for n even and x <= n/2. This is
// exp(-R), where R is the mean of x^2 2 D^2/(N (N - D) (N + D)), N = n + 1, over the law of D below, which is
// in (0, 2 x).
bool AcceptBinomial(std::uint64_t n, std::uint64_t x, NoiseGen& gen) {
  const std::uint64_t total = n + 1;
  const std::uint64_t most = 2 * x;
  const Wide square = Wide{most} * x;
  const Wide pieces = (square + (total - most) - 1) / (total - most);
  const auto event = [&] {  // the product of these probabilities is R/pieces
    if (!Bernoulli({most, total}, gen) || !Bernoulli({most, total}, gen)) return false;
    if (UniformBelowWide((total - most) * pieces, gen) >= square) return false;
    const std::uint64_t sum = 1 + UniformBelow(x, gen) + UniformBelow(x, gen);
    const std::uint64_t distance = sum > x ? sum - x : x - sum;
    RealOdds d(distance == 0 ? 0 : 2 * distance - 1 + (gen() >> 63), gen);
    return d.Over(most) && d.Over(most) && d.ShareMinus(total - most, total) && d.SharePlus(total, total);
  };
  for (Wide i = 0; i < pieces; ++i) {
    if (!BernoulliExpOfEvent(event, gen)) return false;
  }
  return true;
}

}  // namespace

std::uint64_t BinomialByCounting(std::uint64_t n, NoiseGen& gen) {
  std::uint64_t successes = 0;
  for (; n >= 64; n -= 64) successes += std::popcount(gen());
  return n == 0 ? successes : successes + std::popcount(gen() >> (64 - n));
}

std::uint64_t BinomialByRejection(std::uint64_t n, NoiseGen& gen) {
  BANDANA_CHECK(n <= kMostByRejection);
  const std::uint64_t half = n / 2;
  const std::uint64_t odd_one = n % 2 == 0 ? 0 : gen() >> 63;
  if (half == 0) return odd_one;
  while (true) {
    const std::int64_t x = DiscreteGaussianOfVariance({2 * half + 1, 4}, gen);
    const auto magnitude = static_cast<std::uint64_t>(x < 0 ? -x : x);
    if (magnitude > half || !AcceptBinomial(2 * half, magnitude, gen)) continue;
    return (x < 0 ? half - magnitude : half + magnitude) + odd_one;
  }
}

}  // namespace internal

std::uint64_t ExactBinomial(std::uint64_t n, NoiseGen& gen) {
  std::uint64_t successes = 0;
  for (; n > internal::kMostByRejection; n -= internal::kMostByRejection) {
    successes += internal::BinomialByRejection(internal::kMostByRejection, gen);
  }
  return successes + (n <= internal::kMostByCounting ? internal::BinomialByCounting(n, gen)
                                                     : internal::BinomialByRejection(n, gen));
}

std::uint64_t ExactBinomial(std::uint64_t n, Rational p, NoiseGen& gen) {
  BANDANA_CHECK(p.den > 0 && p.den < (std::uint64_t{1} << 63));
  BANDANA_CHECK(p.num <= p.den);
  if (p.num == p.den) return n;
  std::uint64_t successes = 0;
  std::uint64_t undecided = n;  // trials whose uniform agrees with p in all digits so far
  // Once the rest of p is zero, a uniform that still agrees with p is not below p.
  for (std::uint64_t rest = p.num; rest > 0 && undecided > 0;) {
    rest *= 2;
    const std::uint64_t ones = ExactBinomial(undecided, gen);
    if (rest >= p.den) {
      rest -= p.den;
      successes += undecided - ones;
      undecided = ones;
    } else {
      undecided -= ones;
    }
  }
  return successes;
}

}  // namespace bandana
