#include "bandana/bandit/logged_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "tests/support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class LoggedDataTest : public ::testing::Test {
 protected:
  void TearDown() override {
    std::remove(path_.c_str());
    std::remove(actions_path_.c_str());
  }

  absl::StatusOr<LoggedData> Read(const std::string& text, LoggedDataOptions options = {.num_actions = 3}) {
    std::ofstream(path_, std::ios::binary) << text;
    return ReadLoggedData(path_, options);
  }
  absl::StatusOr<LoggedData> ReadWithActions(const std::string& actions, Count num_actions = 0) {
    std::ofstream(actions_path_, std::ios::binary) << actions;
    return Read("x0,action,reward,pscore\n1,0,1,1\n",
                {.num_actions = num_actions, .action_context = actions_path_});
  }
  static InputError ErrorOf(const absl::StatusOr<LoggedData>& log) {
    EXPECT_FALSE(log.ok());
    return InputErrorOf(log.status()).value_or(InputError{});
  }

  std::string path_ = ::testing::TempDir() + "bandana_log_" + std::to_string(getpid()) + ".csv";
  std::string actions_path_ =
      ::testing::TempDir() + "bandana_log_actions_" + std::to_string(getpid()) + ".csv";
};

TEST_F(LoggedDataTest, ColumnsInAnyOrder) {
  const auto log = Read(
      "\xef\xbb\xbf"
      "reward,context_1,position,action,pscore,context_0\r\n"
      "1,0.5,2,0,0.25,-1\r\n# a remark\r\n0,1e-3,2,2.0,1,7\r\n");
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->rounds(), 2);
  EXPECT_EQ(log->num_actions(), 3);
  EXPECT_EQ(log->dimension(), 2);
  EXPECT_EQ(Vector(log->context(0)), Eigen::Vector2d(-1, 0.5));
  EXPECT_EQ(Vector(log->context(1)), Eigen::Vector2d(7, 0.001));
  EXPECT_EQ(log->action(1), 2);
  EXPECT_EQ(log->reward(0), 1);
  EXPECT_EQ(log->pscore(0), 0.25);
  EXPECT_EQ(log->smallest_pscore(), 0.25);
  EXPECT_EQ(log->action_contexts().rows(), 0);
  EXPECT_TRUE(Read("x1,x0,action,reward,pscore\n1,2,0,1,1\n").ok());
}

TEST_F(LoggedDataTest, OtherColumnsMustBeNamed) {
  const std::string text = "x0,action,reward,pscore,when\n1,0,1,1,yesterday\n";
  const InputError error = ErrorOf(Read(text));
  EXPECT_EQ(error.value, "when");
  EXPECT_EQ(error.line, 1);
  EXPECT_EQ(error.file, path_);
  EXPECT_TRUE(Read(text, {.num_actions = 1, .ignored = {"when"}}).ok());
  EXPECT_THAT(ErrorOf(Read(",x0,action,reward,pscore\n0,1,0,1,1\n")).value, HasSubstr("without a name"));
  EXPECT_TRUE(Read(",x0,action,reward,pscore\n0,1,0,1,1\n", {.num_actions = 1, .ignored = {""}}).ok());
  EXPECT_EQ(ErrorOf(Read("context_0,x0,action,reward,pscore\n1,1,0,1,1\n")).value, "x0") << "two contexts";
  EXPECT_EQ(ErrorOf(Read("x0,x01,action,reward,pscore\n1,1,0,1,1\n")).value, "x01");
}

TEST_F(LoggedDataTest, MissingColumnsAreNamed) {
  EXPECT_EQ(ErrorOf(Read("x0,action,reward\n")).key, "pscore");
  EXPECT_EQ(ErrorOf(Read("x0,reward,pscore\n")).key, "action");
  EXPECT_EQ(ErrorOf(Read("x0,action,pscore\n")).key, "reward");
  EXPECT_EQ(ErrorOf(Read("action,reward,pscore\n")).key, "context_0");
  EXPECT_EQ(ErrorOf(Read("context_0,context_2,action,reward,pscore\n")).key, "context_1");
  EXPECT_EQ(ErrorOf(Read("x0,action,action,reward,pscore\n")).value, "action");
}

TEST_F(LoggedDataTest, BadValuesAreNamedWithTheirPlace) {
  const std::string good = "x0,action,reward,pscore,position\n1,0,1,1,0\n";
  struct Case {
    std::string line, key, value;
  };
  for (const Case& bad : std::vector<Case>{{"nan,0,1,1,0", "x0", "nan"},
                                           {"inf,0,1,1,0", "x0", "inf"},
                                           {"1e999,0,1,1,0", "x0", "1e999"},
                                           {",0,1,1,0", "x0", ""},
                                           {"1,3,1,1,0", "action", "3"},
                                           {"1,-1,1,1,0", "action", "-1"},
                                           {"1,0.5,1,1,0", "action", "0.5"},
                                           {"1,nan,1,1,0", "action", "nan"},
                                           {"1,1e30,1,1,0", "action", "1e30"},
                                           {"1,0,x,1,0", "reward", "x"},
                                           {"1,0,-inf,1,0", "reward", "-inf"},
                                           {"1,0,1,0,0", "pscore", "0"},
                                           {"1,0,1,1.01,0", "pscore", "1.01"},
                                           {"1,0,1,-0.5,0", "pscore", "-0.5"},
                                           {"1,0,1,nan,0", "pscore", "nan"},
                                           {"1,0,1,1e-400,0", "pscore", "1e-400"},
                                           {"1,0,1,1,1", "position", "1"},
                                           {"1,0,1,1", "file", "4 fields"},
                                           {"1,0,1,1,0,0", "file", "6 fields"}}) {
    const InputError error = ErrorOf(Read(good + "\n" + bad.line + "\n"));
    EXPECT_EQ(error.file, path_) << bad.line;
    EXPECT_EQ(error.line, 4) << bad.line;
    EXPECT_EQ(error.key, bad.key) << bad.line;
    EXPECT_EQ(error.value, bad.value) << bad.line;
    EXPECT_FALSE(error.accepted.empty()) << bad.line;
  }
  EXPECT_THAT(ErrorOf(Read("x0,action,reward,pscore\n")).message, HasSubstr("no round"));
  EXPECT_THAT(ErrorOf(Read("")).message, HasSubstr("empty"));
  EXPECT_EQ(ErrorOf(ReadLoggedData("/nonexistent.csv", {.num_actions = 1})).key, "file");
  EXPECT_EQ(ErrorOf(Read(good, {})).key, "actions");
  EXPECT_EQ(ErrorOf(Read(good, {.num_actions = -1})).key, "actions");
}

TEST_F(LoggedDataTest, ActionContexts) {
  const auto log = ReadWithActions("action,action_context_0,action_context_1\n1,3,4\n0,1,2\n");
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->num_actions(), 2);
  EXPECT_EQ(log->action_contexts(), (ActionMatrix(2, 2) << 1, 2, 3, 4).finished());
  EXPECT_EQ(ReadWithActions("x0\n5\n6\n7\n", 3)->action_contexts(),
            (ActionMatrix(3, 1) << 5, 6, 7).finished());

  EXPECT_EQ(ErrorOf(ReadWithActions("x0\n5\n6\n7\n", 4)).value, "3 rows");
  EXPECT_EQ(ErrorOf(ReadWithActions("x0\n5\n6\n7\n", 2)).line, 4);
  EXPECT_EQ(ErrorOf(ReadWithActions("x0\n")).value, "0 rows");
  EXPECT_EQ(ErrorOf(ReadWithActions("action,x0\n0,1\n0,1\n")).key, "action");
  EXPECT_EQ(ErrorOf(ReadWithActions("action,x0\n0,1\n2,1\n")).value, "2");
  EXPECT_EQ(ErrorOf(ReadWithActions("x0,y\n1,1\n")).value, "y");
  EXPECT_EQ(ErrorOf(ReadWithActions("y\n1\n")).key, "action_context_0");
  const InputError error = ErrorOf(ReadWithActions("x0\n1\nnan\n"));
  EXPECT_EQ(error.file, actions_path_);
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(ErrorOf(Read("", {.action_context = "/nonexistent.csv"})).key, "action_context");
}

TEST(LoggedDataCreateTest, ChecksWhatItIsGiven) {
  const LoggedData::Params good{.num_actions = 2,
                                .dimension = 1,
                                .contexts = {1, 2},
                                .actions = {0, 1},
                                .rewards = {0, 1},
                                .pscores = {0.5, 0.5}};
  EXPECT_TRUE(LoggedData::Create(good).ok());
  const auto key = [&](auto change) {
    LoggedData::Params params = good;
    change(params);
    const auto log = LoggedData::Create(std::move(params));
    return log.ok() ? "" : InputErrorOf(log.status()).value_or(InputError{}).key;
  };
  EXPECT_EQ(key([](auto& p) { p.num_actions = 0; }), "num_actions");
  EXPECT_EQ(key([](auto& p) { p.num_actions = 1; }), "action");
  EXPECT_EQ(key([](auto& p) { p.actions[0] = -1; }), "action");
  EXPECT_EQ(key([](auto& p) { p.actions = {}; }), "action");
  EXPECT_EQ(key([](auto& p) { p.dimension = 0; }), "dimension");
  EXPECT_EQ(key([](auto& p) { p.dimension = 2; }), "context");
  EXPECT_EQ(key([](auto& p) { p.contexts[1] = kNan; }), "context");
  EXPECT_EQ(key([](auto& p) { p.rewards[1] = -INFINITY; }), "reward");
  EXPECT_EQ(key([](auto& p) { p.rewards.pop_back(); }), "reward");
  EXPECT_EQ(key([](auto& p) { p.pscores.pop_back(); }), "pscore");
  for (const double bad : {0.0, -0.1, 1.1, kNan}) {
    EXPECT_EQ(key([&](auto& p) { p.pscores[0] = bad; }), "pscore") << bad;
  }
  EXPECT_EQ(key([](auto& p) { p.action_contexts = ActionMatrix::Zero(3, 1); }), "action_context");
  EXPECT_EQ(key([](auto& p) { p.action_contexts = ActionMatrix::Constant(2, 1, kNan); }), "action_context");
}

// Checks a round trip of every digit. The reader is linear in rows, and this log has a thousandth of the rows
// that take a few seconds.
TEST_F(LoggedDataTest, ReadsWhatWasWritten) {
  test::Coins coins(1);
  std::string text = "context_0,context_1,action,reward,pscore\n";
  std::vector<double> numbers;
  for (int t = 0; t < 1000; ++t) {
    const double x = StandardNormal(coins.gen), y = 1e-300 * StandardNormal(coins.gen);
    const double reward = StandardLaplace(coins.gen), pscore = 1 - UniformUnit(coins.gen);
    text += fmt::format("{},{},{},{},{}\n", x, y, t % 3, reward, pscore);
    for (const double number : {x, y, reward, pscore}) numbers.push_back(number);
  }
  const auto log = Read(text);
  ASSERT_TRUE(log.ok()) << log.status();
  for (int t = 0; t < 1000; ++t) {
    const double* expected = &numbers[static_cast<std::size_t>(4 * t)];
    EXPECT_EQ(log->context(t)[0], expected[0]);
    EXPECT_EQ(log->context(t)[1], expected[1]);
    EXPECT_EQ(log->reward(t), expected[2]);
    EXPECT_EQ(log->pscore(t), expected[3]);
    EXPECT_EQ(log->action(t), t % 3);
  }
}

}  // namespace
}  // namespace bandana
