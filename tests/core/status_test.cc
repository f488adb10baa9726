#include "bandana/core/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <memory>
#include <string>

namespace bandana {
namespace {

InputError Full() {
  return {.message = "not accepted",
          .file = "spec.toml",
          .line = 12,
          .key = "privacy.epsilon",
          .value = "-1",
          .accepted = "a finite number > 0"};
}

TEST(InputErrorTest, AllFieldsComeBackAndAreInTheMessage) {
  const absl::Status status = InvalidInput(Full());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(InputErrorOf(status), Full());
  EXPECT_EQ(status.message(),
            "spec.toml:12: privacy.epsilon = -1: not accepted (accepted: a finite number > 0)");
}

TEST(InputErrorTest, EmptyFieldsAreLeftOutAndComeBackEmpty) {
  InputError error = Full();
  error.file = "";
  error.line = 0;
  EXPECT_EQ(InvalidInput(error).message(),
            "privacy.epsilon = -1: not accepted (accepted: a finite number > 0)");
  EXPECT_EQ(InputErrorOf(InvalidInput(error)), error);
  error.value = "";
  EXPECT_EQ(InvalidInput(error).message(), "privacy.epsilon: not accepted (accepted: a finite number > 0)");
  EXPECT_EQ(InputErrorOf(InvalidInput(error)), error);
  error.accepted = "";
  EXPECT_EQ(InvalidInput(error).message(), "privacy.epsilon: not accepted");
  EXPECT_EQ(InputErrorOf(InvalidInput(error)), error);
  error.key = "";
  EXPECT_EQ(InvalidInput(error).message(), "not accepted");
  EXPECT_EQ(InputErrorOf(InvalidInput(error)), error);
  EXPECT_EQ(InputErrorOf(InvalidInput({})), InputError{});
}

TEST(InputErrorTest, AFileWithoutALineIsNamedWithoutOne) {
  InputError error = Full();
  error.line = 0;
  EXPECT_THAT(std::string(InvalidInput(error).message()),
              ::testing::StartsWith("spec.toml: privacy.epsilon"));
  EXPECT_EQ(InputErrorOf(InvalidInput(error)), error);
}

RC_GTEST_PROP(InputErrorTest, EveryErrorComesBack, ()) {
  InputError error{.message = *rc::gen::string<std::string>(),
                   .file = *rc::gen::string<std::string>(),
                   .line = *rc::gen::inRange(0, 1000),
                   .key = *rc::gen::string<std::string>(),
                   .value = *rc::gen::string<std::string>(),
                   .accepted = *rc::gen::string<std::string>()};
  RC_ASSERT(InputErrorOf(InvalidInput(error)) == error);
}

// A value can hold any characters that a person typed.
TEST(InputErrorTest, ControlCharactersInAFieldComeBack) {
  for (char c = 0; c < 0x20; ++c) {
    InputError error = Full();
    error.value = std::string("a") + c + "b";
    EXPECT_EQ(InputErrorOf(InvalidInput(error)), error) << int{c};
  }
}

TEST(InputErrorTest, OtherStatusesHaveNone) {
  EXPECT_EQ(InputErrorOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(InputErrorOf(absl::InvalidArgumentError("privacy.epsilon")), std::nullopt);
}

TEST(InputErrorTest, AFileIsPutToAnErrorThatNamesNone) {
  InputError error = Full();
  error.file = "";
  error.line = 0;
  EXPECT_EQ(InputErrorOf(WithFile(InvalidInput(error), "spec.toml", 12)), Full());
  EXPECT_EQ(InputErrorOf(WithFile(InvalidInput(Full()), "other.toml", 3)), Full()) << "it names one already";
  EXPECT_EQ(WithFile(absl::InternalError("x"), "spec.toml", 12), absl::InternalError("x"));
  EXPECT_TRUE(WithFile(absl::OkStatus(), "spec.toml", 12).ok());
}

TEST(InvalidOptionTest, NamesKeyValueAndRange) {
  EXPECT_EQ(InputErrorOf(InvalidOption("a.b", "c", "d")),
            (InputError{.message = "not accepted", .key = "a.b", .value = "c", .accepted = "d"}));
  EXPECT_EQ(InputErrorOf(InvalidOption("a.b", 0.25, "d"))->value, "0.25");
  EXPECT_EQ(InputErrorOf(InvalidOption("a.b", std::numeric_limits<double>::quiet_NaN(), "d"))->value, "nan");
}

absl::StatusOr<std::unique_ptr<int>> Half(int x) {
  if (x % 2 != 0) return absl::InvalidArgumentError("odd");
  return std::make_unique<int>(x / 2);
}

absl::StatusOr<int> Quarter(int x, int& reached) {
  BANDANA_ASSIGN_OR_RETURN(const auto half, Half(x));
  ++reached;
  BANDANA_ASSIGN_OR_RETURN(auto quarter, Half(*half));
  ++reached;
  BANDANA_RETURN_IF_ERROR(*quarter == 0 ? absl::OutOfRangeError("none left") : absl::OkStatus());
  ++reached;
  return *quarter;
}

TEST(StatusMacrosTest, ReturnTheFirstErrorAndGoOnWithoutOne) {
  const auto outcome = [](int x) {
    int reached = 0;
    const absl::StatusOr<int> result = Quarter(x, reached);
    return std::pair(result.ok() ? std::to_string(*result) : std::string(result.status().message()), reached);
  };
  EXPECT_EQ(outcome(12), std::pair(std::string("3"), 3));
  EXPECT_EQ(outcome(11), std::pair(std::string("odd"), 0));
  EXPECT_EQ(outcome(10), std::pair(std::string("odd"), 1));
  EXPECT_EQ(outcome(0), std::pair(std::string("none left"), 2));
}

}  // namespace
}  // namespace bandana
