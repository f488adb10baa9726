#include "bandana/algorithms/registry.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"
#include "gmock/gmock.h"

// Entries of the registry tell the truth about themselves: every algorithm runs in every world and under
// every trust model that it lists, and refuses the others by name.
namespace bandana {
namespace {

constexpr Count kHorizon = 100;

// The values of a small world, where its kind has options without a default.
Values SmallWorld(const WorldKind& kind) {
  Values values;
  for (const Option& option : kind.options) {
    if (option.key == "dimension") values["dimension"] = 2;
    if (option.key == "actions") values["actions"] = kind.time == TimeModel::kRound ? 4 : 3;
    if (option.key == "agents") values["agents"] = 4;
    if (option.key == "theta_norm") values["theta_norm"] = 0.5;
    if (option.key == "policies") values["policies"] = 8;
    if (option.key == "loans") values["loans"] = 200;
  }
  if (kind.time == TimeModel::kRound) {
    values["contexts"] = "gap";
    values["reward"] = "bernoulli";
    values.erase("theta_norm");
  }
  if (kind.name == "live") {
    const std::string file = testing::TempDir() + "live_actions.csv";
    std::ofstream(file) << "name\none\ntwo\nthree\n";
    values = {{"actions_file", file}, {"reward_window", "1h"}};
  }
  if (kind.name == "replay") {
    values = {{"log", "auto-lending"}, {"loans", 200}, {"actions", 5}};
  }
  return values;
}

Privacy PrivacyFor(TrustModel model) {
  return {.model = model, .none_because = "a test", .epsilon = 10, .delta = 1e-3, .sampler = Sampler::kFast};
}

absl::StatusOr<std::unique_ptr<World>> MakeSmall(const WorldKind& kind, const Family& family) {
  return MakeWorld(kind.name, kind.time, SmallWorld(kind),
                   {.horizon = kHorizon, .seed = 3, .one_client_per_round = family.one_client_per_round});
}

absl::StatusOr<Federation> CreateWithDefaults(const Family& family, TrustModel model, const World& world) {
  BANDANA_ASSIGN_OR_RETURN(const Resolved resolved, Resolve(family.options, family.defaults, {}));
  return family.create(resolved.params, PrivacyFor(model), world.facts());
}

const std::set<TrustModel> kModels = {TrustModel::kNone,    TrustModel::kCentral, TrustModel::kLocal,
                                      TrustModel::kShuffle, TrustModel::kSilo,    TrustModel::kPeer};

TEST(RegistryTest, EveryFamilyRunsWhereItSaysThatItDoes) {
  for (const Family& family : Families().families()) {
    ASSERT_FALSE(family.worlds.empty()) << family.name;
    for (const std::string& name : family.worlds) {
      const auto kind = Families().FindWorld(name, family.time);
      ASSERT_TRUE(kind.ok()) << family.name << ": " << kind.status();
      for (const TrustModel model : family.trust) {
        SCOPED_TRACE(family.name + " in " + name + " under " + NameOf(model));
        const auto world = MakeSmall(**kind, family);
        ASSERT_TRUE(world.ok()) << world.status();
        const auto federation = CreateWithDefaults(family, model, **world);
        ASSERT_TRUE(federation.ok()) << federation.status();
        EXPECT_EQ(federation->time(), family.time);
        EXPECT_EQ(federation->claims.empty(), model == TrustModel::kNone);
        const auto outcome = Simulate(*federation, **world, {.seed = 3});
        if (name == "live") {
          EXPECT_EQ(outcome.status().code(), absl::StatusCode::kFailedPrecondition) << "nobody is simulated";
          continue;
        }
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        ASSERT_EQ(outcome->checkpoints.size(), 1u);
        EXPECT_EQ(outcome->checkpoints.back().t, kHorizon);
      }
    }
  }
}

TEST(RegistryTest, OtherTrustModelsAreRefusedByName) {
  for (const Family& family : Families().families()) {
    const auto kind = Families().FindWorld(family.worlds.front(), family.time);
    ASSERT_TRUE(kind.ok());
    const auto world = MakeSmall(**kind, family);
    ASSERT_TRUE(world.ok()) << world.status();
    for (const TrustModel model : kModels) {
      if (std::find(family.trust.begin(), family.trust.end(), model) != family.trust.end()) continue;
      const auto federation = CreateWithDefaults(family, model, **world);
      ASSERT_FALSE(federation.ok()) << family.name << " under " << NameOf(model);
      EXPECT_EQ(InputErrorOf(federation.status()).value_or(InputError{}).key, "model") << federation.status();
      EXPECT_EQ(PartOf(federation.status()), Part::kPrivacy);
    }
  }
}

TEST(RegistryTest, AWorldOfAnotherTimeModelIsRefused) {
  for (const Family& family : Families().families()) {
    const auto own = MakeSmall(**Families().FindWorld(family.worlds.front(), family.time), family);
    ASSERT_TRUE(own.ok()) << own.status();
    const auto federation = CreateWithDefaults(family, family.trust.front(), **own);
    ASSERT_TRUE(federation.ok()) << federation.status();
    for (const WorldKind& kind : Families().worlds()) {
      const auto slots_and_ticks = [](TimeModel time) {
        return time == TimeModel::kSlot || time == TimeModel::kTick;  // they share their interface
      };
      if (kind.time == family.time || (slots_and_ticks(kind.time) && slots_and_ticks(family.time))) continue;
      const auto world = MakeSmall(kind, family);
      ASSERT_TRUE(world.ok()) << kind.name << ": " << world.status();
      EXPECT_FALSE(Simulate(*federation, **world, {}).ok()) << family.name << " in " << kind.name;
    }
  }
}

TEST(RegistryTest, EveryOptionExplainsItself) {
  const auto check = [](const std::string& name, const std::vector<Option>& options,
                        const std::any& defaults) {
    std::set<std::string> apply;
    for (const Option& option : options) {
      SCOPED_TRACE(name + ": " + option.FullKey());
      const bool applies = option.applies(defaults, {});
      EXPECT_TRUE(!applies || apply.insert(option.FullKey()).second) << "a second option that applies, too";
      ASSERT_FALSE(option.sentence.empty());
      EXPECT_EQ(option.sentence.back(), '.') << option.sentence;
      EXPECT_FALSE(option.accepted.empty());
      for (const Word& word : option.words) {
        ASSERT_FALSE(word.sentence.empty()) << word.word;
        EXPECT_EQ(word.sentence.back(), '.') << word.sentence;
      }
      if (!applies) EXPECT_FALSE(option.condition.empty()) << "the list cannot say when it applies";
      const auto same = [&](const Option& other) { return other.FullKey() == option.FullKey(); };
      if (std::count_if(options.begin(), options.end(), same) > 1) EXPECT_FALSE(option.condition.empty());
      if (option.required) continue;
      const Value fallback = option.get(defaults);
      EXPECT_TRUE(option.check(fallback).ok()) << ToText(fallback) << " is the default and is not accepted";
    }
  };
  for (const Family& family : Families().families()) check(family.name, family.options, family.defaults);
  for (const WorldKind& kind : Families().worlds()) check(kind.name, kind.options, kind.defaults);
  check("privacy", PrivacyOptions(), Privacy{});
}

// A program fills in a struct by hand, and no option's check has seen its fields.
TEST(RegistryTest, AFieldThatItsOptionRefusesIsRefusedByCreate) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Value> wrong = {nan, -1.0, 0.0, 2.0, HUGE_VAL, std::int64_t{-1}, std::int64_t{0}};
  for (const Family& family : Families().families()) {
    const WorldKind& kind = **Families().FindWorld(family.worlds.front(), family.time);
    Values values = SmallWorld(kind);
    if (family.time == TimeModel::kUser) values["parameters"] = "multi";  // more options have an effect there
    const WorldDraw draw{.horizon = kHorizon, .one_client_per_round = family.one_client_per_round};
    const auto world = MakeWorld(kind.name, kind.time, values, draw);
    ASSERT_TRUE(world.ok()) << world.status();
    int tried = 0;
    for (const Option& option : family.options) {
      if (!option.applies(family.defaults, values) || option.words.size() > 1) continue;
      const auto right =
          option.check(std::int64_t{1}).ok() ? option.check(std::int64_t{1}) : option.check(0.5);
      if (!right.ok()) continue;  // no number
      for (const Value& value : wrong) {
        if (value.index() != right->index() || option.check(value).ok()) continue;
        SCOPED_TRACE(family.name + ": " + option.key + " = " + ToText(value));
        ++tried;
        std::any params = family.defaults;
        option.set(params, value);
        const auto federation = family.create(params, PrivacyFor(family.trust.back()), (*world)->facts());
        EXPECT_FALSE(federation.ok());
        if (federation.ok()) continue;
        EXPECT_EQ(InputErrorOf(federation.status()).value_or(InputError{}).key, option.key)
            << federation.status();
      }
    }
    EXPECT_GT(tried, 0) << family.name;
  }
}

TEST(RegistryTest, NamesAreTakenOnce) {
  Registry registry;
  ASSERT_TRUE(registry.Add(Family{.name = "one", .worlds = {"linear"}}).ok());
  EXPECT_FALSE(registry.Add(Family{.name = "one", .worlds = {"mab", "linear"}}).ok());
  EXPECT_TRUE(registry.Add(Family{.name = "one", .worlds = {"mab"}}).ok()) << "another world, another form";
  ASSERT_TRUE(registry.Add(WorldKind{.name = "linear", .time = TimeModel::kSlot}).ok());
  EXPECT_FALSE(registry.Add(WorldKind{.name = "linear", .time = TimeModel::kSlot}).ok());
  EXPECT_TRUE(registry.Add(WorldKind{.name = "linear", .time = TimeModel::kUser}).ok());
}

TEST(RegistryTest, AlgorithmsOfOneNameAreToldApart) {
  const auto slots = Families().FindFamily("lin-ucb", TimeModel::kSlot);
  const auto users = Families().FindFamily("lin-ucb", TimeModel::kUser);
  ASSERT_TRUE(slots.ok() && users.ok());
  EXPECT_EQ((*slots)->time, TimeModel::kSlot);
  EXPECT_EQ((*users)->time, TimeModel::kUser);
  EXPECT_FALSE(Families().FindFamily("lin-ucb", TimeModel::kTick).ok());
  EXPECT_EQ(*Families().FindFamily("lin-ucb", "replay"), *users);
  EXPECT_EQ(InputErrorOf(Families().FindFamily("lin-ucb", "mab").status())->key, "world");
  const auto world = MakeWorld("glm", TimeModel::kUser, {{"dimension", 2}, {"actions", 3}}, {.horizon = 100});
  ASSERT_TRUE(world.ok()) << world.status();
  const auto made = Create("lin-ucb", TimeModel::kUser, {}, PrivacyFor(TrustModel::kNone), (*world)->facts());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->time(), TimeModel::kUser);
}

TEST(RegistryTest, AWrongWorldIsAnsweredWithWorldsOfThatTimeModel) {
  const absl::Status status = Families().FindWorld("glm", TimeModel::kTick).status();
  EXPECT_EQ(InputErrorOf(status)->accepted, "mab");
}

TEST(RegistryTest, AMistypedNameIsAnsweredWithTheNearest) {
  EXPECT_THAT(std::string(Families().FindFamily("dp-dqe").status().message()),
              ::testing::HasSubstr("nearest: dp-dpe"));
  const Privacy privacy = PrivacyFor(TrustModel::kNone);
  const auto misspelt = Create("dp-dpe", TimeModel::kSlot, {{"alfa", 0.5}}, privacy, {});
  EXPECT_THAT(std::string(misspelt.status().message()), ::testing::HasSubstr("alpha"));
}

}  // namespace
}  // namespace bandana
