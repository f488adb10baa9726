#include "bandana/privacy/local_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "bandana/core/status.h"
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
using test::Predicting;
using test::User;

constexpr L2BallRandomizer kDuchi = L2BallRandomizer::kDuchi;
constexpr L2BallRandomizer kPrivUnit = L2BallRandomizer::kPrivUnit;

LocalGradientParams Params(L2BallRandomizer randomizer, Count dimension, double epsilon) {
  return {.epsilon = epsilon,
          .randomizer = randomizer,
          .sampler = Sampler::kFast,
          .calibration = Calibration::kTight,
          .dimension = dimension,
          .slot_budget = SlotBudget::kFull,
          .context_norm = 1,
          .rewards = {0, 1},
          .means = {0, 1},
          .out_of_range = OutOfRange::kClip};
}

LocalGradient Made(const LocalGradientParams& params) {
  auto made = LocalGradient::Create(params);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

LocalGradient Bare(const LocalGradientParams& params) {
  return *LocalGradient::CreateBare(params.space(), Declassify("a test"));
}

template <class Predict>
void Answer(const LocalGradient& mechanism, const Raw<LocalRecord>& record, const Predict& predict,
            NoiseGen& noise, LocalMessage& message, RangeCounts* counts = nullptr,
            std::optional<ArmId> public_arm = std::nullopt) {
  mechanism.Answer(GradientQuestion{record, predict, public_arm}, noise, message, counts);
}

std::vector<double> MessageOf(const LocalGradient& mechanism, const User& user, double mean,
                              NoiseGen& noise) {
  LocalMessage message;
  Answer(mechanism, user.raw(), Predicting(mean), noise, message);
  return {message.entries().begin(), message.entries().end()};
}

std::string FieldOf(const LocalGradientParams& params) {
  const auto made = LocalGradient::Create(params);
  EXPECT_FALSE(made.ok());
  const auto error = InputErrorOf(made.status());
  return error ? error->key : "";
}

// Returns the heights <u, v> of messages along the direction of the gradient.
std::vector<double> Heights(const LocalGradient& mechanism, const User& user, double mean, int draws,
                            std::uint64_t seed) {
  Noise noise(seed);
  LocalMessage message;
  std::vector<double> heights;
  const double length = LengthOf(user.context);
  for (int i = 0; i < draws; ++i) {
    Answer(mechanism, user.raw(), Predicting(mean), noise.gen, message);
    double product = 0;
    for (std::size_t j = 0; j < user.context.size(); ++j) product += message.entries()[j] * user.context[j];
    heights.push_back(product / length / mechanism.length());
  }
  return heights;
}

// Computes P(<u, v> <= t) for a uniform v on the sphere.
double SphereCdf(double t, Count dimension) {
  const double below = boost::math::ibeta(0.5, static_cast<double>(dimension - 1) / 2, t * t) / 2;
  return t < 0 ? 0.5 - below : 0.5 + below;
}

TEST(LocalGradientTest, RadiusIsTheLongestGradient) {
  LocalGradientParams params = Params(kDuchi, 2, 1);
  EXPECT_NEAR(Made(params).radius(), 1, 1e-11);
  params.context_norm = 3;
  params.rewards = {-1, 2};
  params.means = {-0.5, 4};
  EXPECT_NEAR(Made(params).radius(), 15, 1e-10);
  params.calibration = Calibration::kPaper;
  EXPECT_NEAR(Made(params).radius(), 12, 1e-10) << "2 c_r C_B";
}

TEST(LocalGradientTest, TheAnglesOfTheLabAreTheMathematicalLibrarys) {
  for (double turns = -3; turns < 3; turns += 0.00137) {
    const auto [cos, sin] = internal::OfTurns(turns);
    EXPECT_NEAR(cos, std::cos(2 * std::numbers::pi * turns), 4e-15) << turns;
    EXPECT_NEAR(sin, std::sin(2 * std::numbers::pi * turns), 4e-15) << turns;
  }
}

// If the gradient is as long as the radius, the coin always keeps it, and the height has the setting's law.
TEST(LocalGradientTest, FastHeightsHaveTheLawOfTheSetting) {
  for (const L2BallRandomizer randomizer : {kDuchi, kPrivUnit}) {
    for (const Count d : {2, 3, 20, 100}) {
      for (const double epsilon : {0.5, 4.0, 10.0}) {
        const LocalGradient mechanism = Made(Params(randomizer, d, epsilon));
        const L2BallSetting setting = *SetUpL2Ball(randomizer, d, epsilon, mechanism.radius());
        User user{std::vector<double>(static_cast<std::size_t>(d), 0), 0};
        user.context[0] = 0.6;
        user.context[1] = -0.8;
        const auto cdf = [&](double t) {
          const double rest = 1 - setting.cap_mass;
          return t < setting.gamma ? SphereCdf(t, d) * (1 - setting.p) / rest
                                   : 1 - setting.p + (SphereCdf(t, d) - rest) * setting.p / setting.cap_mass;
        };
        EXPECT_TRUE(test::FitsCdf(Heights(mechanism, user, 1, 5'000, 3), cdf))
            << static_cast<int>(randomizer) << " " << d << " " << epsilon;
      }
    }
  }
}

// The laws also agree across the gradient, and with a coin that reverses it.
TEST(LocalGradientTest, ExactAndFastMessagesHaveOneLaw) {
  for (const L2BallRandomizer randomizer : {kDuchi, kPrivUnit}) {
    for (const Count d : {1, 2, 5}) {
      LocalGradientParams params = Params(randomizer, d, 2);
      const LocalGradient fast = Made(params);
      params.sampler = Sampler::kExact;
      const LocalGradient exact = Made(params);
      EXPECT_NEAR(fast.length(), exact.length(), 1e-6);
      User user{std::vector<double>(static_cast<std::size_t>(d), 0.4), 0.2};
      Noise noise(5);
      std::vector<double> a, b, c, e;
      for (int i = 0; i < 4000; ++i) {
        const auto x = MessageOf(fast, user, 0.9, noise.gen);
        const auto y = MessageOf(exact, user, 0.9, noise.gen);
        a.push_back(x.front());
        b.push_back(y.front());
        c.push_back(x.front() - x.back());
        e.push_back(y.front() - y.back());
      }
      EXPECT_TRUE(test::SameLaw(a, b)) << d;
      EXPECT_TRUE(test::SameLaw(c, e)) << d;
    }
  }
}

TEST(LocalGradientTest, IsUnbiasedAndOfOneLength) {
  for (const Sampler sampler : {Sampler::kFast, Sampler::kExact}) {
    for (const L2BallRandomizer randomizer : {kDuchi, kPrivUnit}) {
      for (const Count d : {1, 2, 3, 7}) {
        LocalGradientParams params = Params(randomizer, d, 1.5);
        params.sampler = sampler;
        const LocalGradient mechanism = Made(params);
        User user{std::vector<double>(static_cast<std::size_t>(d), 0), 0.25};
        for (std::size_t i = 0; i < user.context.size(); ++i) {
          user.context[i] = 0.3 - 0.1 * static_cast<double>(i);
        }
        const int draws = sampler == Sampler::kFast ? 20'000 : 2'000;
        Noise noise(7);
        std::vector<double> sum(user.context.size(), 0), squares = sum;
        for (int i = 0; i < draws; ++i) {
          const std::vector<double> message = MessageOf(mechanism, user, 0.75, noise.gen);
          EXPECT_NEAR(LengthOf(message), mechanism.length(), 1e-12 * mechanism.length());
          for (std::size_t j = 0; j < sum.size(); ++j) {
            sum[j] += message[j];
            squares[j] += message[j] * message[j];
          }
        }
        for (std::size_t j = 0; j < sum.size(); ++j) {
          const double mean = sum[j] / draws;
          const double error = std::sqrt((squares[j] / draws - mean * mean) / draws);
          EXPECT_NEAR(mean, 0.5 * user.context[j], 4 * error) << d << " " << j;
        }
      }
    }
  }
}

// A gradient of 0, whatever its cause, and every slot of another arm have the same law: uniform on the
// sphere.
TEST(LocalGradientTest, NothingIsUniformOnTheSphere) {
  for (const Sampler sampler : {Sampler::kFast, Sampler::kExact}) {
    for (const Count d : {1, 2, 6}) {
      LocalGradientParams params = Params(kPrivUnit, d, 3);
      params.sampler = sampler;
      params.slots = 3;
      const LocalGradient mechanism = Made(params);
      const auto size = static_cast<std::size_t>(d);
      const User none{std::vector<double>(size, 0), 0.5, 1};
      const User right{std::vector<double>(size, 0.3), 0.5, 1};  // its prediction equals its reward
      Noise noise(9);
      std::vector<double> zero, same, other, uniform;
      for (int i = 0; i < 3000; ++i) {
        zero.push_back(MessageOf(mechanism, none, 0.9, noise.gen)[size]);
        const std::vector<double> message = MessageOf(mechanism, right, 0.5, noise.gen);
        same.push_back(message[2 * size - 1]);
        other.push_back(message[0]);
        double squares = 0;
        double first = 0;
        for (Count j = 0; j < d; ++j) {
          const double x = StandardNormal(noise.gen);
          if (j == 0) first = x;
          squares += x * x;
        }
        uniform.push_back(first / std::sqrt(squares) * mechanism.length());
      }
      for (double& x : uniform) {
        if (d == 1) x = std::copysign(mechanism.length(), x);
      }
      for (std::vector<double>* each : {&zero, &same, &other}) {
        for (double& x : *each) {
          if (d == 1) x = std::copysign(mechanism.length(), x);
        }
        EXPECT_TRUE(test::SameLaw(*each, uniform)) << d;
      }
    }
  }
}

TEST(LocalGradientTest, BareMessagesAreTheClippedGradients) {
  LocalGradientParams params = Params(kDuchi, 2, 1);
  params.slots = 3;
  const LocalGradient bare = Bare(params);
  EXPECT_TRUE(bare.claims().empty());
  Noise unused(1);
  EXPECT_THAT(MessageOf(bare, {{0.6, -0.5}, 0.25, 2}, 0.75, unused.gen),
              testing::ElementsAre(0, 0, 0, 0, 0.3, -0.25));
  EXPECT_THAT(MessageOf(bare, {{0.6, -0.5}, 7, 0}, -3, unused.gen),
              testing::ElementsAre(-0.6, 0.5, 0, 0, 0, 0))
      << "reward to 1, prediction to 0";
  EXPECT_THAT(MessageOf(bare, {{300, -400}, 0, 1}, 0.5, unused.gen),
              testing::ElementsAre(0, 0, testing::DoubleEq(0.3), testing::DoubleEq(-0.4), 0, 0));
  for (const double reward : {kNan, kInfinity, -kInfinity}) {
    EXPECT_THAT(MessageOf(bare, {{0.6, -0.5}, reward, 2}, 0.75, unused.gen), testing::Each(0));
  }
  EXPECT_THAT(MessageOf(bare, {{0.6, kNan}, 0, 2}, 0.75, unused.gen), testing::Each(0));
  EXPECT_THAT(MessageOf(bare, {{-kInfinity, 0}, 0, 2}, 0.75, unused.gen), testing::Each(0));
  EXPECT_THAT(MessageOf(bare, {{0.6, 0.5}, 0, 2}, kNan, unused.gen), testing::Each(0));
  LocalMessage one;
  Answer(bare, User{{0.6, -0.5}, 0.25, 2}.raw(), Predicting(0.75), unused.gen, one, nullptr, 2);
  EXPECT_THAT(one.entries(), testing::ElementsAre(0.3, -0.25));
}

TEST(LocalGradientTest, CountsWhatWasOutOfRangeAndZeroesItIfAsked) {
  LocalGradientParams params = Params(kDuchi, 2, 1);
  for (const OutOfRange out : {OutOfRange::kClip, OutOfRange::kZero}) {
    params.out_of_range = out;
    const LocalGradient bare = Bare(params);
    Noise unused(1);
    LocalMessage message;
    RangeCounts counts;
    const auto randomize = [&](const User& user) {
      Answer(bare, user.raw(), Predicting(0.5), unused.gen, message, &counts);
      return LengthOf(message.entries());
    };
    EXPECT_GT(randomize({{0.6, 0.8}, 1}), 0.4) << "a unit vector, rounded, is inside";
    EXPECT_EQ(counts.contexts + counts.rewards, 0);
    EXPECT_EQ(randomize({{3, 4}, 1}) > 0, out == OutOfRange::kClip);
    EXPECT_EQ(counts.contexts, 1);
    EXPECT_EQ(randomize({{0.6, 0.8}, 1.5}) > 0, out == OutOfRange::kClip);
    EXPECT_EQ(counts.rewards, 1);
    EXPECT_EQ(randomize({{kNan, 0.8}, kInfinity}), 0);
    EXPECT_EQ(counts.contexts, 2);
    EXPECT_EQ(counts.rewards, 2);
  }
}

TEST(LocalGradientTest, SlotsHaveTheWholeBudgetUnlessAskedOtherwise) {
  LocalGradientParams params = Params(kPrivUnit, 3, 2);
  params.slots = 4;
  EXPECT_NEAR(Made(params).guarantee().epsilon, 2, 1e-9);
  EXPECT_EQ(Made(params).length(), Made(Params(kPrivUnit, 3, 2)).length()) << "no more noise than one slot";
  EXPECT_EQ(Made(params).claims().front().proof, "docs/proofs/synthetic-slots.md");
  params.slot_budget = SlotBudget::kHalf;
  EXPECT_NEAR(Made(params).guarantee().epsilon, 1, 1e-9) << "what is proven, not what was asked";
  params.slot_budget = SlotBudget::kSplit;
  EXPECT_NEAR(Made(params).claims().front().guarantee.epsilon, 0.5, 1e-9);
  params.slot_budget = SlotBudget::kFull;
  params.calibration = Calibration::kPaper;
  EXPECT_NEAR(Made(params).guarantee().epsilon, 1, 1e-9) << "as P5 prints it";
  params.slots = 1;
  EXPECT_NEAR(Made(params).guarantee().epsilon, 2, 1e-9);
  params.sampler = Sampler::kExact;
  EXPECT_LE(Made(params).guarantee().epsilon, 2) << "with what the lattice costs";
  EXPECT_GT(Made(params).guarantee().epsilon, 1.999);
}

// The proof's figures, with PrivUnit's densities in the plane: how much another arm changes a message. A
// uniform synthetic message keeps the product of both slots' ratios at exp(epsilon). A fair coin on a fixed
// axis, which might also be used for a gradient of 0, does not.
TEST(SyntheticSlotsTest, UniformMessagesKeepEpsilonAndACoinOnAnAxisDoesNot) {
  const double epsilon = 2;
  const L2BallSetting setting = *SetUpL2Ball(kPrivUnit, 2, epsilon, 1);
  const double in = setting.p / setting.cap_mass;
  const double off = (1 - setting.p) / (1 - setting.cap_mass);
  const auto density = [&](double axis, double v) { return std::cos(axis - v) >= setting.gamma ? in : off; };
  const auto worst = [&](auto zero) {
    double most = 0;
    for (double axis = 0; axis < 6.28; axis += 0.1) {
      double highest = 0, lowest = 1e9;
      for (double v = 0; v < 6.28; v += 0.01) {
        const double ratio = density(axis, v) / zero(v);
        highest = std::max(highest, ratio);
        lowest = std::min(lowest, ratio);
      }
      most = std::max(most, highest / lowest);
    }
    return std::log(most);
  };
  EXPECT_NEAR(worst([](double) { return 1.0; }), epsilon, 1e-9);
  const double coin = worst([&](double v) { return (density(0, v) + density(std::numbers::pi, v)) / 2; });
  EXPECT_GT(coin, epsilon + 0.4);
}

TEST(LocalGradientTest, BadParametersAreNamed) {
  const auto with = [](auto change) {
    LocalGradientParams params = Params(kPrivUnit, 2, 1);
    change(params);
    return FieldOf(params);
  };
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-320}) {
    EXPECT_EQ(with([&](auto& p) { p.epsilon = bad; }), "epsilon") << bad;
    EXPECT_EQ(with([&](auto& p) { p.context_norm = bad; }), "context_norm") << bad;
  }
  EXPECT_EQ(with([](auto& p) { p.dimension = 0; }), "dimension");
  EXPECT_EQ(with([](auto& p) { p.slots = 0; }), "slots");
  EXPECT_EQ(with([](auto& p) { p.rewards = {1, 1}; }), "rewards");
  EXPECT_EQ(with([](auto& p) { p.rewards = {0, kInfinity}; }), "rewards");
  EXPECT_EQ(with([](auto& p) { p.rewards = {kNan, 1}; }), "rewards");
  EXPECT_EQ(with([](auto& p) { p.means = {1, 0}; }), "means");
  EXPECT_EQ(with([](auto& p) { p.means = {0, kNan}; }), "means");
  EXPECT_EQ(with([](auto& p) { p.epsilon = 40; }), "epsilon");
}

TEST(LocalGradientTest, AMessageIsUsedAgain) {
  const LocalGradient mechanism = Made(Params(kDuchi, 20, 1));
  Noise noise(2);
  LocalMessage message;
  const User user{std::vector<double>(20, 0.1), 0.5};
  Answer(mechanism, user.raw(), Predicting(0.7), noise.gen, message);
  const double* first = message.entries().data();
  Answer(mechanism, user.raw(), Predicting(0.7), noise.gen, message);
  EXPECT_EQ(message.entries().data(), first);
}

// With a large epsilon and a gradient of full length, PrivUnit's message is nearly the gradient.
TEST(LocalGradientTest, PrivUnitComesNearToTheGradientAsEpsilonGrows) {
  const LocalGradient mechanism = Made(Params(kPrivUnit, 2, 30));
  Noise noise(4);
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> message = MessageOf(mechanism, {{0.6, 0.8}, 0}, 1, noise.gen);
    EXPECT_NEAR(message[0], 0.6, 1e-4);
    EXPECT_NEAR(message[1], 0.8, 1e-4);
  }
}

// No context or reward outside of its bound reaches the functional, and no gradient longer than the radius
// reaches the randomizer. The mechanism without noise shows what goes into the randomizer.
RC_GTEST_PROP(LocalGradientTest, NothingOutsideItsBoundReachesTheRandomizer, ()) {
  const auto d = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  LocalGradientParams params =
      Params(*rc::gen::element(kDuchi, kPrivUnit), static_cast<Count>(d), *rc::gen::element(0.5, 2.0, 10.0));
  params.slots = *rc::gen::inRange(1, 4);
  params.sampler = *rc::gen::element(Sampler::kFast, Sampler::kFast, Sampler::kExact);
  if (params.sampler == Sampler::kExact) params.epsilon = std::min(params.epsilon, 2.0);
  params.context_norm = *rc::gen::element(1.0, 1e-3, 40.0);
  params.rewards = *rc::gen::element(Interval{0, 1}, Interval{-2, 0.5}, Interval{-1e-3, 1e6});
  params.means = *rc::gen::element(Interval{0, 1}, Interval{-5, -5}, Interval{-1, 1e3});
  params.out_of_range = *rc::gen::element(OutOfRange::kClip, OutOfRange::kZero);
  const User user = test::WildUser(d, static_cast<int>(params.slots));
  const double prediction = *test::WildNumber();
  const auto predict = [&](std::span<const double> x) {
    RC_ASSERT(x.size() == d);
    RC_ASSERT(LengthOf(x) <= params.context_norm * (1 + 1e-12));
    return prediction;
  };
  Noise noise(*rc::gen::arbitrary<std::uint64_t>());
  LocalMessage message;
  const LocalGradient bare = Bare(params);
  Answer(bare, user.raw(), predict, noise.gen, message);
  RC_ASSERT(LengthOf(message.entries()) <= bare.radius());
  for (const double entry : message.entries()) RC_ASSERT(std::isfinite(entry));
  const double steepest =
      std::max(params.means.high - params.rewards.low, params.rewards.high - params.means.low);
  RC_ASSERT(LengthOf(message.entries()) <= params.context_norm * steepest * (1 + 1e-12));
  const LocalGradient mechanism = Made(params);
  Answer(mechanism, user.raw(), predict, noise.gen, message);
  RC_ASSERT(message.entries().size() == d * static_cast<std::size_t>(params.slots));
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(params.slots); ++slot) {
    const double length = LengthOf(message.entries().subspan(slot * d, d));
    RC_ASSERT(std::abs(length - mechanism.length()) <= 1e-9 * mechanism.length());
  }
}

// Parameters of lifted messages: the same claim in one more dimension, of which nothing is sent.
LocalGradientParams Lifted(std::int64_t dimension, double epsilon, Count slots = 1) {
  LocalGradientParams params = Params(kPrivUnit, dimension, epsilon);
  params.slots = slots;
  params.lift = true;
  return params;
}

TEST(LiftedGradientTest, IsTakenWhereItHasLessNoiseAndPromisesNoLess) {
  for (const std::int64_t d : {1, 2, 5, 20}) {
    for (const double epsilon : {0.1, 1.0, 3.0, 8.0, 20.0}) {
      const LocalGradient flat = Made(Params(kPrivUnit, d, epsilon));
      const LocalGradient lifted = Made(Lifted(d, epsilon));
      EXPECT_LE(lifted.noise(), flat.noise());
      EXPECT_LE(lifted.guarantee().epsilon, epsilon);
      EXPECT_FALSE(flat.lifted());
      if (epsilon >= 8) EXPECT_TRUE(lifted.lifted()) << d << " " << epsilon;
    }
    EXPECT_LT(Made(Lifted(d, 30)).noise(), (d > 5 ? 0.5 : 0.05) * Made(Params(kPrivUnit, d, 30)).noise())
        << d;
  }
}

TEST(LiftedGradientTest, OthersAreNotLifted) {
  LocalGradientParams params = Lifted(3, 10);
  params.randomizer = L2BallRandomizer::kDuchi;
  EXPECT_FALSE(Made(params).lifted());
  params = Lifted(3, 10);
  params.calibration = Calibration::kPaper;
  EXPECT_FALSE(Made(params).lifted());
}

// Means are within 5 standard errors: 2 x 2 x 3 comparisons have a false-alarm rate of 1e-5 together. noise()
// must be the noise that is seen.
TEST(LiftedGradientTest, IsUnbiasedWithTheNoiseThatItSays) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    LocalGradientParams params = Lifted(3, 6);
    params.sampler = sampler;
    const LocalGradient mechanism = Made(params);
    ASSERT_TRUE(mechanism.lifted());
    const int draws = sampler == Sampler::kExact ? 4'000 : 100'000;
    for (const bool zero : {false, true}) {
      const User user{.context = {0.3, -0.5, 0.2}, .reward = zero ? 0.5 : 0.1};
      test::Noise noise(71);
      LocalMessage message;
      std::vector<double> sums(3, 0.0);
      std::vector<double> squares(3, 0.0);
      for (int i = 0; i < draws; ++i) {
        Answer(mechanism, user.raw(), Predicting(0.5), noise.gen, message);
        for (std::size_t j = 0; j < 3; ++j) {
          sums[j] += message.entries()[j];
          squares[j] += message.entries()[j] * message.entries()[j];
        }
      }
      double total = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        const double mean = sums[j] / draws;
        const double variance = squares[j] / draws - mean * mean;
        EXPECT_NEAR(mean, (0.5 - user.reward) * user.context[j], 5 * std::sqrt(variance / draws));
        total += variance;
      }
      if (zero) EXPECT_NEAR(std::sqrt(total / 3), mechanism.noise(), 0.05 * mechanism.noise());
    }
  }
}

TEST(LiftedGradientTest, SyntheticSlotsAreUniformInOneMoreDimension) {
  const LocalGradient mechanism = Made(Lifted(2, 12, 2));
  ASSERT_TRUE(mechanism.lifted());
  const User user{.context = {0.6, 0.2}, .reward = 0.1, .arm = 0};
  test::Noise noise(72);
  LocalMessage message;
  // A coordinate of a uniform point of the sphere in three dimensions is uniform (Archimedes).
  std::vector<double> seen;
  std::vector<double> expected;
  test::Coins coins(73);
  for (int i = 0; i < 20'000; ++i) {
    Answer(mechanism, user.raw(), Predicting(0.5), noise.gen, message);
    seen.push_back(message.entries()[3]);
    expected.push_back(mechanism.length() * (2 * UniformUnit(coins.gen) - 1));
  }
  EXPECT_TRUE(test::SameLaw(seen, expected));
}

}  // namespace
}  // namespace bandana
