#include "bandana/lab/catalog.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bandana/lab/runner.h"
#include "bandana/lab/vocabulary.h"
#include "gmock/gmock.h"
#include "tests/folder.h"

namespace bandana::lab {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Entry> Named(const std::string& kind, const std::string& name) {
  std::vector<Entry> entries = Catalog(kind).value();
  std::erase_if(entries, [&](const Entry& entry) { return entry.name != name; });
  return entries;
}

std::vector<ListedOption> OptionsOf(const Entry& entry, const std::string& key) {
  std::vector<ListedOption> found;
  for (const ListedOption& listed : entry.options) {
    if (listed.option.FullKey() == key) found.push_back(listed);
  }
  return found;
}

std::vector<std::string> Keys(const Entry& entry) {
  std::vector<std::string> keys;
  for (const ListedOption& listed : entry.options) keys.push_back(listed.option.FullKey());
  return keys;
}

TEST(CatalogTest, AnAlgorithmListsThePrivacyOptionsThatItTakes) {
  const auto fed_ucb = Named("algorithms", "fed-ucb");
  ASSERT_THAT(fed_ucb, SizeIs(1));
  EXPECT_THAT(Keys(fed_ucb[0]), Contains("privacy.epsilon"));
  EXPECT_THAT(Keys(fed_ucb[0]), Contains("privacy.budgets"));
  EXPECT_THAT(Keys(Named("algorithms", "cdp-mab")[0]), Not(Contains("privacy.delta"))) << "P4 takes none";
  EXPECT_THAT(Keys(Named("algorithms", "ucb1")[0]), testing::ElementsAre("algorithm.bonus"));
}

TEST(CatalogTest, ATrustModelListsOnlyOptionsThatSomeAlgorithmTakesUnderIt) {
  EXPECT_THAT(Keys(Named("privatizers", "central")[0]), Not(Contains("privacy.budgets")));
  EXPECT_THAT(Keys(Named("privatizers", "central")[0]), Not(Contains("privacy.out_of_range")));
  EXPECT_THAT(Keys(Named("privatizers", "local")[0]), Contains("privacy.out_of_range"));
  EXPECT_THAT(Keys(Named("privatizers", "silo")[0]), Contains("privacy.budgets"));
}

TEST(CatalogTest, TheTablesHaveTheKeysOfARunAndOfTheService) {
  const auto run = Named("tables", "run");
  ASSERT_THAT(run, SizeIs(1));
  EXPECT_THAT(Keys(run[0]), ElementsAre("name", "horizon", "seed", "replicates", "checkpoints"));
  EXPECT_EQ(OptionsOf(run[0], "seed")[0].fallback, Value(std::int64_t{1}));
  EXPECT_EQ(OptionsOf(run[0], "horizon")[0].fallback, std::nullopt);
  const auto service = Named("tables", "service");
  ASSERT_THAT(service, SizeIs(1));
  EXPECT_THAT(Keys(service[0]), Contains("service.listen"));
  EXPECT_THAT(Keys(service[0]), SizeIs(ServiceOptions().size()));
  for (const ListedOption& listed : service[0].options) {
    EXPECT_EQ(listed.fallback, std::nullopt) << listed.option.key << ": a key that is not given is not set";
  }
}

// The site and `bandana list` are made from the catalog, so a key that a spec may have is in it.
TEST(CatalogTest, EveryKnownKeyIsListed) {
  std::set<std::string> listed = {"algorithm.name", "environment.kind",
                                  "privacy.model"};  // which choose an entry
  for (const char* kind : {"algorithms", "environments", "privatizers", "tables"}) {
    const std::vector<Entry> entries = Catalog(kind).value();
    for (const Entry& entry : entries) {
      for (const std::string& key : Keys(entry)) listed.insert(key);
    }
  }
  for (const std::string& key : KnownKeys()) EXPECT_TRUE(listed.contains(key)) << key;
}

TEST(CatalogTest, OptionsThatCannotApplyAreNotListed) {
  for (const auto& [name, released] : {std::pair("fed-ucb", true), {"fed-ucb-p2p", false}}) {
    const auto sync = OptionsOf(Named("algorithms", name)[0], "algorithm.sync");
    ASSERT_THAT(sync, SizeIs(1));
    const std::vector<Word>& words = sync[0].option.words;
    EXPECT_EQ(
        std::any_of(words.begin(), words.end(), [](const Word& each) { return each.word == "released"; }),
        released)
        << name;
  }
  EXPECT_THAT(Keys(Named("algorithms", "thompson-sampling")[0]), Not(Contains("algorithm.gram_shift")));
  for (const Entry& entry : Named("environments", "contextual-linear")) {
    EXPECT_LE(OptionsOf(entry, "environment.reward_bound").size(), 1u);
  }
}

TEST(CatalogTest, OptionsOfOneKeySayWhenTheyApplyAndHaveTheirOwnDefault) {
  const auto parameters = OptionsOf(Named("environments", "replay")[0], "environment.parameters");
  ASSERT_THAT(parameters, SizeIs(2));
  EXPECT_EQ(parameters[0].option.condition, "with log = obp");
  EXPECT_EQ(ToText(*parameters[0].fallback), "multi");
  EXPECT_EQ(parameters[1].option.condition, "with log = auto-lending");
  EXPECT_EQ(ToText(*parameters[1].fallback), "single");
}

TEST(CatalogTest, WorldsOfOneNameSayWhoPlaysInThem) {
  const auto glm = Named("environments", "glm");
  ASSERT_THAT(glm, SizeIs(2));
  EXPECT_THAT(glm[0].players, ElementsAre("dp-dpe", "pe", "private-elimination"));
  EXPECT_THAT(glm[1].players, Contains("ldp-sgd"));
}

// The defaults of the list are those of a run.
TEST(CatalogTest, AGlmRunsWithItsDefaults) {
  const auto spec = ParseSpec(R"(horizon = 200
environment = { kind = "glm", dimension = 2, actions = 3 }
algorithm.name = "dp-dpe"
privacy.model = "none"
)",
                              "glm.toml", {});
  ASSERT_TRUE(spec.ok()) << spec.status();
  const test::Folder folder;
  const std::atomic<bool> stop = false;
  const auto summary = RunExperiment(*spec, {.out = folder / "glm", .threads = 1, .quiet = true}, stop);
  EXPECT_TRUE(summary.ok()) << summary.status();
}

}  // namespace
}  // namespace bandana::lab
