#include <algorithm>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p3_points.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Json PointOf(const Json& varied, double regret, double early = 0.5) {
  const Sample values = {regret - 1, regret, regret + 1};
  return {{"point", varied},
          {"metrics", {{"regret_per_agent", {{"values", values}}}}},
          {"curve", {{"t", {450, 500}}, {"regret", {{"mean", {early, regret}}, {"sd", {0, 0}}}}}}};
}

// Returns the verdict on the claim whose text contains `words`.
Verdict On(const Json& summary, const std::vector<PaperClaim>& claims, const std::string& words) {
  const auto it = std::find_if(claims.begin(), claims.end(), [&](const PaperClaim& claim) {
    return claim.claim.find(words) != std::string::npos;
  });
  EXPECT_TRUE(it != claims.end()) << words;
  return it == claims.end() ? Verdict() : Judge(*it, Findings(summary));
}

Json ByAgents() {
  return {
      {"points",
       {PointOf({{"privacy.model", "silo"}, {"algorithm.local", "released"}, {"federation.agents", 5}}, 30),
        PointOf({{"privacy.model", "silo"}, {"algorithm.local", "released"}, {"federation.agents", 20}}, 10),
        PointOf({{"privacy.model", "none"}, {"algorithm.local", "raw"}, {"federation.agents", 50}}, 4)}}};
}

TEST(P3Points, ValuesAreThoseOfThePointsThatAreMeant) {
  const Json summary = ByAgents();
  const Findings findings(summary);
  EXPECT_THAT(ValuesOf(findings, "federation.agents", p3::Ours()), ElementsAre(5, 20));
  EXPECT_THAT(ValuesOf(findings, "federation.agents", p3::NonPrivate()), ElementsAre(50));
  EXPECT_TRUE(ValuesOf(findings, "privacy.epsilon", p3::Ours()).empty());
}

TEST(P3Points, AtEveryValueOrNotAtAll) {
  const Json summary = ByAgents();
  const Findings findings(summary);
  const auto up_to = [](double most) {
    return [most](double value) -> absl::StatusOr<Finding> { return Finding{value <= most, "seen"}; };
  };
  EXPECT_TRUE(AtEvery(findings, "federation.agents", p3::Ours(), up_to(20))->holds);
  const Finding not_all = *AtEvery(findings, "federation.agents", p3::Ours(), up_to(10));
  EXPECT_FALSE(not_all.holds);
  EXPECT_EQ(not_all.evidence, "seen; seen");
  EXPECT_FALSE(AtEvery(findings, "federation.agents", p3::AsPrinted(), up_to(9)).ok());
}

TEST(P3Points, SlopesAreHeldAgainstARateFromBothSides) {
  const Named square{"square", {{1, 10}, {{2, 2, 2}, {200, 200, 200}}}};
  EXPECT_TRUE(p3::GrowsLike(square, 2, 0.1).holds);
  EXPECT_FALSE(p3::GrowsLike(square, 2.5, 0.1).holds);
  EXPECT_FALSE(p3::GrowsLike(square, 1.5, 0.1).holds);
  EXPECT_THAT(p3::GrowsLike(square, 2, 0.1).evidence, HasSubstr("slope 2.00 +- 0.00, 2 +- 0 at 1"));
}

// Five agents lose 1 per round together if they know nothing.
Json Learning(double ours_at_end, double printed_at_end) {
  Json summary = {{"points", Json::array()}};
  for (const bool printed : {false, true}) {
    summary["points"].push_back(PointOf({{"privacy.model", "silo"},
                                         {"privacy.epsilon", 1.0},
                                         {"privacy.calibration", printed ? "paper" : "tight"},
                                         {"algorithm.local", printed ? "raw" : "released"},
                                         {"federation.agents", 5}},
                                        10 + (printed ? printed_at_end : ours_at_end), 10));
  }
  return summary;
}

TEST(P3Fig1a, LearnedMeansThatNothingIsLostAtTheEnd) {
  EXPECT_TRUE(On(Learning(0.4, 45), P3Fig1aClaims(), "has learned").holds);
  EXPECT_FALSE(On(Learning(0.6, 45), P3Fig1aClaims(), "has learned").holds);
  EXPECT_FALSE(On(Learning(0.4, 20), P3Fig1aClaims(), "has learned").holds);
  EXPECT_THAT(On(Learning(0.4, 45), P3Fig1aClaims(), "has learned").evidence,
              HasSubstr("M = 5: 0.8 % by default, 90 % as printed"));
}

TEST(P3Fig1b, EachModelHasAnOrderOfItsOwn) {
  Json summary = {{"points", Json::array()}};
  const auto add = [&](const char* model, const char* sync, double regret) {
    summary["points"].push_back(
        PointOf({{"privacy.model", model},
                 {"algorithm.local", std::string(model) == "silo" ? "released" : "raw"},
                 {"algorithm.sync", sync}},
                regret));
  };
  add("none", "m15", 30);
  add("none", "mlogt", 20);
  add("none", "every", 10);
  add("silo", "m15", 100);
  add("silo", "mlogt", 100);
  add("silo", "every", 200);
  for (const char* claim : {"non-private: M log T", "non-private: M T", "beyond the paper: private, M T"}) {
    EXPECT_TRUE(On(summary, P3Fig1bClaims(), claim).holds) << claim;
  }
  EXPECT_FALSE(On(summary, P3Fig1bClaims(), "private: M T messages have less").evidence.empty());
  EXPECT_FALSE(Judge(P3Fig1bClaims()[2], Findings(summary)).holds);
  EXPECT_FALSE(Judge(P3Fig1bClaims()[3], Findings(summary)).holds);
}

Json OnGraphs(double line_regret) {
  Json summary = {{"points", Json::array()}};
  const auto add = [&](const char* model, const char* topology, int gamma, int cliques, double regret) {
    summary["points"].push_back(PointOf({{"algorithm.name", "fed-ucb-p2p"},
                                         {"privacy.model", model},
                                         {"federation.topology", topology},
                                         {"algorithm.gamma", gamma}},
                                        regret));
    summary["points"].back()["graph"] = {{"cliques", cliques}};
  };
  for (const char* model : {"none", "peer"}) {
    add(model, "complete", 1, 1, 100);
    add(model, "star", 1, 8, 300);
    add(model, "star", 2, 1, 140);
    add(model, "line", 1, 4, 200);
    add(model, "line", 2, 3, line_regret);
  }
  for (const char* model : {"none", "silo"}) {
    summary["points"].push_back(
        PointOf({{"algorithm.name", "private-lin-ucb"}, {"privacy.model", model}}, 350));
    summary["points"].push_back(PointOf({{"algorithm.name", "fed-ucb"}, {"privacy.model", model}}, 99));
  }
  return summary;
}

TEST(P3Peers, AreOrderedByCliquesTimesGamma) {
  EXPECT_TRUE(
      On(OnGraphs(250), P3P2pClaims(), "non-private: regret is ordered").holds);  // products 1, 2, 4, 6, 8
  EXPECT_FALSE(On(OnGraphs(150), P3P2pClaims(), "non-private: regret is ordered").holds);  // 6 is below 4
}

TEST(P3Peers, TheLineIsHeldAgainstBeingAlone) {
  EXPECT_FALSE(On(OnGraphs(250), P3P2pClaims(), "private, on a line with the largest gamma").holds);
  EXPECT_TRUE(On(OnGraphs(400), P3P2pClaims(), "private, on a line with the largest gamma").holds);
  EXPECT_TRUE(On(OnGraphs(250), P3P2pClaims(), "on a complete graph").holds);
  EXPECT_TRUE(On(OnGraphs(250), P3P2pClaims(), "a star is one clique").holds);
}

}  // namespace
}  // namespace bandana::lab
