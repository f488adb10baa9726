#include "bandana/bandit/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "bandana/bandit/linear_problem.h"

namespace bandana {
namespace {

// The gaps are 0.5, 0 and 1, exact in binary; arm 1 is the best.
LinearProblem Problem() {
  ActionMatrix actions(3, 1);
  actions << 0.0, 0.5, -0.5;
  auto problem = LinearProblem::Create(actions, Vector::Constant(1, 1.0));
  EXPECT_TRUE(problem.ok());
  return *std::move(problem);
}

std::vector<Count> TimesOf(const Recorder& recorder) {
  std::vector<Count> times;
  for (const Checkpoint& checkpoint : recorder.checkpoints()) times.push_back(checkpoint.t);
  return times;
}

TEST(RecorderTest, StartsAtNothing) {
  const LinearProblem problem = Problem();
  const Recorder recorder(problem, {5});
  EXPECT_EQ(recorder.now().t, 0);
  EXPECT_EQ(recorder.now().regret, 0);
  EXPECT_TRUE(recorder.checkpoints().empty());
}

TEST(RecorderTest, NotesCheckpointsInsideALongPlan) {
  const LinearProblem problem = Problem();
  Recorder recorder(problem, {1, 4, 10, 11, 1000});
  const std::vector<Pull> pulls = {{0, 4}, {1, 6}, {2, 5}};
  recorder.Play(pulls);
  ASSERT_THAT(TimesOf(recorder), ::testing::ElementsAre(1, 4, 10, 11));
  const std::vector<Checkpoint>& at = recorder.checkpoints();
  EXPECT_EQ(at[0].regret, 0.5);
  EXPECT_EQ(at[1].regret, 2);
  EXPECT_EQ(at[2].regret, 2);
  EXPECT_EQ(at[3].regret, 3);
  EXPECT_EQ(at[0].best_action_rate, 0);
  EXPECT_EQ(at[1].best_action_rate, 0);
  EXPECT_EQ(at[2].best_action_rate, 0.6);
  EXPECT_DOUBLE_EQ(at[3].best_action_rate, 6. / 11);
  EXPECT_EQ(recorder.now().t, 15);
  EXPECT_EQ(recorder.now().regret, 7);
}

// If the order of the plays is unknown, regret and best plays are spread evenly over the rounds.
TEST(RecorderTest, MixedPlaysAreSpreadEvenly) {
  const LinearProblem problem = Problem();
  Recorder recorder(problem, {2, 5, 8, 12});
  const std::vector<Pull> pulls = {{0, 2}, {1, 4}, {2, 2}};  // regret 1 + 0 + 2 in 8 rounds
  recorder.PlayMixed(pulls);
  ASSERT_THAT(TimesOf(recorder), ::testing::ElementsAre(2, 5, 8));
  const std::vector<Checkpoint>& at = recorder.checkpoints();
  EXPECT_DOUBLE_EQ(at[0].regret, 3. / 8 * 2);
  EXPECT_DOUBLE_EQ(at[1].regret, 3. / 8 * 5);
  EXPECT_DOUBLE_EQ(at[2].regret, 3) << "at the end it is what any order comes to";
  for (const Checkpoint& each : at) EXPECT_DOUBLE_EQ(each.best_action_rate, 0.5);
  recorder.Play(std::vector<Pull>{{2, 4}});
  EXPECT_DOUBLE_EQ(recorder.now().regret, 7);
  EXPECT_DOUBLE_EQ(recorder.now().best_action_rate, 4. / 12);
  Recorder nothing(problem, {1});
  nothing.PlayMixed({});
  EXPECT_EQ(nothing.now().t, 0);
  EXPECT_EQ(nothing.now().regret, 0);
}

TEST(RecorderTest, AGroupsReportIsThatOfItsClients) {
  const LinearProblem problem = Problem();
  Recorder recorder(problem, {});
  recorder.Report(1, 1000, 64'000, 1000);
  recorder.Report(1, 1, 64);
  EXPECT_EQ(recorder.now().clients, 1001);
  EXPECT_EQ(recorder.now().reals, 1001);
  EXPECT_EQ(recorder.now().bits, 64'064);
  EXPECT_EQ(recorder.now().rounds, 1);
}

TEST(RecorderTest, HugeCountsAreExact) {
  const LinearProblem problem = Problem();
  Recorder recorder(problem, {Count{1} << 40});
  const std::vector<Pull> pulls = {{0, Count{1} << 45}};
  recorder.Play(pulls);
  EXPECT_EQ(recorder.checkpoints()[0].regret, 0x1p39);
  EXPECT_EQ(recorder.now().regret, 0x1p44);
}

TEST(RecorderTest, ReportsCountClientsRealsAndRounds) {
  const LinearProblem problem = Problem();
  Recorder recorder(problem, {3, 6});
  const std::vector<Pull> pulls = {{0, 3}};
  recorder.Report(1, 7, 64 * 7);
  recorder.Report(1, 7, 64 * 7);
  recorder.Play(pulls);
  recorder.Report(2, 4, 64 * 4);
  EXPECT_EQ(recorder.checkpoints()[0].clients, 2);
  EXPECT_EQ(recorder.checkpoints()[0].reals, 14);
  EXPECT_EQ(recorder.checkpoints()[0].rounds, 1);
  EXPECT_EQ(recorder.now().clients, 3);
  EXPECT_EQ(recorder.now().reals, 18);
  EXPECT_EQ(recorder.now().rounds, 2);
}

TEST(RecorderTest, FinishBringsTheLastCheckpointUpToDateAndNoOther) {
  const LinearProblem problem = Problem();
  Recorder recorder(problem, {2, 4});
  const std::vector<Pull> pulls = {{0, 4}};
  recorder.Play(pulls);
  recorder.Report(1, 9, 64 * 9);
  recorder.Finish();
  ASSERT_EQ(recorder.checkpoints().size(), 2u);
  EXPECT_EQ(recorder.checkpoints()[0].clients, 0);
  EXPECT_EQ(recorder.checkpoints()[1].clients, 1);
  EXPECT_EQ(recorder.checkpoints()[1].reals, 9);

  Recorder beyond(problem, {2});
  beyond.Play(pulls);
  beyond.Report(1, 9, 64 * 9);
  beyond.Finish();
  ASSERT_EQ(beyond.checkpoints().size(), 1u);
  EXPECT_EQ(beyond.checkpoints()[0].t, 2);
  EXPECT_EQ(beyond.checkpoints()[0].clients, 0) << "a checkpoint of the past was changed";

  Recorder untouched(problem, {2});
  untouched.Finish();
  EXPECT_TRUE(untouched.checkpoints().empty());
}

RC_GTEST_PROP(RecorderTest, AgreesWithPlayingRoundByRound, ()) {
  const LinearProblem problem = Problem();
  std::vector<Pull> pulls;
  const int plays = *rc::gen::inRange(1, 12);
  for (int i = 0; i < plays; ++i)
    pulls.push_back({*rc::gen::inRange<ArmId>(0, 3), *rc::gen::inRange<Count>(1, 9)});
  std::vector<Count> times;
  for (Count t = 1; t < 100; ++t) {
    if (*rc::gen::inRange(0, 4) == 0) times.push_back(t);
  }
  Recorder whole(problem, times);
  const auto cut = *rc::gen::inRange<std::size_t>(0, pulls.size() + 1);
  whole.Play(std::span(pulls).first(cut));
  whole.Play(std::span(pulls).subspan(cut));
  std::vector<Checkpoint> expected;
  double regret = 0;
  Count t = 0, best = 0;
  for (const Pull& pull : pulls) {
    for (Count i = 0; i < pull.count; ++i) {
      ++t;
      regret += problem.Gap(pull.arm);
      best += pull.arm == 1;
      if (std::find(times.begin(), times.end(), t) != times.end()) {
        expected.push_back({.t = t, .regret = regret, .best_action_rate = static_cast<double>(best) / t});
      }
    }
  }
  RC_ASSERT(whole.now().t == t);
  RC_ASSERT(whole.now().regret == regret);
  RC_ASSERT(whole.checkpoints().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    RC_ASSERT(whole.checkpoints()[i].t == expected[i].t);
    RC_ASSERT(whole.checkpoints()[i].regret == expected[i].regret);
    RC_ASSERT(whole.checkpoints()[i].best_action_rate == expected[i].best_action_rate);
  }
}

}  // namespace
}  // namespace bandana
