#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "bandana/federation/release.h"
#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"
#include "tests/federation/hand_user.h"

// Release::FromUser and Release::Record: who is charged, for what, and who may count.
namespace bandana {
namespace {

using test::HandUser;

LocalRegression Regression(Count slots = 1) {
  return LocalRegression::Create({.nominal = {1, 0.01},
                                  .calibration = Calibration::kTight,
                                  .sampler = Sampler::kFast,
                                  .dimension = 2,
                                  .slots = slots,
                                  .slot_budget = SlotBudget::kFull,
                                  .context_norm = 1,
                                  .rewards = {0, 1},
                                  .side_bounds = {1},
                                  .side_weights = {1},
                                  .out_of_range = OutOfRange::kClip})
      .value();
}

LocalGradient Gradient(Count slots) {
  return LocalGradient::Create({.epsilon = 2,
                                .randomizer = L2BallRandomizer::kPrivUnit,
                                .sampler = Sampler::kFast,
                                .calibration = Calibration::kTight,
                                .dimension = 2,
                                .slots = slots,
                                .slot_budget = SlotBudget::kFull,
                                .context_norm = 1,
                                .rewards = {0, 1},
                                .means = {0, 1},
                                .out_of_range = OutOfRange::kClip})
      .value();
}

constexpr auto kReward = [](std::span<const double>, double reward, std::span<double> side) {
  side[0] = reward;
};
constexpr auto kHalf = [](std::span<const double>) { return 0.5; };

TEST(UserReleaseTest, AUserPaysOnceForItsMessage) {
  const LocalRegression mechanism = Regression();
  HandUser user(1);
  SealedStatistics statistics(mechanism);
  LocalMessage message;
  const std::vector<double> context = {0.6, 0.8};
  Release::Record(user, mechanism, Raw(LocalRecord{context, 1, 0}), kReward, statistics);
  EXPECT_EQ(user.draws, 0);
  ASSERT_TRUE(Release::FromUser(user, mechanism, StatisticsQuestion{statistics}, message).ok());
  EXPECT_EQ(user.draws, 1);
  EXPECT_EQ(user.spent, mechanism.guarantee().epsilon);
  EXPECT_EQ(message.entries().size(), 5u);
  EXPECT_EQ(statistics.users(), 0);
}

TEST(UserReleaseTest, NothingIsDrawnIfTheChargeIsRefused) {
  const LocalGradient mechanism = Gradient(1);
  HandUser user(1, 0.5);
  LocalMessage message;
  const std::vector<double> context = {0.6, 0.8};
  const Raw record(LocalRecord{context, 1, 0});
  const absl::Status refused = Release::FromUser(user, mechanism, GradientQuestion{record, kHalf}, message);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(user.draws, 0);
  EXPECT_TRUE(message.entries().empty());
}

TEST(UserReleaseTest, WithoutPrivacyNobodyPays) {
  const auto mechanism = LocalRegression::CreateBare(Regression().space(), Declassify("a test")).value();
  HandUser user(1, 0);
  SealedStatistics statistics(mechanism);
  LocalMessage message;
  const std::vector<double> context = {0.6, 0.8};
  Release::Record(user, mechanism, Raw(LocalRecord{context, 1, 0}), kReward, statistics);
  ASSERT_TRUE(Release::FromUser(user, mechanism, StatisticsQuestion{statistics}, message).ok());
  EXPECT_EQ(user.spent, 0);
  EXPECT_EQ(message.entries()[4], 0.8);
}

TEST(UserReleaseTest, RecordsOutOfRangeAreCountedForTheDriver) {
  const LocalRegression regression = Regression();
  const LocalGradient gradient = Gradient(1);
  HandUser user(1);
  SealedStatistics statistics(regression);
  LocalMessage message;
  const std::vector<double> too_long = {3, 4};
  const std::vector<double> inside = {0.6, 0.8};
  Release::Record(user, regression, Raw(LocalRecord{too_long, 0, 0}), kReward, statistics);
  Release::Record(user, regression, Raw(LocalRecord{inside, 2, 0}), kReward, statistics);
  EXPECT_EQ(user.counts.contexts, 1);
  EXPECT_EQ(user.counts.rewards, 1);
  const Raw record(LocalRecord{too_long, -1, 0});
  ASSERT_TRUE(Release::FromUser(user, gradient, GradientQuestion{record, kHalf}, message).ok());
  EXPECT_EQ(user.counts.contexts, 2);
  EXPECT_EQ(user.counts.rewards, 2);
}

TEST(UserReleaseTest, APublicArmMustBeTheArmThatWasPlayed) {
  const LocalGradient mechanism = Gradient(3);
  HandUser user(1);
  LocalMessage message;
  const std::vector<double> context = {0.6, 0.8};
  const Raw record(LocalRecord{context, 1, 2});
  ASSERT_TRUE(Release::FromUser(user, mechanism, GradientQuestion{record, kHalf, 2}, message).ok());
  EXPECT_EQ(message.entries().size(), 2u);
  ASSERT_TRUE(Release::FromUser(user, mechanism, GradientQuestion{record, kHalf}, message).ok());
  EXPECT_EQ(message.entries().size(), 6u);
  const GradientQuestion wrong{record, kHalf, 1};
  EXPECT_DEATH(static_cast<void>(Release::FromUser(user, mechanism, wrong, message)), "check failed");
}

}  // namespace
}  // namespace bandana
