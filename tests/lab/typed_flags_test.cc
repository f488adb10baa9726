#include "bandana/lab/typed_flags.h"

#include <string>

#include "bandana/core/status.h"
#include "gtest/gtest.h"

namespace bandana::lab {
namespace {

using Absent = TypedFlags::Absent;

InputError ErrorOf(const absl::Status& status) { return InputErrorOf(status).value_or(InputError{}); }

template <class Ask>
auto With(const std::string& flag, const std::string& text, Ask ask) {
  const FlagValues values = {{flag, text}};
  return ask(TypedFlags(values));
}

TEST(TypedFlagsTest, NumbersArePositiveAndNormal) {
  for (const std::string good : {"1", "1e-300", "0.5", "2.5e10", ".5"}) {
    EXPECT_EQ(With("--x", good, [](const auto& f) { return f.Number("--x"); }).value(), std::stod(good));
  }
  for (const std::string bad :
       {"nan",   "-nan", "inf", "-inf", "infinity", "0",  "-0",  "0.0", "-1", "5e-324", "1e-310",
        "1e400", "",     " ",   "1 ",   " 1",       "+1", "1,5", "one", "1e", "0x10",   "1_000"}) {
    const InputError error =
        ErrorOf(With("--x", bad, [](const auto& f) { return f.Number("--x"); }).status());
    EXPECT_EQ(error.key, "--x") << bad;
    EXPECT_EQ(error.value, bad);
    EXPECT_EQ(error.accepted, "a finite number > 0");
  }
}

TEST(TypedFlagsTest, ProbabilitiesAreBelowOne) {
  EXPECT_EQ(With("--delta", "1e-6", [](const auto& f) { return f.Probability("--delta"); }).value(), 1e-6);
  for (const std::string bad : {"1", "1.5", "0", "nan", "-0.1", "5e-324"}) {
    EXPECT_EQ(ErrorOf(With("--delta", bad, [](const auto& f) { return f.Probability("--delta"); }).status())
                  .accepted,
              "a number in (0, 1)")
        << bad;
  }
}

TEST(TypedFlagsTest, WholeNumbers) {
  EXPECT_EQ(With("--n", "9223372036854775807", [](const auto& f) { return f.Whole("--n"); }).value(),
            INT64_MAX);
  for (const std::string bad : {"0", "-1", "1.0", "1e6", "9223372036854775808", "nan", "", "1_000"}) {
    const InputError error = ErrorOf(With("--n", bad, [](const auto& f) { return f.Whole("--n"); }).status());
    EXPECT_EQ(error.key, "--n") << bad;
    EXPECT_EQ(error.value, bad);
  }
}

TEST(TypedFlagsTest, ChoicesAndAbsence) {
  const FlagValues values = {{"--a", "y"}, {"--b", std::nullopt}};
  const TypedFlags flags(values);
  EXPECT_TRUE(flags.Has("--a"));
  EXPECT_FALSE(flags.Has("--b"));
  EXPECT_FALSE(flags.Has("--c"));
  EXPECT_EQ(flags.Choice("--a", {"x", "y"}, Absent::kRefused).value(), "y");
  EXPECT_EQ(flags.Choice("--b", {"x", "y"}, Absent::kFirst).value(), "x");
  EXPECT_EQ(ErrorOf(flags.Choice("--b", {"x", "y"}, Absent::kRefused).status()).message, "missing");
  EXPECT_EQ(ErrorOf(flags.Choice("--a", {"x", "z"}, Absent::kFirst).status()).accepted, "x, z");
  EXPECT_EQ(ErrorOf(flags.Number("--b").status()).message, "missing");
  EXPECT_EQ(ErrorOf(flags.Whole("--c").status()).key, "--c");
}

TEST(TypedFlagsTest, TheLibrarysNamesBecomeFlags) {
  const auto name = [](const std::string& key) {
    return ErrorOf(NamedAsFlag(InvalidOption(key, 1, "2"), {{"clients", "n"}})).key;
  };
  EXPECT_EQ(name("privacy.epsilon"), "--epsilon");
  EXPECT_EQ(name("privacy.honest_fraction"), "--honest-fraction");
  EXPECT_EQ(name("clients"), "--n");
  EXPECT_EQ(name("--epsilon"), "--epsilon");
  EXPECT_TRUE(NamedAsFlag(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace bandana::lab
