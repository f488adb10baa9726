#include "bandana/privacy/local_regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/sensitivity.h"
#include "tests/privacy/local_support.h"
#include "tests/support.h"

// Seeds are fixed. Means may be off by four standard errors; laws are compared with the Kolmogorov-Smirnov
// test at 1e-6.
namespace bandana {
namespace {

using test::kInfinity;
using test::kNan;
using test::LengthOf;
using test::Noise;
using test::RewardAlone;
using test::User;

LocalRegressionParams Params(Count dimension, DpGuarantee nominal = {1, 0.1}) {
  return {.nominal = nominal,
          .calibration = Calibration::kTight,
          .sampler = Sampler::kFast,
          .dimension = dimension,
          .slot_budget = SlotBudget::kFull,
          .context_norm = 1,
          .rewards = {-1, 1},
          .side_bounds = {1},
          .side_weights = {1},
          .out_of_range = OutOfRange::kClip};
}

LocalRegression Made(const LocalRegressionParams& params) {
  auto made = LocalRegression::Create(params);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

LocalRegression Bare(const LocalRegressionParams& params) {
  return *LocalRegression::CreateBare(params.space(), Declassify("a test"));
}

template <class Sides = decltype(&RewardAlone)>
std::vector<double> MessageOf(const LocalRegression& mechanism, const std::vector<User>& users,
                              NoiseGen& noise, const Sides& sides = &RewardAlone) {
  SealedStatistics statistics(mechanism);
  for (const User& user : users) mechanism.Record(user.raw(), sides, statistics);
  LocalMessage message;
  mechanism.Answer({statistics}, noise, message, nullptr);
  EXPECT_EQ(statistics.users(), 0);
  return {message.entries().begin(), message.entries().end()};
}

// Returns the standard deviation of the noise in each entry of a slot.
std::vector<double> NoisesOf(const LocalRegression& mechanism) {
  std::vector<double> noises;
  const Count d = mechanism.space().dimension;
  for (Count i = 0; i < d; ++i) {
    for (Count j = 0; j < i; ++j) noises.push_back(mechanism.gram_noise());
    noises.push_back(mechanism.diagonal_noise());
  }
  for (std::size_t side = 0; side < mechanism.space().side_bounds.size(); ++side) {
    for (Count i = 0; i < d; ++i) noises.push_back(mechanism.side_noise(side));
  }
  return noises;
}

std::string FieldOf(const LocalRegressionParams& params) {
  const auto made = LocalRegression::Create(params);
  EXPECT_FALSE(made.ok());
  const auto error = InputErrorOf(made.status());
  return error ? error->key : "";
}

TEST(LocalRegressionTest, BareMessagesAreTheClippedStatistics) {
  LocalRegressionParams params = Params(2);
  params.slots = 2;
  params.side_bounds = {1, 0.5};
  params.side_weights = {1, 2};
  const LocalRegression bare = Bare(params);
  EXPECT_TRUE(bare.claims().empty());
  EXPECT_EQ(bare.slot_size(), 7);
  const auto sides = [](std::span<const double> x, double r, std::span<double> out) {
    out[0] = r;
    out[1] = 100 * x[0];
  };
  Noise unused(1);
  EXPECT_THAT(MessageOf(bare, {{{0.5, -0.25}, 0.5, 1}}, unused.gen, sides),
              testing::ElementsAre(0, 0, 0, 0, 0, 0, 0,  //
                                   0.25, -0.125, 0.0625, 0.25, -0.125, 0.25, -0.125));
  EXPECT_THAT(MessageOf(bare, {{{0.5, -0.25}, 9, 0}, {{0, 0.5}, 1, 0}}, unused.gen, sides),
              testing::ElementsAre(0.25, -0.125, 0.3125, 0.5, 0.25, 0.25, -0.125,  //
                                   0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(MessageOf(bare, {{{kNan, 1}, 0.5, 1}, {{0.5, 0.5}, kInfinity, 0}}, unused.gen, sides),
              testing::Each(0));
  const auto no_number = [](std::span<const double>, double, std::span<double> out) {
    out[0] = kNan;
    out[1] = -kInfinity;
  };
  EXPECT_THAT(MessageOf(bare, {{{1, 0}, 0.5, 0}}, unused.gen, no_number),
              testing::ElementsAre(1, 0, 0, 0, 0, -0.5, 0, 0, 0, 0, 0, 0, 0, 0));
  SealedStatistics statistics(bare);
  LocalMessage message;
  bare.Record(User{{1, 0}, 0.5, 1}.raw(), sides, statistics);
  bare.Answer({statistics, 1}, unused.gen, message, nullptr);
  EXPECT_THAT(message.entries(), testing::ElementsAre(1, 0, 0, 0.5, 0, 0.5, 0));
}

TEST(LocalRegressionTest, OutOfRangeUsersAreZeroedIfAsked) {
  LocalRegressionParams params = Params(2);
  params.out_of_range = OutOfRange::kZero;
  const LocalRegression bare = Bare(params);
  SealedStatistics statistics(bare);
  bare.Record(User{{3, 4}, 0}.raw(), RewardAlone, statistics);
  bare.Record(User{{0.6, 0.8}, 2}.raw(), RewardAlone, statistics);
  Noise unused(1);
  LocalMessage message;
  bare.Answer({statistics}, unused.gen, message, nullptr);
  EXPECT_THAT(message.entries(), testing::Each(0));
}

TEST(LocalRegressionTest, TightNoiseIsTheAnalyticGaussiansForTheJointRelease) {
  for (const double weight : {0.3, 1.0, 2.5}) {
    LocalRegressionParams params = Params(3, {1, 0.01});
    params.side_weights = {weight};
    const LocalRegression mechanism = Made(params);
    const double expected = *TightGaussianMultiplier(params.nominal) * *RegressionSensitivity(1, 1, weight);
    EXPECT_NEAR(mechanism.gram_noise() / expected, 1, 1e-9) << weight;
    EXPECT_GE(mechanism.gram_noise(), expected);
    EXPECT_NEAR(mechanism.diagonal_noise(), std::numbers::sqrt2 * mechanism.gram_noise(), 1e-12);
    EXPECT_NEAR(mechanism.side_noise(0), mechanism.gram_noise() / weight, 1e-12);
    EXPECT_EQ(mechanism.guarantee(), params.nominal);
  }
  // The figure of the specification: at epsilon 1, delta 0.01 and unit contexts the joint sigma is near 4.
  EXPECT_NEAR(Made(Params(2, {1, 0.01})).gram_noise(), 4, 0.4);
}

// Returns the distance between two users' messages in standard deviations of the noise.
double Distance(const LocalRegression& bare, const std::vector<double>& noises, const User& a, const User& b,
                NoiseGen& unused) {
  const auto sides = [](std::span<const double>, double r, std::span<double> out) {
    for (double& each : out) each = r * 1e9;  // clipped to the ends
  };
  const std::vector<double> x = MessageOf(bare, {a}, unused, sides);
  const std::vector<double> z = MessageOf(bare, {b}, unused, sides);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double each = (x[i] - z[i]) / noises[i % noises.size()];
    squares += each * each;
  }
  return std::sqrt(squares);
}

// Takes pairs of users in the plane, also with different arms. No pair is farther apart than the claim
// allows, and one pair comes close. Under `paper` the claim is the exact one for the two scales.
TEST(LocalRegressionTest, ClaimsAreThoseOfTheFarthestUsers) {
  struct Case {
    double norm;
    std::vector<double> bounds, weights;
    Calibration calibration;
  };
  const std::vector<Case> cases = {
      {1, {1}, {1}, Calibration::kTight},           {1, {0.5}, {0.7}, Calibration::kTight},
      {2, {1, 3}, {0.2, 0.4}, Calibration::kTight}, {0.5, {2}, {1}, Calibration::kTight},
      {1, {1}, {1}, Calibration::kPaper},           {3, {0.2}, {1}, Calibration::kPaper},
      {0.3, {1, 2}, {1, 1}, Calibration::kPaper},   {0.05, {1}, {1}, Calibration::kPaper}};
  for (const Case& each : cases) {
    for (const Count slots : {1, 2}) {
      LocalRegressionParams params = Params(2, {0.8, 0.05});
      params.calibration = each.calibration;
      params.context_norm = each.norm;
      params.side_bounds = each.bounds;
      params.side_weights = each.weights;
      params.slots = slots;
      const LocalRegression mechanism = Made(params);
      const LocalRegression bare = Bare(params);
      const std::vector<double> noises = NoisesOf(mechanism);
      Noise unused(1);
      double farthest = 0;
      const double pi = std::numbers::pi;
      for (double a = 0; a < pi / 2; a += pi / 40) {
        for (double b = 0; b < pi; b += pi / 80) {
          for (const double length : {0.0, 0.7, 1.0}) {
            for (const ArmId arm : {0, static_cast<int>(slots) - 1}) {
              for (const double sign : {-1.0, 1.0}) {
                const User x{{each.norm * std::cos(a), each.norm * std::sin(a)}, 1, 0};
                const User z{{length * each.norm * std::cos(b), length * each.norm * std::sin(b)}, sign, arm};
                farthest = std::max(farthest, Distance(bare, noises, x, z, unused.gen));
              }
            }
          }
        }
      }
      const double claimed = GaussianEpsilon(0.05, 1 / farthest);
      EXPECT_LE(claimed, mechanism.guarantee().epsilon) << each.norm << " " << slots;
      EXPECT_GE(claimed, 0.995 * mechanism.guarantee().epsilon) << each.norm << " " << slots;
    }
  }
}

TEST(LocalRegressionTest, PaperNoiseIsPrintedAndItsClaimHonest) {
  LocalRegressionParams params = Params(4, {1, 0.1});
  params.calibration = Calibration::kPaper;
  const double sigma = 2 * std::sqrt(2 * std::log(12.5));
  EXPECT_NEAR(Made(params).gram_noise(), 2 * sigma, 1e-9);
  EXPECT_NEAR(Made(params).diagonal_noise(), 2 * sigma, 1e-9);
  EXPECT_NEAR(Made(params).side_noise(0), sigma, 1e-9);
  EXPECT_LT(Made(params).guarantee().epsilon, 1) << "it adds more than it must";
  params.context_norm = 20;  // 4 C_B^2 has the wrong power: x x' grows with C_B^2, but its noise with C_B
  EXPECT_GT(Made(params).guarantee().epsilon, 1) << "and less";
  params.context_norm = 1;
  params.slots = 5;
  const double half = 4 * std::sqrt(2 * std::log(25));
  EXPECT_NEAR(Made(params).side_noise(0), half, 1e-9) << "epsilon/2 and delta/2 a slot";
  params.side_weights = {2};
  EXPECT_EQ(FieldOf(params), "side_weights");
}

TEST(LocalRegressionTest, SlotsHaveTheWholeBudgetUnlessAskedOtherwise) {
  LocalRegressionParams params = Params(2, {1, 0.1});
  const double one = Made(params).gram_noise();
  params.slots = 4;
  EXPECT_EQ(Made(params).gram_noise(), one);
  EXPECT_EQ(Made(params).guarantee(), params.nominal);
  EXPECT_EQ(Made(params).claims().front().proof, "docs/proofs/synthetic-slots.md");
  params.slot_budget = SlotBudget::kHalf;
  EXPECT_GT(Made(params).gram_noise(), 1.5 * one);
  EXPECT_LT(Made(params).guarantee().epsilon, 0.5);
  EXPECT_EQ(Made(params).guarantee().delta, 0.1);
  params.slot_budget = SlotBudget::kSplit;
  EXPECT_LT(Made(params).guarantee().epsilon, 0.25);
}

TEST(LocalRegressionTest, ExactAndFastMessagesHaveTheStatedLaw) {
  LocalRegressionParams params = Params(2);
  params.side_bounds = {1, 2};
  params.side_weights = {0.5, 0.25};
  params.slots = 2;
  const auto sides = [](std::span<const double> x, double r, std::span<double> out) {
    out[0] = r;
    out[1] = x[0] - r;
  };
  const User user{{0.6, -0.7}, 0.4, 1};
  Noise noise(3);
  const std::vector<double> centre = MessageOf(Bare(params), {user}, noise.gen, sides);
  for (const Sampler sampler : {Sampler::kFast, Sampler::kExact}) {
    params.sampler = sampler;
    const LocalRegression mechanism = Made(params);
    const std::vector<double> noises = NoisesOf(mechanism);
    std::vector<std::vector<double>> columns(centre.size());
    for (int i = 0; i < 5000; ++i) {
      const std::vector<double> message = MessageOf(mechanism, {user}, noise.gen, sides);
      for (std::size_t j = 0; j < message.size(); ++j) {
        columns[j].push_back((message[j] - centre[j]) / noises[j % noises.size()]);
      }
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      EXPECT_TRUE(test::FitsCdf(columns[j], [](double t) { return std::erfc(-t / std::numbers::sqrt2) / 2; }))
          << j;
      if (j == 0) continue;
      double correlation = 0;
      for (std::size_t i = 0; i < columns[j].size(); ++i) correlation += columns[j][i] * columns[j - 1][i];
      EXPECT_LT(std::abs(correlation), 5 * std::sqrt(5000)) << "entries are independent";
    }
  }
}

// n users' messages added up, and the statistics's one draw.
TEST(LocalRegressionTest, AGroupIsTheSumOfItsUsers) {
  LocalRegressionParams params = Params(2);
  params.slots = 2;
  const LocalRegression mechanism = Made(params);
  const std::vector<User> users = {{{0.6, 0.8}, 1, 0}, {{-0.3, 0.4}, -0.5, 1}, {{0.1, 0.2}, 0.5, 1}};
  Noise noise(5);
  std::vector<double> alone, together;
  for (int i = 0; i < 5000; ++i) {
    double sum = 0;
    for (const User& user : users) sum += MessageOf(mechanism, {user}, noise.gen)[7];
    alone.push_back(sum);
    together.push_back(MessageOf(mechanism, users, noise.gen)[7]);
  }
  EXPECT_TRUE(test::SameLaw(alone, together));
  const test::Moments moments = test::MomentsOf(together);
  EXPECT_NEAR(moments.variance / (3 * std::pow(mechanism.diagonal_noise(), 2)), 1, 0.1);
}

TEST(LocalRegressionTest, GreatEpsilonGivesNearlyTheBareStatistics) {
  const LocalRegressionParams params = Params(3, {20'000, 0.1});
  Noise noise(6);
  const User user{{0.3, -0.5, 0.7}, 0.9};
  const std::vector<double> bare = MessageOf(Bare(params), {user}, noise.gen);
  const std::vector<double> message = MessageOf(Made(params), {user}, noise.gen);
  for (std::size_t i = 0; i < bare.size(); ++i) EXPECT_NEAR(message[i], bare[i], 0.1);
}

TEST(LocalRegressionTest, OnlyItsOwnGroupIsReleasedAndOnce) {
  const LocalRegression mechanism = Made(Params(2));
  LocalRegressionParams loud = Params(2, {100, 0.1});
  const LocalRegression other = Made(loud);
  loud.sampler = Sampler::kExact;
  const LocalRegression exact = Made(loud);
  Noise noise(1);
  LocalMessage message;
  SealedStatistics statistics(mechanism);
  EXPECT_DEATH(mechanism.Answer({statistics}, noise.gen, message, nullptr), "check failed")
      << "nobody is in it";
  mechanism.Record(User{{0.6, 0.8}, 1}.raw(), RewardAlone, statistics);
  EXPECT_DEATH(other.Answer({statistics}, noise.gen, message, nullptr), "check failed") << "with less noise";
  const std::vector<LocalRegression> copies = {mechanism};
  copies[0].Answer({statistics}, noise.gen, message, nullptr);
  EXPECT_DEATH(mechanism.Answer({statistics}, noise.gen, message, nullptr), "check failed")
      << "with new noise";
  SealedStatistics two(exact);
  exact.Record(User{{0.6, 0.8}, 1}.raw(), RewardAlone, two);
  exact.Record(User{{0.6, 0.8}, 1}.raw(), RewardAlone, two);
  EXPECT_DEATH(exact.Answer({two}, noise.gen, message, nullptr), "check failed") << "no shortcut in service";
}

TEST(LocalRegressionTest, BadParametersAreNamed) {
  const auto with = [](auto change) {
    LocalRegressionParams params = Params(2);
    change(params);
    return FieldOf(params);
  };
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-320}) {
    EXPECT_EQ(with([&](auto& p) { p.nominal.epsilon = bad; }), "epsilon") << bad;
    EXPECT_EQ(with([&](auto& p) { p.nominal.delta = bad; }), "delta") << bad;
    EXPECT_EQ(with([&](auto& p) { p.context_norm = bad; }), "context_norm") << bad;
    EXPECT_EQ(with([&](auto& p) { p.side_bounds = {bad}; }), "side_bounds") << bad;
    EXPECT_EQ(with([&](auto& p) { p.side_weights = {bad}; }), "side_weights") << bad;
  }
  EXPECT_EQ(with([](auto& p) { p.nominal.epsilon = 1e8; }), "epsilon");
  EXPECT_EQ(with([](auto& p) { p.dimension = 0; }), "dimension");
  EXPECT_EQ(with([](auto& p) { p.dimension = 2000; }), "dimension");
  EXPECT_EQ(with([](auto& p) { p.slots = 0; }), "slots");
  EXPECT_EQ(with([](auto& p) { p.rewards = {1, -1}; }), "rewards");
  EXPECT_EQ(with([](auto& p) { p.side_bounds = {}; }), "side_bounds");
  EXPECT_EQ(with([](auto& p) { p.side_weights = {1, 1}; }), "side_weights");
}

// No context or reward outside of its bound reaches the functional, and no value outside of its bound reaches
// the noise. The mechanism without noise shows what the noise is added to.
RC_GTEST_PROP(LocalRegressionTest, NothingOutsideItsBoundReachesTheNoise, ()) {
  const auto d = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  LocalRegressionParams params = Params(static_cast<Count>(d));
  params.slots = *rc::gen::inRange(1, 4);
  params.sampler = *rc::gen::element(Sampler::kFast, Sampler::kExact);
  params.context_norm = *rc::gen::element(1.0, 1e-3, 40.0);
  params.rewards = *rc::gen::element(Interval{0, 1}, Interval{-2, 0.5}, Interval{-1e-3, 1e6});
  params.side_bounds = {*rc::gen::element(1.0, 1e-4, 300.0), *rc::gen::element(1.0, 7.0)};
  params.side_weights = {*rc::gen::element(1.0, 0.1), *rc::gen::element(1.0, 3.0)};
  params.out_of_range = *rc::gen::element(OutOfRange::kClip, OutOfRange::kZero);
  const User user = test::WildUser(d, static_cast<int>(params.slots));
  const std::vector<double> wild = {*test::WildNumber(), *test::WildNumber()};
  const auto sides = [&](std::span<const double> x, double reward, std::span<double> out) {
    RC_ASSERT(x.size() == d && out.size() == 2);
    RC_ASSERT(LengthOf(x) <= params.context_norm * (1 + 1e-12));
    RC_ASSERT(reward >= params.rewards.low && reward <= params.rewards.high);
    out[0] = wild[0];
    out[1] = wild[1];
  };
  Noise noise(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<double> inside = MessageOf(Bare(params), {user}, noise.gen, sides);
  const std::size_t size = d * (d + 1) / 2 + 2 * d;
  const std::size_t arm = params.slots == 1 ? 0 : static_cast<std::size_t>(user.arm);
  double trace = 0;
  for (std::size_t i = 0; i < d; ++i) trace += inside[arm * size + i * (i + 3) / 2];
  RC_ASSERT(trace <= params.context_norm * params.context_norm * (1 + 1e-12));
  for (std::size_t j = 0; j < 2; ++j) {
    const auto cross = std::span(inside).subspan(arm * size + size - (2 - j) * d, d);
    RC_ASSERT(LengthOf(cross) <= params.side_bounds[j] * params.context_norm * (1 + 1e-12));
  }
  for (std::size_t i = 0; i < inside.size(); ++i) {
    RC_ASSERT(std::isfinite(inside[i]));
    RC_ASSERT(i / size == arm || inside[i] == 0);
  }
  const LocalRegression mechanism = Made(params);
  const std::vector<double> noises = NoisesOf(mechanism);
  const std::vector<double> message = MessageOf(mechanism, {user}, noise.gen, sides);
  for (std::size_t i = 0; i < message.size(); ++i) {
    RC_ASSERT(std::abs(message[i] - inside[i]) <= 12 * noises[i % size]);
  }
}

}  // namespace
}  // namespace bandana
