#include "bandana/lab/exhibit.h"

#include <algorithm>
#include <set>

#include "bandana/lab/embedded.h"
#include "bandana/lab/judge/claim_reader.h"
#include "bandana/lab/judge/judge.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::HasSubstr;

TEST(Exhibits, EverySpecIsSoundAtEveryScale) {
  for (const Exhibit& exhibit : Exhibits()) {
    std::int64_t horizon = 0;
    for (const Scale scale : {Scale::kSmoke, Scale::kQuick, Scale::kPaper}) {
      const absl::StatusOr<Spec> spec = ExhibitSpec(exhibit, scale, {});
      ASSERT_TRUE(spec.ok()) << spec.status();
      EXPECT_TRUE(spec->without_effect.empty()) << exhibit.name << ": " << spec->without_effect.front();
      EXPECT_EQ(spec->name, exhibit.title);
      EXPECT_GE(spec->replicates(), 2) << exhibit.name;
      EXPECT_GE(spec->points.front().settings.Integer("horizon"), horizon) << exhibit.name;
      horizon = spec->points.front().settings.Integer("horizon");
    }
  }
}

TEST(Exhibits, EveryFileIsRead) {
  std::size_t files = 0;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.name.ends_with(".toml")) continue;
    const absl::StatusOr<ExhibitClaims> claims =
        ReadClaims(std::string(file.content), std::string(file.name));
    ASSERT_TRUE(claims.ok()) << claims.status();
    ++files;
  }
  EXPECT_EQ(Exhibits().size(), files);
}

TEST(Exhibits, AreOrderedByTheirNumbers) {
  std::vector<std::string> names;
  for (const Exhibit& exhibit : Exhibits()) names.push_back(exhibit.name);
  const auto place = [&](const char* name) { return std::find(names.begin(), names.end(), name); };
  EXPECT_LT(place("p1-fig2a"), place("p1-fig2b"));
  EXPECT_LT(place("p4-fig8"), place("p4-fig10"));
  EXPECT_LT(place("p1-table2"), place("p2-context"));
}

TEST(Exhibits, EveryClaimIsWhole) {
  std::set<std::string> names;
  for (const Exhibit& exhibit : Exhibits()) {
    EXPECT_TRUE(names.insert(exhibit.name).second) << exhibit.name;
    EXPECT_FALSE(exhibit.claims.empty()) << exhibit.name;
    std::set<std::pair<std::string, Version>> claims;
    for (const PaperClaim& claim : exhibit.claims) {
      EXPECT_TRUE(claims.insert({claim.says, claim.version}).second) << claim.says;
      EXPECT_THAT(claim.paper, testing::StartsWith(exhibit.name.substr(0, 2)));
      EXPECT_EQ(claim.expected, claim.reason.empty()) << claim.says;
    }
  }
}

// A search for a baseline's number compares no versions.
TEST(Exhibits, EveryClaimSaysWhoseVersionItIsAbout) {
  for (const Exhibit& exhibit : Exhibits()) {
    if (exhibit.name.ends_with("tuning")) continue;
    // An exhibit NAME-printed has what is printed in worlds of its own; p3-p2p's is p3-algorithm3.
    const bool printed_elsewhere = FindExhibit(exhibit.name + "-printed").ok() || exhibit.name == "p3-p2p";
    bool printed = printed_elsewhere || !exhibit.not_runnable.empty();
    for (const PaperClaim& claim : exhibit.claims) {
      EXPECT_NE(claim.version, Version::kNone) << exhibit.name << ": " << claim.says;
      printed = printed || claim.version == Version::kPrinted;
    }
    EXPECT_TRUE(printed) << exhibit.name << " neither runs the printed version nor says why it cannot";
  }
}

TEST(Exhibits, AScaleSaysWhatItChanges) {
  const std::vector<ScaledValue> values = ScaledValues(**FindExhibit("p1-table2"), Scale::kSmoke);
  const auto of = [&](const std::string& key) {
    return std::find_if(values.begin(), values.end(),
                        [&](const ScaledValue& each) { return each.key == key; });
  };
  ASSERT_NE(of("environment.dimension"), values.end());
  EXPECT_EQ(of("environment.dimension")->paper, "20");
  EXPECT_NE(of("environment.dimension")->here, "20");
  EXPECT_TRUE(ScaledValues(**FindExhibit("p1-table2"), Scale::kPaper).empty());
}

TEST(Exhibits, ScalesAndOverridesReplaceWhatTheyName) {
  const Exhibit& exhibit = **FindExhibit("p1-fig2a");
  const Spec smoke = *ExhibitSpec(exhibit, Scale::kSmoke, {"seed=5"});
  const Settings& settings = smoke.points.front().settings;
  EXPECT_EQ(settings.Integer("environment.dimension"), 3);
  EXPECT_EQ(settings.Integer("seed"), 5);
  EXPECT_EQ(settings.Number("environment.client_sd"), 0.1);  // the value of the paper
  EXPECT_LT(smoke.points.size(), ExhibitSpec(exhibit, Scale::kPaper, {})->points.size());
}

TEST(Exhibits, UnknownNamesAreToldTheNearest) {
  EXPECT_THAT(FindExhibit("p1-fig2").status().message(), HasSubstr("nearest: p1-fig2a"));
  EXPECT_THAT(ScaleOf("large").status().message(), HasSubstr("smoke, quick, paper"));
}

TEST(Exhibits, ClaimsOfAnEmptyRunCannotBeJudged) {
  const Json summary = {{"points", Json::array()}};
  for (const Exhibit& exhibit : Exhibits()) {
    std::size_t unjudged = 0;
    for (const PaperClaim& claim : exhibit.claims) unjudged += Judge(claim, Findings(summary)).judged ? 0 : 1;
    EXPECT_GT(unjudged, 0u) << exhibit.name;
  }
}

}  // namespace
}  // namespace bandana::lab
