#include "bandana/lab/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "bandana/core/nearest.h"
#include "bandana/core/status.h"

namespace bandana::lab {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Value Whole(std::int64_t value) { return Value(value); }
Value Real(double value) { return Value(value); }
Value Text(const char* value) { return Value(std::string(value)); }
Value List(std::vector<std::int64_t> value) { return Value(std::move(value)); }

Option At(const char* key) {
  const std::vector<Option> options = OptionsNamed(key, "dp-dpe", "linear");
  if (options.empty()) ADD_FAILURE() << "no option " << key;
  return options.front();
}

void Takes(const char* key, const Value& value, const Value& kept) {
  const auto checked = At(key).check(value);
  ASSERT_TRUE(checked.ok()) << key << ": " << checked.status();
  EXPECT_EQ(*checked, kept) << key;
}
void Takes(const char* key, const Value& value) { Takes(key, value, value); }

InputError Refuses(const char* key, const Value& value) {
  const auto checked = At(key).check(value);
  EXPECT_FALSE(checked.ok()) << key << " = " << ToText(value) << " was taken";
  const std::optional<InputError> error = InputErrorOf(checked.status());
  EXPECT_TRUE(error.has_value());
  if (!error.has_value()) return {};
  EXPECT_TRUE(std::string(key).ends_with(error->key)) << error->key;
  EXPECT_EQ(error->value, ToText(value));
  EXPECT_THAT(error->accepted, HasSubstr(At(key).accepted));
  return *error;
}

TEST(CheckTest, WholeNumbers) {
  Takes("horizon", Whole(1));
  Takes("horizon", Whole(std::numeric_limits<std::int64_t>::max()));
  Takes("seed", Whole(0));
  for (const Value& bad :
       {Whole(0), Whole(-1), Whole(std::numeric_limits<std::int64_t>::min()), Real(0.5), Real(-1), Real(kNan),
        Real(kInf), Real(-kInf), Text("1000"), Value(true), List({1})}) {
    Refuses("horizon", bad);
  }
  Refuses("seed", Whole(-1));
}

TEST(CheckTest, AWholeNumberWrittenAsAFloatSaysHowToWriteIt) {
  EXPECT_THAT(Refuses("horizon", Real(1e6)).accepted, HasSubstr("without point or exponent: 1000000"));
  // The number is too large for a count of rounds, so the message must not advise to write it without
  // exponent.
  EXPECT_THAT(Refuses("horizon", Real(1e300)).accepted, ::testing::Not(HasSubstr("exponent")));
}

TEST(CheckTest, Numbers) {
  Takes("privacy.epsilon", Real(0.5));
  Takes("privacy.epsilon", Whole(2), Real(2));
  for (const Value& bad : {Real(0), Real(-0.0), Real(-1), Real(kNan), Real(kInf), Real(-kInf), Whole(0),
                           Whole(-1), Text("1"), Text("auto"), Value(true), List({1})}) {
    Refuses("privacy.epsilon", bad);
    Refuses("algorithm.alpha", bad);
  }
  for (const Value& bad :
       {Real(0), Real(1), Real(-1e-6), Real(1.5), Real(kNan), Real(kInf), Whole(0), Whole(1)}) {
    Refuses("privacy.delta", bad);
  }
  Takes("privacy.delta", Real(3e-308));
  Refuses("privacy.delta", Real(5e-324));
  Refuses("privacy.epsilon", Real(1e-320));
  Takes("environment.theta_norm", Whole(1), Real(1));
  Refuses("environment.theta_norm", Real(1.0000001));
  Takes("environment.client_sd", Whole(0), Real(0));
  Refuses("environment.client_sd", Real(-0.1));
  Refuses("environment.reward_sd", Real(kNan));
}

TEST(CheckTest, NumbersOrAuto) {
  for (const char* key : {"algorithm.beta", "environment.reward_bound"}) {
    Takes(key, Text("auto"));
    for (const Value& bad : {Text("Auto"), Text(""), Real(kNan), Real(kInf), Value(false)}) Refuses(key, bad);
  }
  Takes("algorithm.beta", Real(0.01));
  Refuses("algorithm.beta", Real(1));
  Takes("environment.reward_bound", Whole(1), Real(1));
  Refuses("environment.reward_bound", Real(0.999));
}

TEST(CheckTest, Choices) {
  for (const char* model : {"none", "central", "local", "shuffle"}) Takes("privacy.model", Text(model));
  for (const Value& bad : {Text("Central"), Text(""), Text("trusted"), Whole(1), Value(true)}) {
    EXPECT_EQ(Refuses("privacy.model", bad).accepted, "none, central, local, shuffle, silo, peer");
  }
}

TEST(CheckTest, Texts) {
  Takes("name", Text("anything <at> all"));
  for (const Value& bad : {Whole(5), Real(1.5), Value(true), List({})}) Refuses("name", bad);
}

TEST(CheckTest, Checkpoints) {
  for (const Value& good : {Text("log"), Whole(1), Whole(100), List({1}), List({1, 2, 1000})}) {
    Takes("checkpoints", good);
  }
  for (const Value& bad : {Text("linear"), Whole(0), Whole(-1), List({}), List({0, 1}), List({-5, 1}),
                           List({2, 1}), List({1, 1}), Real(10), Value(true)}) {
    Refuses("checkpoints", bad);
  }
}

TEST(VocabularyTest, EveryKeyIsKnownOnceAndFound) {
  std::set<std::string> seen;
  for (const std::string& key : KnownKeys()) {
    EXPECT_TRUE(seen.insert(key).second) << key << " twice";
    EXPECT_FALSE(OptionsNamed(key, "", "").empty()) << key;
  }
  EXPECT_TRUE(OptionsNamed("no.such.key", "", "").empty());
}

TEST(VocabularyTest, TheAlgorithmsOwnOptionComesFirst) {
  EXPECT_EQ(OptionsNamed("environment.contexts", "fed-ucb", "contextual-linear").front().accepted,
            "gap, sphere, probe");
  EXPECT_EQ(OptionsNamed("environment.contexts", "dp-dpe", "linear").front().accepted,
            "sphere, orthant, gaussian, file");
}

// STYLE.md: epsilon, delta, sensitivity, neighbour relation and quorum have no defaults.
TEST(VocabularyTest, APrivacyBudgetHasNoDefault) {
  for (const char* key : {"privacy.model", "privacy.epsilon", "privacy.delta"}) {
    EXPECT_TRUE(At(key).required) << key;
  }
}

TEST(NearestTest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> keys = KnownKeys();
  const std::pair<const char*, const char*> cases[] = {{"privacy.epsilom", "privacy.epsilon"},
                                                       {"privacy.eps", "privacy.epsilon"},
                                                       {"environment.dimensions", "environment.dimension"},
                                                       {"environment.action", "environment.actions"},
                                                       {"horizn", "horizon"},
                                                       {"Horizon", "horizon"},
                                                       {"algorithm.nmae", "algorithm.name"},
                                                       {"replicate", "replicates"}};
  for (const auto& [typed, meant] : cases) EXPECT_EQ(Nearest(typed, keys), meant) << typed;
}

// A key outside of its table is the most frequent mistake.
TEST(NearestTest, FindsAKeyThatLostItsTable) {
  const std::vector<std::string> keys = KnownKeys();
  for (const char* meant : {"privacy.epsilon", "privacy.delta", "privacy.model", "environment.population",
                            "environment.dimension", "algorithm.alpha"}) {
    const std::string key = meant;
    EXPECT_EQ(Nearest(key.substr(key.find('.') + 1), keys), meant);
  }
}

TEST(NearestTest, OfNothingIsNothing) {
  EXPECT_EQ(Nearest("word", {}), "");
  const std::vector<std::string> one = {"only"};
  EXPECT_EQ(Nearest("", one), "only");
}

}  // namespace
}  // namespace bandana::lab
