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
Json Learning(double ours_at_end, double printed_at_end) {
  Json summary = {{"points", Json::array()}};
  for (const bool printed : {false, true}) {
    summary["points"].push_back(PointOf({{"privacy.model", "silo"},
                                         {"privacy.epsilon", 1.0},
                                         {"privacy.calibration", printed ? "paper" : "tight"},
                                         {"algorithm.local", printed ? "raw" : "released"},
                                         {"federation.agents", 5},
                                         {"horizon", 500}},
                                        10 + (printed ? printed_at_end : ours_at_end), 10));
  }
  return summary;
}

TEST(P3Fig1a, LearnedMeansThatNothingIsLostAtTheEnd) {
  EXPECT_TRUE(On(Learning(0.4, 45), "p3-fig1a", "has learned").holds);
  EXPECT_FALSE(On(Learning(0.6, 45), "p3-fig1a", "has learned").holds);
  EXPECT_FALSE(On(Learning(0.4, 20), "p3-fig1a", "has learned").holds);
  EXPECT_THAT(On(Learning(0.4, 45), "p3-fig1a", "has learned").evidence,
              HasSubstr("0.008 <= 0.01, 0.9 >= 0.5"));
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
    EXPECT_TRUE(On(summary, "p3-fig1b", claim).holds) << claim;
  }
  const std::vector<PaperClaim>& claims = (*FindExhibit("p3-fig1b"))->claims;
  for (const std::size_t i : {2, 3}) {
    EXPECT_THAT(claims[i].says, testing::StartsWith("private: M"));
    EXPECT_FALSE(Judge(claims[i], Findings(summary)).holds);
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
