#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"
#include "tests/support.h"

// Compares messages of the local mechanisms with what they estimate, within four standard errors per entry.
// Seeds are fixed, and they are the first that were tried. By chance one entry in 16,000 is outside, and a
// test has 200 to 1,100 entries.
namespace bandana {
namespace {

constexpr int kQuick = 30'000;
constexpr int kSlow = 1'000'000;

template <class Draw>
void ExpectMean(const std::vector<double>& truth, int draws, const Draw& draw, const std::string& what) {
  std::vector<double> sums(truth.size(), 0), squares = sums;
  for (int i = 0; i < draws; ++i) {
    const std::span<const double> message = draw();
    ASSERT_EQ(message.size(), truth.size());
    for (std::size_t j = 0; j < truth.size(); ++j) {
      sums[j] += message[j];
      squares[j] += message[j] * message[j];
    }
  }
  for (std::size_t j = 0; j < truth.size(); ++j) {
    const double mean = sums[j] / draws;
    const double error = std::sqrt((squares[j] / draws - mean * mean) / draws);
    EXPECT_NEAR(mean, truth[j], 4 * error) << what << ", entry " << j;
  }
}

std::vector<double> ContextOf(Count dimension) {
  std::vector<double> context;
  for (Count i = 0; i < dimension; ++i) context.push_back(std::cos(1.0 + static_cast<double>(i)));
  double squares = 0;
  for (const double x : context) squares += x * x;
  for (double& x : context) x *= 0.9 / std::sqrt(squares);
  return context;
}

// Returns fewer draws for the exact sampler, which is slow in many dimensions.
int DrawsOf(int draws, Count dimension, Sampler sampler) {
  constexpr int kFewer = 20;
  return sampler == Sampler::kExact && dimension > 2 ? draws / kFewer : draws;
}

void GradientsAreUnbiased(int draws, Sampler sampler) {
  std::uint64_t seed = 100;
  for (const L2BallRandomizer randomizer : {L2BallRandomizer::kDuchi, L2BallRandomizer::kPrivUnit}) {
    for (const Count d : {1, 2, 20}) {
      for (const Count slots : {1, 3}) {
        const LocalGradientParams params{.epsilon = 2,
                                         .randomizer = randomizer,
                                         .sampler = sampler,
                                         .calibration = Calibration::kTight,
                                         .dimension = d,
                                         .slots = slots,
                                         .slot_budget = SlotBudget::kFull,
                                         .context_norm = 1,
                                         .rewards = {0, 1},
                                         .means = {0, 1},
                                         .out_of_range = OutOfRange::kClip};
        const LocalGradient mechanism = *LocalGradient::Create(params);
        const std::vector<double> context = ContextOf(d);
        const LocalRecord record{context, 0.1, static_cast<ArmId>(slots - 1)};
        const auto predict = [](std::span<const double> x) { return 0.6 + 0.1 * x[0]; };
        std::vector<double> truth(static_cast<std::size_t>(d * slots), 0);
        for (std::size_t i = 0; i < context.size(); ++i) {
          truth[truth.size() - context.size() + i] = (predict(context) - 0.1) * context[i];
        }
        test::Noise noise(++seed);
        LocalMessage message;
        ExpectMean(
            truth, DrawsOf(draws, d, sampler),
            [&] {
              const Raw raw(record);
              mechanism.Answer(GradientQuestion{raw, predict}, noise.gen, message, nullptr);
              return message.entries();
            },
            "dimension " + std::to_string(d) + ", slots " + std::to_string(slots));
      }
    }
  }
}

void StatisticsAreUnbiased(int draws, Sampler sampler) {
  std::uint64_t seed = 200;
  for (const Count d : {1, 2, 20}) {
    for (const Count slots : {1, 3}) {
      const LocalRegressionParams params{.nominal = {1, 0.1},
                                         .calibration = Calibration::kTight,
                                         .sampler = sampler,
                                         .dimension = d,
                                         .slots = slots,
                                         .slot_budget = SlotBudget::kFull,
                                         .context_norm = 1,
                                         .rewards = {0, 1},
                                         .side_bounds = {1, 2},
                                         .side_weights = {1, 0.3},
                                         .out_of_range = OutOfRange::kClip};
      const LocalRegression mechanism = *LocalRegression::Create(params);
      const std::vector<double> context = ContextOf(d);
      const LocalRecord record{context, 0.7, static_cast<ArmId>(slots - 1)};
      const auto sides = [](std::span<const double> x, double r, std::span<double> out) {
        out[0] = r;
        out[1] = x[0] - r;
      };
      std::vector<double> truth(mechanism.slot_size() * static_cast<std::size_t>(slots - 1), 0);
      for (std::size_t i = 0; i < context.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) truth.push_back(context[i] * context[j]);
      }
      for (const double side : {0.7, context[0] - 0.7}) {
        for (const double x : context) truth.push_back(side * x);
      }
      test::Noise noise(++seed);
      SealedStatistics statistics(mechanism);
      LocalMessage message;
      ExpectMean(
          truth, DrawsOf(draws, d, sampler),
          [&] {
            mechanism.Record(Raw(record), sides, statistics);
            mechanism.Answer({statistics}, noise.gen, message, nullptr);
            return message.entries();
          },
          "dimension " + std::to_string(d) + ", slots " + std::to_string(slots));
    }
  }
}

TEST(LocalMessageTest, GradientsAreUnbiased) { GradientsAreUnbiased(kQuick, Sampler::kFast); }
TEST(LocalMessageTest, StatisticsAreUnbiased) { StatisticsAreUnbiased(kQuick / 3, Sampler::kFast); }
TEST(SlowLocalMessageTest, GradientsAreUnbiased) { GradientsAreUnbiased(kSlow, Sampler::kFast); }
TEST(SlowLocalMessageTest, StatisticsAreUnbiased) { StatisticsAreUnbiased(kSlow, Sampler::kFast); }
TEST(SlowLocalMessageTest, ExactGradientsAreUnbiased) { GradientsAreUnbiased(kSlow, Sampler::kExact); }
TEST(SlowLocalMessageTest, ExactStatisticsAreUnbiased) { StatisticsAreUnbiased(kSlow, Sampler::kExact); }

}  // namespace
}  // namespace bandana
