#include "bandana/cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "bandana/core/status.h"

namespace bandana::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

TEST(TableTest, PadsColumnsAndTrimsLines) {
  EXPECT_EQ(Table({{"point", "regret"}, {"none", "1"}, {"central epsilon=1", "20.5"}}),
            "point              regret\n"
            "none                    1\n"
            "central epsilon=1    20.5\n");
  EXPECT_EQ(Table({{"a"}, {""}}), "a\n\n");
}

TEST(TableTest, ColumnsBeyondAsciiLineUp) {
  EXPECT_EQ(Table({{"point", "n"}, {"ε", "1"}, {"e", "2"}}),
            "point  n\n"
            "ε      1\n"
            "e      2\n");
}

TEST(FigureTest, HasAtMostThreeDigits) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},          {1, "1"},         {0.5, "0.5"},
      {12.345, "12.3"},  {999, "999"},     {999.4, "999"},
      {999.5, "1k"},     {1000, "1k"},     {1234, "1.23k"},
      {-1234, "-1.23k"}, {99999, "100k"},  {999499, "999k"},
      {999500, "1M"},    {1e6, "1M"},      {2.5e9, "2.5G"},
      {7e12, "7T"},      {1e15, "1e+03T"}, {0.00012345, "0.000123"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(Figure(value), text) << value;
}

TEST(FigureTest, SaysWhatIsNotFinite) {
  EXPECT_EQ(Figure(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(Figure(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(Figure(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(FailTest, ExitCodesAreThoseOfTheInterfaces) {
  const std::pair<absl::Status, int> cases[] = {
      {InvalidInput({.message = "bad"}), 2},
      {absl::InvalidArgumentError("x"), 2},
      {absl::NotFoundError("x"), 2},
      {absl::AlreadyExistsError("x"), 2},
      {absl::FailedPreconditionError("x"), 2},
      {absl::OutOfRangeError("x"), 2},
      {absl::ResourceExhaustedError("x"), 3},
      {absl::UnavailableError("x"), 4},
      {absl::DeadlineExceededError("x"), 4},
      {absl::AbortedError("x"), 4},
      {absl::CancelledError("x"), 130},
      {absl::InternalError("x"), 1},
      {absl::UnknownError("x"), 1},
      {absl::DataLossError("x"), 1},
      {absl::UnimplementedError("x"), 1},
  };
  for (const auto& [status, code] : cases) {
    CaptureStderr();
    CaptureStdout();
    EXPECT_EQ(Fail(status, {}), code) << status;
    EXPECT_EQ(GetCapturedStdout(), "");
    EXPECT_EQ(GetCapturedStderr(), "bandana: " + std::string(status.message()) + "\n");
  }
}

TEST(FailTest, JsonHasEveryField) {
  CaptureStderr();
  CaptureStdout();
  const int code = Fail(InvalidInput({.message = "not accepted",
                                      .file = "x.toml",
                                      .line = 3,
                                      .key = "privacy.epsilon",
                                      .value = "-1",
                                      .accepted = "a finite number > 0"}),
                        {.json = true});
  const std::string out = GetCapturedStdout();
  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(lab::Json::parse(out), lab::Json({{"error",
                                               {{"message", "not accepted"},
                                                {"file", "x.toml"},
                                                {"line", 3},
                                                {"key", "privacy.epsilon"},
                                                {"value", "-1"},
                                                {"accepted", "a finite number > 0"}}}}));
}

TEST(FailTest, JsonOfAnyOtherErrorHasTheSameFields) {
  CaptureStdout();
  EXPECT_EQ(Fail(absl::UnavailableError("the peer \xff is gone"), {.json = true}), 4);
  const lab::Json error = lab::Json::parse(GetCapturedStdout())["error"];
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("is gone"));
  for (const char* key : {"file", "line", "key", "value", "accepted"}) {
    EXPECT_TRUE(error.contains(key) && error[key].is_null()) << key;
  }
}

}  // namespace
}  // namespace bandana::cli
