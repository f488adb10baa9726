#include "bandana/lab/judge/formula.h"

#include <cmath>

#include "bandana/core/status.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Evaluates a formula in which a = 2, b = 3 and {k.ey} = 10. A function of a series returns 100 + x.
absl::StatusOr<double> ValueOf(const std::string& text) {
  const absl::StatusOr<Formula> formula = Formula::Parse(text);
  if (!formula.ok()) return formula.status();
  return formula->Evaluate({.name = [](const std::string& name) -> absl::StatusOr<double> {
                              if (name == "a") return 2;
                              if (name == "b") return 3;
                              return absl::NotFoundError("no " + name);
                            },
                            .key = [](const std::string& key) -> absl::StatusOr<double> {
                              if (key == "k.ey") return 10;
                              return absl::NotFoundError("no " + key);
                            },
                            .of_series = [](const std::string&, const std::string&,
                                            double x) -> absl::StatusOr<double> { return 100 + x; }});
}

TEST(Formula, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(*ValueOf("1 + 2 * 3"), 7);
  EXPECT_EQ(*ValueOf("(1 + 2) * 3"), 9);
  EXPECT_EQ(*ValueOf("7 - 2 - 1"), 4);
  EXPECT_EQ(*ValueOf("8 / 2 / 2"), 2);
  EXPECT_EQ(*ValueOf("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(*ValueOf("-2 ^ 2"), -4);
  EXPECT_EQ(*ValueOf("2 ^ -1"), 0.5);
  EXPECT_EQ(*ValueOf("a * b - {k.ey} / 5"), 4);
  EXPECT_EQ(*ValueOf("1.5e2 + 1e-1"), 150.1);
}

TEST(Formula, HasFunctions) {
  EXPECT_EQ(*ValueOf("abs(a - b)"), 1);
  EXPECT_EQ(*ValueOf("ceil(2.1) + floor(2.9)"), 5);
  EXPECT_EQ(*ValueOf("min(a, b) + 10 * max(a, b)"), 32);
  EXPECT_DOUBLE_EQ(*ValueOf("log(exp(2)) + sqrt(9)"), 5);
  EXPECT_EQ(*ValueOf("at(a, 0.5) + slope(b)"), 200.5);
}

TEST(Formula, ComparesInChains) {
  EXPECT_EQ(*ValueOf("a < b"), 1);
  EXPECT_EQ(*ValueOf("a < b < 3"), 0);
  EXPECT_EQ(*ValueOf("a < b <= 3 == 3 >= a > 1"), 1);
  EXPECT_EQ(*ValueOf("(a < b) + 1"), 2);
  EXPECT_EQ(*ValueOf("0 / 0 <= 1"), 0) << "a comparison with NaN is false";
}

TEST(Formula, SaysWhereItEnds) {
  for (const char* text : {"", "1 +", "(1", "{k.ey", "1 2", "max(1)", "sin(1)", "at(1, 2)", "1 $ 2", "a b"}) {
    const absl::StatusOr<double> value = ValueOf(text);
    ASSERT_FALSE(value.ok()) << text;
    ASSERT_TRUE(InputErrorOf(value.status()).has_value()) << text;
    EXPECT_EQ(InputErrorOf(value.status())->value, text);
  }
  EXPECT_THAT(ValueOf("sin(1)").status().message(), HasSubstr("one of abs, ceil"));
  EXPECT_THAT(ValueOf("1 $ 2").status().message(), HasSubstr("at \"$ 2\""));
}

TEST(Formula, RefusesWhatIsTooDeepForTheStack) {
  EXPECT_EQ(*ValueOf(std::string(90, '(') + "7" + std::string(90, ')')), 7);
  EXPECT_EQ(*ValueOf(std::string(90, '-') + "7"), 7);
  for (const char letter : {'(', '-'}) {
    EXPECT_THAT(ValueOf(std::string(200, letter) + "7").status().message(), HasSubstr("at most 100 levels"));
    EXPECT_THAT(ValueOf(std::string(100'000, letter)).status().message(), HasSubstr("at most 4000 letters"));
  }
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i) sum += "+1";
  EXPECT_EQ(*ValueOf(sum), 1001);
}

TEST(Formula, FailsIfANameHasNoValue) {
  EXPECT_THAT(ValueOf("a + c").status().message(), HasSubstr("no c"));
  EXPECT_THAT(ValueOf("{other}").status().message(), HasSubstr("no other"));
}

TEST(Formula, ExplainsBothSides) {
  const auto name = [](const std::string& text) -> absl::StatusOr<double> {
    return text == "a" ? 2 : 3.14159;
  };
  const auto explained = [&](const std::string& text) {
    return *Formula::Parse(text)->Explain({.name = name, .key = name});
  };
  EXPECT_EQ(explained("a * 2 <= b < 4"), "4 not <= 3.14 < 4");
  EXPECT_EQ(explained("a + b"), "5.14");
}

TEST(Formula, KnowsItsNames) {
  const Formula formula = *Formula::Parse("a + at(b, {x.y}) <= {z}");
  EXPECT_THAT(formula.names(), ElementsAre("a", "b"));
  EXPECT_THAT(formula.keys(), ElementsAre("x.y", "z"));
  EXPECT_TRUE(formula.calls_series());
  EXPECT_FALSE(Formula::Parse("a + b")->calls_series());
}

}  // namespace
}  // namespace bandana::lab
