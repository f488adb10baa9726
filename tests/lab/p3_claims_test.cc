#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

namespace bandana::lab {
namespace {

using test::On;
using testing::HasSubstr;

Json PointOf(const Json& varied, double regret, double early = 0.5) {
  const Sample values = {regret - 1, regret, regret + 1};
  return {{"point", varied},
          {"metrics", {{"regret_per_agent", {{"values", values}}}}},
          {"curve", {{"t", {450, 500}}, {"regret", {{"mean", {early, regret}}, {"sd", {0, 0}}}}}}};
}

// Five agents lose 1 per round together if they know nothing.
Json Learning(double at_end) {
  Json summary = {{"points", Json::array()}};
  for (const char* calibration : {"paper", "tight"}) {
    summary["points"].push_back(PointOf({{"privacy.model", "silo"},
                                         {"privacy.epsilon", 1.0},
                                         {"privacy.calibration", calibration},
                                         {"federation.agents", 5},
                                         {"horizon", 500}},
                                        10 + at_end, 10));
  }
  return summary;
}

TEST(P3Algorithm1, LearnedMeansThatLittleIsLostAtTheEnd) {
  for (const char* version : {"printed", "ours"}) {
    EXPECT_TRUE(On(Learning(2.4), "p3-algorithm1", "it has learned", version).holds);
    EXPECT_FALSE(On(Learning(2.6), "p3-algorithm1", "it has learned", version).holds);
  }
  EXPECT_THAT(On(Learning(2.4), "p3-algorithm1", "it has learned").evidence, HasSubstr("0.048 <= 0.05"));
}

Json Counted(double private_syncs, double other_syncs) {
  Json summary = {{"points", Json::array()}};
  for (const double threshold : {100.0, 1000.0}) {
    for (const char* model : {"silo", "none"}) {
      const double syncs = model == std::string("silo") ? private_syncs : other_syncs;
      Json point = {{"privacy.model", model},
                    {"algorithm.threshold", threshold},
                    {"environment.dimension", 2},
                    {"federation.agents", 5},
                    {"horizon", 1000},
                    {"privacy.epsilon", 10.0}};
      summary["points"].push_back({{"point", point}, {"metrics", {{"syncs", {{"values", {syncs, syncs}}}}}}});
    }
  }
  return summary;
}

// At D = 1000 and T = 1000: 2 sqrt(2 log(3.3)) + 4 = 7.1 with privacy, 2 sqrt(2 log(2501)) + 4 = 11.9
// without.
TEST(P3Proposition1, IsJudgedAtEveryThreshold) {
  EXPECT_TRUE(On(Counted(7, 11), "p3-proposition1", "with privacy: the number of syncs").holds);
  EXPECT_FALSE(On(Counted(8, 11), "p3-proposition1", "with privacy: the number of syncs").holds);
  EXPECT_TRUE(On(Counted(7, 11), "p3-proposition1", "without privacy: the number of syncs is").holds);
  EXPECT_FALSE(On(Counted(7, 13), "p3-proposition1", "without privacy: the number of syncs is").holds);
}

TEST(P3Fig1b, EachModelHasAnOrderOfItsOwn) {
  Json summary = {{"points", Json::array()}};
  const auto add = [&](const char* model, const char* calibration, const char* sync, double regret) {
    const bool ours = std::string(calibration) == "tight";
    Json point = {
        {"privacy.model", model}, {"algorithm.local", ours ? "released" : "raw"}, {"algorithm.sync", sync}};
    if (std::string(model) == "silo") point["privacy.calibration"] = calibration;
    summary["points"].push_back(PointOf(point, regret));
  };
  add("none", "", "m15", 30);
  add("none", "", "mlogt", 20);
  add("none", "", "every", 10);
  for (const char* calibration : {"paper", "tight"}) {
    add("silo", calibration, "m15", 100);
    add("silo", calibration, "mlogt", 100);
    add("silo", calibration, "every", 200);
  }
  for (const char* claim : {"non-private: M log T", "non-private: M T", "beyond the paper: private, M T"}) {
    EXPECT_TRUE(On(summary, "p3-fig1b", claim).holds) << claim;
  }
  const std::vector<PaperClaim>& claims = (*FindExhibit("p3-fig1b"))->claims;
  for (const PaperClaim& claim : claims) {
    if (claim.says.starts_with("private: M"))
      EXPECT_FALSE(Judge(claim, Findings(summary)).holds) << claim.says;
  }
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
  EXPECT_TRUE(On(OnGraphs(250), "p3-p2p", "non-private: regret is ordered").holds);  // products 1, 2, 4, 6, 8
  EXPECT_FALSE(On(OnGraphs(150), "p3-p2p", "non-private: regret is ordered").holds);  // 6 is below 4
}

TEST(P3Peers, TheLineIsHeldAgainstBeingAlone) {
  EXPECT_FALSE(On(OnGraphs(250), "p3-p2p", "private, on a line with the largest gamma").holds);
  EXPECT_TRUE(On(OnGraphs(400), "p3-p2p", "private, on a line with the largest gamma").holds);
  EXPECT_TRUE(On(OnGraphs(250), "p3-p2p", "on a complete graph").holds);
  EXPECT_TRUE(On(OnGraphs(250), "p3-p2p", "a star is one clique").holds);
}

}  // namespace
}  // namespace bandana::lab
