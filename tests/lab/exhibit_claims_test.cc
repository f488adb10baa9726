#include "bandana/lab/exhibits/claim.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::HasSubstr;

Json PointOf(const Json& varied, const Sample& regret) {
  return {{"point", varied},
          {"metrics", {{"regret", {{"values", regret}}}, {"clients", {{"values", Sample{7, 7}}}}}},
          {"curve", {{"t", {1, 10}}, {"regret", {{"mean", {1, 5}}, {"sd", {0, 1}}}}}}};
}

Json Summary() {
  return {{"points",
           {PointOf({{"privacy.model", "none"}}, {1, 2}),
            PointOf({{"privacy.model", "central"}, {"privacy.epsilon", 10.0}}, {2, 3}),
            PointOf({{"privacy.model", "central"}, {"privacy.epsilon", 1.0}}, {20, 30})}}};
}

TEST(Findings, FindsThePointThatIsMeant) {
  const Json summary = Summary();
  const Findings findings(summary);
  EXPECT_EQ(*findings.Final({{"privacy.model", "central"}, {"privacy.epsilon", 1.0}}), (Sample{20, 30}));
  EXPECT_EQ(*findings.Final({{"privacy.epsilon", nullptr}}), (Sample{1, 2}));
  EXPECT_EQ(*findings.Final({{"privacy.model", "none"}}, "clients"), (Sample{7, 7}));
  EXPECT_EQ(findings.Curve({{"privacy.model", "none"}})->mean, (std::vector<double>{1, 5}));
}

TEST(Findings, SaysWhatTheRunLacks) {
  const Json summary = Summary();
  const Findings findings(summary);
  EXPECT_THAT(findings.Final({{"privacy.model", "local"}}).status().message(),
              HasSubstr("0 points with privacy.model = \"local\""));
  EXPECT_THAT(findings.Final({{"privacy.model", "central"}}).status().message(), HasSubstr("2 points"));
  EXPECT_THAT(findings.Final({{"privacy.model", "none"}}, "syncs").status().message(), HasSubstr("syncs"));
  EXPECT_THAT(findings.Along("privacy.epsilon", {{"privacy.model", "none"}}).status().message(),
              HasSubstr("0 values of privacy.epsilon"));
}

TEST(Findings, LinesAscend) {
  const Json summary = Summary();
  const Line line = *Findings(summary).Along("privacy.epsilon", {{"privacy.model", "central"}});
  EXPECT_EQ(line.x, (std::vector<double>{1, 10}));
  EXPECT_EQ(line.y, (std::vector<Sample>{{20, 30}, {2, 3}}));
}

const Named kFalling{"falling", {{1, 2, 3}, {{30, 31, 32}, {20, 21, 22}, {10, 11, 12}}}};
const Named kFlat{"flat", {{1, 2, 3}, {{15, 16, 17}, {15, 16, 17.1}, {14.9, 16, 17}}}};
const Named kBumpy{"bumpy", {{1, 2, 3}, {{30, 31, 32}, {40, 41, 42}, {10, 11, 12}}}};

TEST(Comparisons, FallsFromFirstToLastAndNeverClearlyUp) {
  EXPECT_TRUE(Falls(kFalling).holds);
  EXPECT_FALSE(Falls(kFlat).holds);
  EXPECT_THAT(Falls(kFlat).evidence, HasSubstr("no clear fall"));
  EXPECT_FALSE(Falls(kBumpy).holds);
  EXPECT_THAT(Falls(kBumpy).evidence, HasSubstr("clearly up at 2"));
}

TEST(Comparisons, BelowMeansAtEveryPlace) {
  EXPECT_FALSE(Below(kFlat, kFalling).holds);
  EXPECT_THAT(Below(kFlat, kFalling).evidence, HasSubstr("not clearly below at 3"));
  EXPECT_FALSE(NowhereAbove(kFlat, kFalling).holds);
  const Named early{"early", {{1, 2}, {{15, 16, 17}, {15, 16, 17}}}};
  EXPECT_TRUE(Below(early, kFalling).holds);
  EXPECT_TRUE(NowhereAbove(kFlat, kFlat).holds);
  EXPECT_FALSE(Below(kFlat, kFlat).holds);
}

TEST(Comparisons, NothingSharedIsNothingSeen) {
  const Named elsewhere{"elsewhere", {{7, 8}, {{1, 1, 1}, {1, 1, 1}}}};
  for (const Finding& finding : {Below(kFlat, elsewhere), NowhereAbove(kFlat, elsewhere),
                                 WithinFactor(kFlat, elsewhere, 2), AtLeastTimes(kFlat, elsewhere, 0)}) {
    EXPECT_FALSE(finding.holds);
  }
}

TEST(Comparisons, FactorsWorkBothWays) {
  EXPECT_TRUE(WithinFactor(kFalling, kFlat, 2).holds);
  EXPECT_FALSE(WithinFactor(kFalling, kFlat, 1.4).holds);
  EXPECT_FALSE(WithinFactor(kFlat, kFalling, 1.4).holds);
  EXPECT_TRUE(AtLeastTimes(kFalling, kFlat, 0.5).holds);
  EXPECT_FALSE(AtLeastTimes(kFalling, kFlat, 1).holds);
}

TEST(Comparisons, ConvergesLooksAtTheLastPlace) {
  EXPECT_TRUE(ConvergesTo(kFalling, "b", {10, 11, 12}, 1.05).holds);
  EXPECT_FALSE(ConvergesTo(kFalling, "b", {30, 31, 32}, 1.05).holds);
}

TEST(Comparisons, GrowthIsHeldAgainstTheRate) {
  const Named root{"root", {{1e4, 1e6}, {{10, 10, 10}, {100, 100, 100}}}};
  EXPECT_TRUE(GrowsAtMostLike(root, 0.5, 0.01).holds);
  EXPECT_TRUE(GrowsAtMostLike(root, 0.8, 0.01).holds);
  EXPECT_FALSE(GrowsAtMostLike(root, 0.4, 0.01).holds);
  EXPECT_THAT(GrowsAtMostLike(root, 0.8, 0.01).evidence, HasSubstr("slope 0.500 +- 0.000"));
}

TEST(Comparisons, ExcessMayBeLostInTheNoise) {
  const Named none{"none", {{1e4, 1e6}, {{10, 10, 10}, {100, 100, 100}}}};
  const Named constant{"constant", {{1e4, 1e6}, {{15, 16, 17}, {105, 106, 107}}}};
  EXPECT_TRUE(ExcessGrowsAtMostLike(constant, none, 0, 0.1).holds);
  const Named lost{"lost", {{1e4, 1e6}, {{9, 10, 11}, {99, 101, 100}}}};
  EXPECT_TRUE(ExcessGrowsAtMostLike(lost, none, 0, 0.1).holds);
  const Named growing{"growing", {{1e4, 1e6}, {{15, 16, 17}, {150, 160, 170}}}};
  EXPECT_FALSE(ExcessGrowsAtMostLike(growing, none, 0, 0.1).holds);
  EXPECT_TRUE(ExcessGrowsAtMostLike(growing, none, 0.5, 0.1).holds);
  EXPECT_THAT(ExcessGrowsAtMostLike(growing, none, 0.5, 0.1).evidence, HasSubstr("60 +- 5.77 at 1M"));
}

TEST(Comparisons, APartKeepsItsEnds) {
  const Named part = Part(kFalling, 2, 3);
  EXPECT_EQ(part.line.x, (std::vector<double>{2, 3}));
  EXPECT_EQ(part.line.y.front(), kFalling.line.y[1]);
  EXPECT_TRUE(Part(kFalling, 7, 9).line.x.empty());
}

PaperClaim ClaimThat(bool expected, absl::StatusOr<Finding> finding) {
  return {"it falls", "p1 Fig. 9", expected, "of the moon", [finding](const Findings&) { return finding; }};
}

TEST(Verdicts, AreAsExpectedOrNot) {
  const Json summary = Summary();
  const Findings findings(summary);
  EXPECT_TRUE(Judge(ClaimThat(true, Finding{true, "1"}), findings).as_expected());
  EXPECT_FALSE(Judge(ClaimThat(true, Finding{false, "1"}), findings).as_expected());
  EXPECT_FALSE(Judge(ClaimThat(false, Finding{true, "1"}), findings).as_expected());
  const Verdict known = Judge(ClaimThat(false, Finding{false, "1 against 2"}), findings);
  EXPECT_TRUE(known.as_expected());
  EXPECT_EQ(known.evidence, "1 against 2. Not expected to hold: of the moon");
}

TEST(Verdicts, WhatCannotBeJudgedIsNeverAsExpected) {
  const Json summary = Summary();
  for (const bool expected : {true, false}) {
    const Verdict verdict = Judge(ClaimThat(expected, absl::NotFoundError("no point")), Findings(summary));
    EXPECT_FALSE(verdict.as_expected());
    EXPECT_FALSE(verdict.holds);
    EXPECT_EQ(verdict.evidence, "cannot be judged: no point");
  }
}

TEST(Verdicts, HaveTheShapeOfVerdictJson) {
  const Json summary = Summary();
  const Json json = ToJson({Judge(ClaimThat(true, Finding{true, "1 +- 0"}), Findings(summary))});
  EXPECT_EQ(json.dump(),
            R"([{"claim":"it falls","paper":"p1 Fig. 9","expected":true,"holds":true,"evidence":"1 +- 0"}])");
}

}  // namespace
}  // namespace bandana::lab
