#include "bandana/lab/settings.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "toml++/toml.h"

namespace bandana::lab {
namespace {

toml::table Parsed(const Value& value) { return toml::parse("v = " + ToToml(value)); }

TEST(ToTomlTest, WritesEachTypeAsTomlHasIt) {
  EXPECT_EQ(ToToml(Value(true)), "true");
  EXPECT_EQ(ToToml(Value(false)), "false");
  EXPECT_EQ(ToToml(Value(std::int64_t{1'000'000})), "1000000");
  EXPECT_EQ(ToToml(Value(std::int64_t{-3})), "-3");
  EXPECT_EQ(ToToml(Value(1.0)), "1.0");
  EXPECT_EQ(ToToml(Value(0.1)), "0.1");
  EXPECT_EQ(ToToml(Value(std::string("a \"b\" \\ c"))), R"("a \"b\" \\ c")");
  EXPECT_EQ(ToToml(Value(std::vector<std::int64_t>{1, 10, 100})), "[1, 10, 100]");
  EXPECT_EQ(ToToml(Value(std::vector<std::int64_t>{})), "[]");
}

TEST(ToTextTest, IsBare) {
  EXPECT_EQ(ToText(Value(std::string("dp-dpe"))), "dp-dpe");
  EXPECT_EQ(ToText(Value(1.0)), "1");
  EXPECT_EQ(ToText(Value(std::int64_t{7})), "7");
  EXPECT_EQ(ToText(Value(true)), "true");
  EXPECT_EQ(ToText(Value(std::vector<std::int64_t>{1, 2})), "[1, 2]");
}

RC_GTEST_PROP(ToTomlTest, AFiniteNumberReadsBackBitForBitAndAsANumber, (std::uint64_t bits)) {
  const auto number = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(number));
  const toml::table table = Parsed(Value(number));
  const auto* read = table["v"].as_floating_point();
  RC_ASSERT(read != nullptr);
  RC_ASSERT(std::bit_cast<std::uint64_t>(read->get()) == bits);
}

TEST(ToTomlTest, WholeAndExtremeNumbersStayNumbers) {
  for (const double number : {0.0, -0.0, 1.0, -1.0, 1e6, 1e15, 1e16, 1e22, 1e300, 5e-324,
                              std::numeric_limits<double>::min(), std::numeric_limits<double>::max()}) {
    const toml::table table = Parsed(Value(number));
    ASSERT_TRUE(table["v"].is_floating_point()) << ToToml(Value(number));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(table["v"].as_floating_point()->get()),
              std::bit_cast<std::uint64_t>(number));
  }
}

RC_GTEST_PROP(ToTomlTest, AWholeNumberReadsBack, (std::int64_t integer)) {
  const toml::table table = Parsed(Value(integer));
  RC_ASSERT(table["v"].is_integer());
  RC_ASSERT(table["v"].as_integer()->get() == integer);
}

RC_GTEST_PROP(ToTomlTest, AnyAsciiTextReadsBack, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
  RC_ASSERT(Parsed(Value(text))["v"].value<std::string>() == text);
}

TEST(ToTomlTest, EveryAsciiCharacterReadsBack) {
  for (int c = 0; c < 128; ++c) {
    const std::string text = std::string("a") + static_cast<char>(c) + "b";
    try {
      EXPECT_EQ(Parsed(Value(text))["v"].value<std::string>(), text) << "character " << c;
    } catch (const toml::parse_error& error) {
      ADD_FAILURE() << "character " << c << ": " << error.description();
    }
  }
}

TEST(ToTomlTest, TextBeyondAsciiReadsBack) {
  for (const char* text : {"über", "ε = 1", "日本語", "🏀"}) {
    EXPECT_EQ(Parsed(Value(std::string(text)))["v"].value<std::string>(), text);
  }
}

RC_GTEST_PROP(ToTomlTest, AListReadsBack, (const std::vector<std::int64_t>& list)) {
  const toml::table table = Parsed(Value(list));
  const toml::array* read = table["v"].as_array();
  RC_ASSERT(read != nullptr);
  RC_ASSERT(read->size() == list.size());
  for (std::size_t i = 0; i < list.size(); ++i) RC_ASSERT((*read)[i].value<std::int64_t>() == list[i]);
}

TEST(SettingsTest, GivesBackWhatWasSet) {
  Settings settings;
  EXPECT_FALSE(settings.Has("horizon"));
  EXPECT_EQ(settings.Find("horizon"), nullptr);
  settings.Set("horizon", Value(std::int64_t{5}));
  settings.Set("algorithm.name", Value(std::string("dp-dpe")));
  settings.Set("privacy.epsilon", Value(0.5));
  settings.Set("algorithm.beta", Value(std::string("auto")));
  EXPECT_EQ(settings.Integer("horizon"), 5);
  EXPECT_EQ(settings.Text("algorithm.name"), "dp-dpe");
  EXPECT_EQ(settings.Number("privacy.epsilon"), 0.5);
  EXPECT_EQ(settings.Text("algorithm.beta"), "auto");
}

TEST(SettingsDeathTest, AMissingKeyAndAnotherTypeAreProgrammerErrors) {
  Settings settings;
  settings.Set("horizon", Value(std::int64_t{5}));
  EXPECT_DEATH((void)settings.Integer("seed"), "");
  EXPECT_DEATH((void)settings.Number("horizon"), "");
}

}  // namespace
}  // namespace bandana::lab
