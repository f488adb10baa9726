#include "bandana/privacy/samplers/rounded_normal.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/generators.h"
#include "bandana/core/noise_door.h"
#include "gtest/gtest.h"

// Seeds are fixed, except where the operating system supplies the bits. Each comparison has a false-alarm
// rate of 1e-6 over seeds, or 1e-9 with the system's bits, and there are about 30. Planted violations must
// fail the same comparisons.
namespace bandana {
namespace {

using internal::RoundedNormalByDigits;
using Sampler = absl::FunctionRef<std::int64_t(std::uint64_t, NoiseGen&)>;

constexpr int kDraws = 200'000;

struct Noise {
  explicit Noise(std::uint64_t seed) : source(Key(seed)), gen(NoiseDoor::Open(source)) {}
  static StreamKey Key(std::uint64_t seed) {
    StreamKey key;
    key.seed = seed;
    key.stream = Stream::kPrivacy;
    return key;
  }
  PhiloxSource source;
  NoiseGen gen;
};

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Returns whether draws pass a chi-square test against the cells [width i, width (i + 1)) of a normal of this
// standard deviation. Cells are joined until 25 draws are expected in each.
bool LooksNormal(double stddev, double width, NoiseGen& gen, absl::FunctionRef<std::int64_t(NoiseGen&)> draw,
                 double false_alarm = 1e-6) {
  const auto half = static_cast<std::int64_t>(std::ceil(8 * stddev / width));
  std::vector<double> counts(2 * half);
  for (int i = 0; i < kDraws; ++i) {
    const auto cell = static_cast<std::int64_t>(std::floor(static_cast<double>(draw(gen)) / width));
    counts[std::clamp(cell + half, std::int64_t{0}, 2 * half - 1)] += 1;
  }
  double statistic = 0, seen = 0, start = 0;
  int cells = 0;
  for (std::int64_t i = 0; i < 2 * half; ++i) {
    seen += counts[i];
    const double end = i + 1 == 2 * half ? 1 : NormalCdf(static_cast<double>(i + 1 - half) * width / stddev);
    const double expected = kDraws * (end - start);
    const bool last = i + 1 == 2 * half;
    if (!last && (expected < 25 || kDraws * (1 - end) < 25)) continue;
    statistic += (seen - expected) * (seen - expected) / expected;
    seen = 0;
    start = end;
    ++cells;
  }
  return boost::math::cdf(complement(boost::math::chi_squared(cells - 1), statistic)) > false_alarm;
}

void ExpectTheLaw(Sampler sampler, std::uint64_t seed) {
  Noise noise(seed);
  for (const std::uint64_t stddev : {1, 2, 3, 10}) {
    EXPECT_TRUE(LooksNormal(static_cast<double>(stddev), 1, noise.gen, [&](NoiseGen& gen) {
      return sampler(stddev, gen);
    })) << stddev;
  }
  for (const std::uint64_t stddev : {std::uint64_t{12'345}, (std::uint64_t{1} << 52) - 1}) {
    EXPECT_TRUE(LooksNormal(static_cast<double>(stddev), static_cast<double>(stddev) / 16, noise.gen,
                            [&](NoiseGen& gen) { return sampler(stddev, gen); }))
        << stddev;
  }
}

TEST(RoundedNormalTest, HasTheLawOfAFlooredNormal) { ExpectTheLaw(RoundedNormal, 1); }
TEST(RoundedNormalTest, HasTheSameLawByBytes) { ExpectTheLaw(RoundedNormalByDigits<8>, 2); }
TEST(RoundedNormalTest, HasTheSameLawBySingleBits) { ExpectTheLaw(RoundedNormalByDigits<1>, 3); }
TEST(RoundedNormalTest, TheFastOneHasTheSameLaw) { ExpectTheLaw(FastRoundedNormal, 4); }

TEST(RoundedNormalTest, HasTheLawWithSecureBits) {
  SecureSource source;
  NoiseGen gen = NoiseDoor::Open(source);
  const auto draw = [](NoiseGen& from) { return RoundedNormal(3, from); };
  EXPECT_TRUE(LooksNormal(3, 1, gen, draw, 1e-9));
  EXPECT_FALSE(LooksNormal(3, 1, gen, [](NoiseGen& from) { return RoundedNormal(2, from); }, 1e-9));
}

TEST(RoundedNormalTest, HalfTheNoiseIsSeen) {
  Noise noise(5);
  EXPECT_FALSE(LooksNormal(10, 1, noise.gen, [](NoiseGen& gen) { return RoundedNormal(5, gen); }));
}

TEST(RoundedNormalTest, TwoPerCentTooMuchNoiseIsSeen) {
  Noise noise(6);
  EXPECT_FALSE(LooksNormal(100, 8, noise.gen, [](NoiseGen& gen) { return RoundedNormal(102, gen); }));
}

TEST(RoundedNormalTest, RoundingTowardsZeroIsSeen) {
  Noise noise(7);
  const auto truncated = [](NoiseGen& gen) {
    const std::int64_t x = RoundedNormal(10, gen);
    return x < 0 ? x + 1 : x;
  };
  EXPECT_FALSE(LooksNormal(10, 1, noise.gen, truncated));
}

// At a standard deviation of at least 2^51, the low bits come from the far end of the 128-bit product.
TEST(RoundedNormalTest, LowBitsAreUniform) {
  constexpr std::uint64_t kStddev = (std::uint64_t{1} << 51) + 987'654'321;
  const auto statistic = [](Sampler sampler, std::uint64_t seed) {
    Noise noise(seed);
    std::vector<double> counts(256);
    for (int i = 0; i < kDraws; ++i) counts[sampler(kStddev, noise.gen) & 255] += 1;
    double sum = 0;
    for (const double count : counts)
      sum += (count - kDraws / 256.) * (count - kDraws / 256.) / (kDraws / 256.);
    return sum;
  };
  const double limit = quantile(complement(boost::math::chi_squared(255), 1e-6));
  EXPECT_LT(statistic(RoundedNormal, 8), limit);
  EXPECT_LT(statistic(RoundedNormalByDigits<1>, 9), limit);
  const auto coarse = [](std::uint64_t stddev, NoiseGen& gen) {
    return RoundedNormal(stddev >> 8, gen) * 256;
  };
  EXPECT_GT(statistic(coarse, 10), limit);
}

class ScriptedSource final : public BitSource {
 public:
  explicit ScriptedSource(std::vector<std::uint64_t> script) : script_(std::move(script)) {}
  void Refill(std::span<std::uint64_t> words) override {
    std::fill(words.begin(), words.end(), 0);
    std::copy_n(script_.begin(), std::min(script_.size(), words.size()), words.begin());
  }
  bool secure() const override { return false; }

 private:
  std::vector<std::uint64_t> script_;
};

// x is near 1/3, times 3: after each word of 0x5555... the product is below 1 by one unit in the last place.
TEST(RoundedNormalTest, ReadsFurtherDigitsUntilTheFloorIsDecided) {
  constexpr std::uint64_t kThird = 0x5555555555555555;
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  const auto draw = [](std::vector<std::uint64_t> digits, std::uint64_t sign) {
    std::vector<std::uint64_t> script = {1, 2};    // H fails: k = 0
    script.insert(script.end(), {kThird, kOnes});  // x, then a uniform above x: B succeeds
    script.insert(script.end(), digits.begin(), digits.end());
    script.push_back(sign);
    ScriptedSource source(script);
    NoiseGen gen = NoiseDoor::Open(source);
    return RoundedNormal(3, gen);
  };
  EXPECT_EQ(draw({kThird - 1}, 0), 0);
  EXPECT_EQ(draw({kThird + 1}, 0), 1);
  EXPECT_EQ(draw({kThird, kThird, 0}, 0), 0);
  EXPECT_EQ(draw({kThird, kThird, kOnes}, 0), 1);
  EXPECT_EQ(draw({kThird - 1}, kOnes), -1);
  EXPECT_EQ(draw({kThird, kThird, kOnes}, kOnes), -2);
}

TEST(RoundedNormalTest, IsAFunctionOfItsKey) {
  Noise first(11);
  Noise again(11);
  Noise other(12);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t x = RoundedNormal(1 << 30, first.gen);
    EXPECT_EQ(x, RoundedNormal(1 << 30, again.gen));
    same += x == RoundedNormal(1 << 30, other.gen);
  }
  EXPECT_EQ(same, 0);
}

TEST(RoundedNormalDeathTest, BadStandardDeviationsEndTheProgram) {
  Noise noise(13);
  for (const std::uint64_t stddev : {std::uint64_t{0}, std::uint64_t{1} << 52}) {
    EXPECT_DEATH(RoundedNormal(stddev, noise.gen), "stddev > 0");
    EXPECT_DEATH(FastRoundedNormal(stddev, noise.gen), "stddev > 0");
  }
}

}  // namespace
}  // namespace bandana
