#include "bandana/algorithms/fed_ucb/fed_ucb.h"

#include "gmock/gmock.h"
#include "tests/algorithms/fed_ucb_support.h"
#include "tests/federation/hand_context.h"

namespace bandana {
namespace {

TEST(FedUcbTest, WithoutNoiseAndWithBatchesOfOneIsPooledLinUcb) {
  const FedSetting setting;
  const FedRun run = RunCentral(setting);
  EXPECT_EQ(run.synchronisations, setting.horizon - 1);
  const auto expected = PooledLinUcb(setting, run.arms, [](Count t) { return t - 1; });
  EXPECT_EQ(Differences(run.arms, expected), 0);
}

TEST(FedUcbTest, WithBatchesItIsPooledLinUcbOnOlderRecords) {
  FedSetting setting;
  setting.schedule = {.sync = Sync::kBatch, .batch = 7};
  const FedRun run = RunCentral(setting);
  const auto expected = PooledLinUcb(setting, run.arms, [](Count t) { return (t - 1) / 7 * 7; });
  EXPECT_EQ(Differences(run.arms, expected), 0);
}

TEST(FedUcbTest, OneAgentIsLinUcb) {
  FedSetting setting;
  setting.agents = 1;
  setting.horizon = 400;
  const FedRun run = RunCentral(setting);
  const auto expected = PooledLinUcb(setting, run.arms, [](Count t) { return t - 1; });
  EXPECT_EQ(Differences(run.arms, expected), 0);
}

TEST(FedUcbTest, ThreadsDoNotMatter) {
  FedSetting setting{.horizon = 500, .agents = 5, .schedule = {.sync = Sync::kMLogT}, .epsilon = 2};
  const FedRun alone = RunCentral(setting);
  setting.threads = 3;
  EXPECT_EQ(RunCentral(setting).arms, alone.arms);
}

TEST(FedUcbTest, ReleasesAsOftenAsTheScheduleSays) {
  for (const Sync sync : {Sync::kEvery, Sync::kMLogT, Sync::kM15, Sync::kDoubling, Sync::kReleased}) {
    FedSetting setting{.horizon = 200, .schedule = {.sync = sync}, .epsilon = 1};
    const FedRun run = RunCentral(setting);
    EXPECT_LE(run.synchronisations, ScheduleOf(setting).releases()) << NameOf(sync);
    EXPECT_GE(run.synchronisations, 1) << NameOf(sync);
    EXPECT_EQ(run.checkpoints.back().rounds, run.synchronisations);
    const Count entries = setting.dimension * (setting.dimension + 1) / 2 + setting.dimension;
    EXPECT_EQ(run.checkpoints.back().reals, run.synchronisations * setting.agents * entries);
  }
}

TEST(FedUcbTest, OwnRawRecordsTeachAnAgentBetweenSynchronisations) {
  FedSetting setting{.horizon = 2000, .agents = 2, .schedule = {.sync = Sync::kBatch, .batch = 1500}};
  const double released = RunCentral(setting).checkpoints.back().regret;
  setting.local = LocalData::kRaw;
  EXPECT_LT(RunCentral(setting).checkpoints.back().regret, 0.5 * released);
}

class AgentTest : public testing::Test {
 protected:
  FedSetting setting_{.agents = 1, .schedule = {.sync = Sync::kBatch, .batch = 10}};
  RegressionPrefixSum privatizer_ = PrivatizerOf(setting_);
  FedUcbWidth width_ = WidthOf(setting_, 1);
  FedUcbAgent<RegressionPrefixSum, double> agent_{
      {.horizon = setting_.horizon, .silos = 1}, width_, privatizer_};
  test::HandContext context_{Topology::Star(1), NodeId{1}};
};

TEST_F(AgentTest, RefusesWhatIsNotTheControllers) {
  EXPECT_EQ(agent_.OnMessage(context_, {.from = NodeId{2}, .body = Model{.epoch = 1, .until = 10}}).code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(agent_.OnMessage(context_, {.from = kServerNode, .body = Share{}}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(AgentTest, RefusesModelsThatSkipOrGoBack) {
  EXPECT_FALSE(
      agent_.OnMessage(context_, {.from = kServerNode, .body = Model{.epoch = 2, .until = 10}}).ok());
  EXPECT_FALSE(
      agent_.OnMessage(context_, {.from = kServerNode, .body = Model{.epoch = 1, .until = 1000}}).ok());
  EXPECT_TRUE(agent_.OnMessage(context_, {.from = kServerNode, .body = Model{.epoch = 1, .until = 10}}).ok());
  EXPECT_EQ(agent_.rounds_ready(), 10);
  EXPECT_TRUE(agent_.OnMessage(context_, {.from = kServerNode, .body = Model{.epoch = 1, .until = 20}}).ok());
  EXPECT_EQ(agent_.rounds_ready(), 10) << "a repeat changes nothing";
}

TEST(FedUcbDeathTest, RawRecordsNeedAWordForIt) {
  const FedSetting setting;
  const RegressionPrefixSum privatizer = PrivatizerOf(setting);
  const FedUcbWidth width = WidthOf(setting, 1);
  using Agent = FedUcbAgent<RegressionPrefixSum, double>;
  EXPECT_DEATH(Agent({.horizon = 10, .silos = 1, .local = LocalData::kRaw}, width, privatizer), "");
  EXPECT_DEATH(Agent({.horizon = 10, .silos = 1, .triggers = true}, width, privatizer), "");
}

}  // namespace
}  // namespace bandana
