#include "bandana/algorithms/fed_ucb/sync_schedule.h"

#include "gmock/gmock.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

std::vector<Count> RoundsOf(const SyncScheduleParams& params) {
  const SyncSchedule schedule = SyncSchedule::Create(params).value();
  std::vector<Count> rounds;
  for (Count last = 0, next = 0;; last = next) {
    next = schedule.Next(static_cast<std::int64_t>(rounds.size()) + 1, last, nullptr, 0);
    if (next >= params.horizon) return rounds;
    rounds.push_back(next);
  }
}

TEST(SyncScheduleTest, KnownRounds) {
  using testing::ElementsAre;
  EXPECT_THAT(RoundsOf({.sync = Sync::kEvery, .horizon = 5, .agents = 3}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(RoundsOf({.sync = Sync::kBatch, .horizon = 20, .agents = 3, .batch = 5}),
              ElementsAre(5, 10, 15));
  EXPECT_THAT(RoundsOf({.sync = Sync::kDoubling, .horizon = 20, .agents = 3}), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(RoundsOf({.sync = Sync::kM15, .horizon = 900, .agents = 4}), ElementsAre(100, 400));
  EXPECT_THAT(RoundsOf({.sync = Sync::kMLogT, .horizon = 16, .agents = 4}), ElementsAre(1, 3, 6, 11));
}

TEST(SyncScheduleTest, LogTMeansLogTSynchronisations) {
  EXPECT_EQ(SyncSchedule::Create({.sync = Sync::kMLogT, .horizon = 50'000, .agents = 50})->releases(), 16);
  EXPECT_EQ(SyncSchedule::Create({.sync = Sync::kM15, .horizon = 50'000, .agents = 50})->releases(), 8);
  EXPECT_EQ(SyncSchedule::Create({.sync = Sync::kDeterminant, .horizon = 100, .agents = 50})->releases(), 99);
}

TEST(SyncScheduleTest, ErrorsNameTheKey) {
  EXPECT_THAT(SyncSchedule::Create({.sync = Sync::kBatch, .horizon = 5, .agents = 1}).status().message(),
              testing::HasSubstr("batch = "));
  EXPECT_FALSE(SyncSchedule::Create({.horizon = 0, .agents = 1}).ok());
  EXPECT_FALSE(SyncSchedule::Create({.horizon = 5, .agents = 0}).ok());
}

RC_GTEST_PROP(SyncScheduleTest, RoundsAscendAndAreAtMostN, ()) {
  const auto sync = *rc::gen::element(Sync::kEvery, Sync::kBatch, Sync::kMLogT, Sync::kM15, Sync::kDoubling);
  const Count horizon = *rc::gen::inRange<Count>(1, 3000);
  const SyncScheduleParams params{.sync = sync,
                                  .horizon = horizon,
                                  .agents = *rc::gen::inRange<Count>(1, 200),
                                  .batch = *rc::gen::inRange<Count>(1, 400)};
  const std::vector<Count> rounds = RoundsOf(params);
  RC_ASSERT(static_cast<std::int64_t>(rounds.size()) <= SyncSchedule::Create(params)->releases());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    RC_ASSERT(rounds[i] >= 1 && rounds[i] < horizon);
    if (i > 0) RC_ASSERT(rounds[i] > rounds[i - 1]);  // RC_ASSERT would evaluate both sides of ||
  }
}

TEST(SyncScheduleTest, ReleasedSumsMoveTheNextRound) {
  const SyncSchedule schedule =
      SyncSchedule::Create({.sync = Sync::kReleased, .horizon = 1 << 16, .agents = 4}).value();
  RegressionSums little{.step = 1, .gram = Matrix::Identity(3, 3), .moments = Vector::Zero(3)};
  RegressionSums much = little;
  much.gram *= 1e6;
  const Count after_little = schedule.Next(2, 100, &little, 1000.0);
  const Count after_much = schedule.Next(2, 100, &much, 1000.0);
  EXPECT_GT(after_little, after_much) << "where little is known beside the shift, information grows late";
  EXPECT_GT(after_much, 100);
}

}  // namespace
}  // namespace bandana
