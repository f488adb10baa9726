#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

// Attacks on the mean mechanisms. Two neighbouring inputs, as far apart as the bounds allow; what the
// adversary sees, projected on the direction between them; and for each of some thresholds a lower bound on
// epsilon at the claimed delta, ln((P - delta)/Q), from exact (Clopper and Pearson) limits on P and Q. All
// limits of one attack hold together with probability 1 - 1e-6, so a claim that is true is refuted with at
// most that probability over seeds. Seeds are fixed and nothing is retried. Every fault that is planted must
// be refuted by the same attack.
namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;
/// What the adversary sees of the first (false) or the second neighbour.
using View = absl::FunctionRef<double(bool second, NoiseGen& noise)>;

constexpr double kFalseAlarm = 1e-6;

double LowerLimit(double successes, double trials, double level) {
  if (successes == 0) return 0;
  return quantile(boost::math::beta_distribution<>(successes, trials - successes + 1), level);
}

double UpperLimit(double successes, double trials, double level) {
  if (successes == trials) return 1;
  return quantile(complement(boost::math::beta_distribution<>(successes + 1, trials - successes), level));
}

// The largest epsilon that the draws refute at this delta. `centre` and `scale` are where thresholds are
// sought: the middle between the neighbours and the noise that the claim promises, both public.
double RefutedEpsilon(View view, double centre, double scale, double delta, int draws, std::uint64_t seed) {
  constexpr int kThresholds = 33;
  const auto threshold = [&](int i) { return centre + scale * (i - kThresholds / 2) / 4; };
  std::vector<double> above[2];
  for (const bool second : {false, true}) {
    test::Noise noise(seed + second);
    std::vector<double> cells(kThresholds + 1);
    for (int i = 0; i < draws; ++i) {
      const double seen = (view(second, noise.gen) - threshold(0)) / (threshold(1) - threshold(0));
      cells[static_cast<std::size_t>(std::clamp(std::ceil(seen), 0.0, double{kThresholds}))] += 1;
    }
    // above[i]: how many passed threshold i.
    above[second].resize(kThresholds);
    double passed = 0;
    for (int i = kThresholds; i > 0; --i) above[second][i - 1] = passed += cells[i];
  }
  const double level = kFalseAlarm / (4 * kThresholds);  // two directions, two limits each
  const double n = draws;
  double refuted = 0;
  for (int i = 0; i < kThresholds; ++i) {
    const auto try_event = [&](double likely, double unlikely) {
      const double p = LowerLimit(likely, n, level) - delta;
      if (p > 0) refuted = std::max(refuted, std::log(p / UpperLimit(unlikely, n, level)));
    };
    try_event(above[1][i], above[0][i]);
    try_event(n - above[0][i], n - above[1][i]);
  }
  return refuted;
}

const MeanQuery kQuery{{{-1, 1}, {-0.5, 2}, {0, 0.25}}, 3};
constexpr DpGuarantee kClaim{1, 0.01};

std::vector<double> Corner(const MeanQuery& query, bool high) {
  std::vector<double> corner;
  for (const Interval& bound : query.bounds) corner.push_back(high ? bound.high : bound.low);
  return corner;
}

template <class P>
Units Randomized(const P& mean, const MeanQuery& query, const std::vector<double>& averages,
                 NoiseGen& noise) {
  std::vector<RewardSum> rewards;
  for (const double average : averages) rewards.push_back({1, average});
  const auto report = mean.Randomize(query, Raw<RewardSums>(rewards), noise);
  EXPECT_TRUE(report.ok()) << report.status();
  return Wire::Units(*report);
}

// Reports of clients 1, 2, ..., added as `adder` adds them.
template <class P>
ReportSum SumOf(const P& adder, const MeanQuery& query, const std::vector<Units>& reports) {
  ReportSum sum;
  std::uint32_t client = 0;
  for (const Units& units : reports) {
    EXPECT_TRUE(adder.Add(query, Wire::FromUnits(NodeId{++client}, units), sum).ok());
  }
  return sum;
}

// What the server lets out, as the sum of the clients' averages.
std::vector<double> Seen(const CentralGaussianMean& mean, const MeanQuery& query, const ReportSum& sum,
                         NoiseGen& noise) {
  std::vector<double> entries = mean.Open(query, *mean.Seal(sum, noise))->value().entries;
  for (double& entry : entries) entry *= static_cast<double>(query.clients);
  return entries;
}

std::vector<double> Values(const Units& units) {
  std::vector<double> values;
  for (const std::int64_t unit : units) values.push_back(static_cast<double>(unit) * GridMean::kUnit);
  return values;
}

template <class P>
P Made(DpGuarantee guarantee, Sampler sampler = Sampler::kFast,
       Calibration calibration = Calibration::kTight) {
  auto made = P::Create({guarantee, calibration, sampler});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// What is seen, along the direction from the first neighbour to the second, from their middle.
struct Direction {
  explicit Direction(const MeanQuery& query) {
    for (const Interval& bound : query.bounds) {
      const double range = bound.high - bound.low;
      length += range * range;
      direction.push_back(range);
      middle.push_back((bound.low + bound.high) / 2);
    }
    length = std::sqrt(length);
  }
  double operator()(const std::vector<double>& values) const {
    double along = 0;
    for (std::size_t i = 0; i < values.size(); ++i) along += direction[i] / length * (values[i] - middle[i]);
    return along;
  }
  double operator()(const Units& units) const { return (*this)(Values(units)); }
  std::vector<double> direction, middle;
  double length = 0;
};

const Direction kDirection(kQuery);

double NoiseOf(DpGuarantee claim) { return *TightGaussianMultiplier(claim) * kDirection.length; }

// Attack on what the central server lets out: one client of three is replaced, the others are known to the
// adversary. The noise is set by `query`; `adder` says how reports are added to the sum.
template <class P>
double AttackSeal(const CentralGaussianMean& mean, const P& adder, const MeanQuery& query,
                  const std::vector<Units>& changed, DpGuarantee claim, int draws, std::uint64_t seed) {
  const Units others(kQuery.bounds.size(), 0);
  const ReportSum sums[2] = {SumOf(adder, query, {changed[0], others, others}),
                             SumOf(adder, query, {changed[1], others, others})};
  const auto view = [&](bool second, NoiseGen& noise) {
    return kDirection(Seen(mean, query, sums[second], noise));
  };
  return RefutedEpsilon(view, 0, NoiseOf(claim), claim.delta, draws, seed);
}

template <class P>
std::vector<Units> CornerReports(const P& mean) {
  test::Noise unused(0);
  return {Randomized(mean, kQuery, Corner(kQuery, false), unused.gen),
          Randomized(mean, kQuery, Corner(kQuery, true), unused.gen)};
}

double AttackCentral(const CentralGaussianMean& mean, DpGuarantee claim, int draws, std::uint64_t seed) {
  return AttackSeal(mean, mean, kQuery, CornerReports(mean), claim, draws, seed);
}

// Attack on one client's report.
double AttackLocal(const LocalGaussianMean& mean, DpGuarantee claim, int draws, std::uint64_t seed) {
  const std::vector<double> corners[2] = {Corner(kQuery, false), Corner(kQuery, true)};
  const auto view = [&](bool second, NoiseGen& noise) {
    return kDirection(Randomized(mean, kQuery, corners[second], noise));
  };
  return RefutedEpsilon(view, 0, NoiseOf(claim), claim.delta, draws, seed);
}

constexpr int kDraws = 500'000;

TEST(CentralAttackTest, TheClaimIsNotRefuted) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const double refuted = AttackCentral(Made<CentralGaussianMean>(kClaim, sampler), kClaim, kDraws, 10);
    EXPECT_LE(refuted, kClaim.epsilon);
    EXPECT_GT(refuted, 0.8 * kClaim.epsilon) << "the attack is too weak to mean anything";
  }
}

TEST(LocalAttackTest, TheClaimIsNotRefuted) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const double refuted = AttackLocal(Made<LocalGaussianMean>(kClaim, sampler), kClaim, kDraws, 20);
    EXPECT_LE(refuted, kClaim.epsilon);
    EXPECT_GT(refuted, 0.8 * kClaim.epsilon) << "the attack is too weak to mean anything";
  }
}

// The paper's formula is loose below epsilon 1, and its claim is what it really gives.
TEST(CentralAttackTest, ThePapersClaimIsNotRefutedEither) {
  const auto mean = Made<CentralGaussianMean>({0.9, 0.01}, Sampler::kFast, Calibration::kPaper);
  const DpGuarantee claim = mean.claims()[0].guarantee;
  ASSERT_LT(claim.epsilon, 0.9);
  const double refuted = AttackCentral(mean, claim, kDraws, 30);
  EXPECT_LE(refuted, claim.epsilon);
  EXPECT_GT(refuted, 0.7 * claim.epsilon);
}

// --- planted faults

TEST(PlantedFaultTest, TheNoiseOfTwiceTheEpsilonIsRefuted) {
  const DpGuarantee twice{2 * kClaim.epsilon, kClaim.delta};
  EXPECT_GT(AttackCentral(Made<CentralGaussianMean>(twice), kClaim, kDraws, 40), kClaim.epsilon);
  EXPECT_GT(AttackLocal(Made<LocalGaussianMean>(twice), kClaim, kDraws, 41), kClaim.epsilon);
}

// A tenth less noise is still in sight.
TEST(PlantedFaultTest, NoiseATenthTooSmallIsRefuted) {
  const DpGuarantee more{GaussianEpsilon(kClaim.delta, 0.9 * *TightGaussianMultiplier(kClaim)), kClaim.delta};
  ASSERT_LT(more.epsilon, 1.3);
  EXPECT_GT(AttackCentral(Made<CentralGaussianMean>(more), kClaim, kDraws, 42), kClaim.epsilon);
  EXPECT_GT(AttackLocal(Made<LocalGaussianMean>(more), kClaim, kDraws, 43), kClaim.epsilon);
}

TEST(PlantedFaultTest, HalfTheNoiseIsRefuted) {
  const auto local = Made<LocalGaussianMean>(kClaim);
  const auto central = Made<CentralGaussianMean>(kClaim);
  const std::vector<Units> corners = CornerReports(central);
  const std::vector<double> averages[2] = {Corner(kQuery, false), Corner(kQuery, true)};
  const auto halved = [&](bool second, NoiseGen& noise) {
    Units units = Randomized(local, kQuery, averages[second], noise);
    for (std::size_t i = 0; i < units.size(); ++i) units[i] = (units[i] + corners[second][i]) / 2;
    return kDirection(units);
  };
  EXPECT_GT(RefutedEpsilon(halved, 0, NoiseOf(kClaim), kClaim.delta, kDraws, 44), 1.5 * kClaim.epsilon);
}

MeanQuery HalvedBounds() {
  MeanQuery halved = kQuery;
  for (Interval& bound : halved.bounds) bound = {bound.low / 2, bound.high / 2};
  return halved;
}

// Noise for [-B/2, B/2], data in [-B, B]: bound taken for range.
TEST(PlantedFaultTest, ASensitivityOffByTwoIsRefuted) {
  const auto central = Made<CentralGaussianMean>(kClaim);
  const auto local = Made<LocalGaussianMean>(kClaim);  // adds what is sent
  EXPECT_GT(AttackSeal(central, local, HalvedBounds(), CornerReports(central), kClaim, kDraws, 45),
            1.5 * kClaim.epsilon);

  const std::vector<Units> corners = CornerReports(central);
  const MeanQuery halved = HalvedBounds();
  const std::vector<double> zero(3, 0.0);
  const auto view = [&](bool second, NoiseGen& noise) {
    Units units = Randomized(local, halved, zero, noise);
    for (std::size_t i = 0; i < units.size(); ++i) units[i] += corners[second][i];
    return kDirection(units);
  };
  EXPECT_GT(RefutedEpsilon(view, 0, NoiseOf(kClaim), kClaim.delta, kDraws, 46), 1.5 * kClaim.epsilon);
}

// One coordinate's sensitivity for all three: the root of the squares forgotten.
TEST(PlantedFaultTest, ASensitivityOfOneCoordinateIsRefuted) {
  const MeanQuery three{{{-1, 1}, {-1, 1}, {-1, 1}}, 1};
  const MeanQuery one{{{-1, 1}}, 1};
  const auto central = Made<CentralGaussianMean>(kClaim);
  const Direction direction(three);
  const double noise_scale = *TightGaussianMultiplier(kClaim) * direction.length;
  const auto attack = [&](bool forgotten) {
    const auto view = [&](bool second, NoiseGen& noise) {
      const std::int64_t corner = second ? 1 << 30 : -(1 << 30);
      if (!forgotten) {
        const ReportSum sum = SumOf(central, three, {Units(3, corner)});
        return direction(Seen(central, three, sum, noise));
      }
      const ReportSum sum = SumOf(central, one, {Units(1, corner)});
      std::vector<double> values;
      for (int i = 0; i < 3; ++i) values.push_back(Seen(central, one, sum, noise)[0]);
      return direction(values);
    };
    return RefutedEpsilon(view, 0, noise_scale, kClaim.delta, kDraws, 47);
  };
  EXPECT_LE(attack(false), kClaim.epsilon);
  EXPECT_GT(attack(true), 1.5 * kClaim.epsilon);
}

// A report that no client of ours would send: the central server clips what it gets, so the claim holds
// whatever is sent, and without that clip it does not.
TEST(PlantedFaultTest, AMissingClipIsRefuted) {
  const auto central = Made<CentralGaussianMean>(kClaim);
  const auto local = Made<LocalGaussianMean>(kClaim);
  const std::vector<double> far[2] = {{-3, -3, -3}, {3, 3, 3}};
  test::Noise unused(0);
  const std::vector<Units> clipped = {Randomized(central, kQuery, far[0], unused.gen),
                                      Randomized(central, kQuery, far[1], unused.gen)};
  std::vector<Units> injected = clipped;
  for (const int second : {0, 1}) {
    for (int i = 0; i < 3; ++i)
      injected[second][i] = static_cast<std::int64_t>(far[second][i] / GridMean::kUnit);
  }
  EXPECT_LE(AttackSeal(central, central, kQuery, clipped, kClaim, kDraws, 48), kClaim.epsilon);
  EXPECT_LE(AttackSeal(central, central, kQuery, injected, kClaim, kDraws, 48), kClaim.epsilon);
  EXPECT_GT(AttackSeal(central, local, kQuery, injected, kClaim, kDraws, 48), 1.5 * kClaim.epsilon);

  const auto attack = [&](bool clips) {
    const auto view = [&](bool second, NoiseGen& noise) {
      Units units = Randomized(local, kQuery, far[second], noise);
      for (int i = 0; i < 3 && !clips; ++i) units[i] += injected[second][i] - clipped[second][i];
      return kDirection(units);
    };
    return RefutedEpsilon(view, 0, NoiseOf(kClaim), kClaim.delta, kDraws, 49);
  };
  EXPECT_LE(attack(true), kClaim.epsilon);
  EXPECT_GT(attack(false), 1.5 * kClaim.epsilon);
}

// Two releases in which a client's values have opposite signs, at twice the claim by basic composition. Noise
// that is the same in both cancels in their difference.
TEST(PlantedFaultTest, ReusedNoiseIsRefuted) {
  const auto mean = Made<CentralGaussianMean>(kClaim);
  const MeanQuery query{{{-1, 1}}, 1};
  const double noise_scale = *TightGaussianMultiplier(kClaim) * 2;
  const ReportSum low = SumOf(mean, query, {{-(1 << 30)}});
  const ReportSum high = SumOf(mean, query, {{1 << 30}});
  const auto attack = [&](bool reused) {
    std::uint64_t run = 1000;
    const auto view = [&](bool second, NoiseGen&) {
      ++run;
      test::Noise first_noise(run, 1);
      test::Noise second_noise(run, reused ? 1 : 2);
      return Seen(mean, query, second ? high : low, first_noise.gen)[0] -
             Seen(mean, query, second ? low : high, second_noise.gen)[0];
    };
    return RefutedEpsilon(view, 0, noise_scale, 2 * kClaim.delta, kDraws, 50);
  };
  EXPECT_LE(attack(false), 2 * kClaim.epsilon);
  EXPECT_GT(attack(false), kClaim.epsilon) << "two releases tell more than one";
  EXPECT_GT(attack(true), 4 * kClaim.epsilon);
}

// Who knows the seed draws the noise again and takes it off: that is why seeded noise claims nothing.
TEST(PlantedFaultTest, ASeededGeneratorIsRefuted) {
  const auto mean = Made<CentralGaussianMean>(kClaim);
  const MeanQuery query{{{-1, 1}}, 1};
  const ReportSum sums[2] = {SumOf(mean, query, {{-(1 << 30)}}), SumOf(mean, query, {{1 << 30}})};
  const ReportSum zero = SumOf(mean, query, {{0}});
  const auto attack = [&](bool knows_the_seed) {
    std::uint64_t run = 5'000'000;
    const auto view = [&](bool second, NoiseGen&) {
      ++run;
      test::Noise noise(run), replayed(run);
      const double seen = Seen(mean, query, sums[second], noise.gen)[0];
      return knows_the_seed ? seen - Seen(mean, query, zero, replayed.gen)[0] : seen;
    };
    return RefutedEpsilon(view, 0, *TightGaussianMultiplier(kClaim) * 2, kClaim.delta, kDraws, 51);
  };
  EXPECT_LE(attack(false), kClaim.epsilon);
  EXPECT_GT(attack(true), 4 * kClaim.epsilon);
}

// --- the slow suite: a million draws and more

constexpr int kManyDraws = 2'000'000;

TEST(SlowCentralAttackTest, TheClaimIsNotRefuted) {
  for (const DpGuarantee claim : {DpGuarantee{1, 0.01}, {0.2, 0.001}, {3, 0.001}}) {
    const double refuted =
        AttackCentral(Made<CentralGaussianMean>(claim, Sampler::kExact), claim, kManyDraws, 60);
    EXPECT_LE(refuted, claim.epsilon);
    EXPECT_GT(refuted, 0.6 * claim.epsilon) << "the attack is too weak to mean anything";
  }
}

TEST(SlowLocalAttackTest, TheClaimIsNotRefuted) {
  for (const DpGuarantee claim : {DpGuarantee{1, 0.01}, {0.2, 0.001}, {3, 0.001}}) {
    const double refuted =
        AttackLocal(Made<LocalGaussianMean>(claim, Sampler::kExact), claim, kManyDraws, 70);
    EXPECT_LE(refuted, claim.epsilon);
    EXPECT_GT(refuted, 0.6 * claim.epsilon) << "the attack is too weak to mean anything";
  }
}

TEST(SlowPlantedFaultTest, NoiseFivePerCentTooSmallIsRefuted) {
  const DpGuarantee more{GaussianEpsilon(kClaim.delta, 0.95 * *TightGaussianMultiplier(kClaim)),
                         kClaim.delta};
  EXPECT_GT(AttackCentral(Made<CentralGaussianMean>(more, Sampler::kExact), kClaim, 2 * kManyDraws, 80),
            kClaim.epsilon);
}

// P1's Theorem 4.2 at its own setting: what it says it gives is refuted, what we say it gives is not.
TEST(SlowPlantedFaultTest, ThePapersFormulaAtEpsilonTenIsRefuted) {
  const auto mean = Made<CentralGaussianMean>({10, 0.1}, Sampler::kFast, Calibration::kPaper);
  const DpGuarantee claim = mean.claims()[0].guarantee;
  const double refuted = AttackCentral(mean, claim, 3 * kManyDraws, 90);
  EXPECT_GT(refuted, 10);
  EXPECT_LE(refuted, claim.epsilon);
}

}  // namespace
}  // namespace bandana
