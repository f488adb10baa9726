#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

namespace bandana::lab {
namespace {

using test::On;
using testing::HasSubstr;

// Makes a point with three runs, each metric spread around its value.
Json PointOf(const Json& varied, const std::map<std::string, double>& metrics) {
  Json point = {{"point", varied}, {"metrics", Json::object()}};
  point["point"]["federation.agents"] = 50;
  for (const auto& [name, value] : metrics) {
    point["metrics"][name] = {{"values", Sample{0.99 * value, value, 1.01 * value}}};
  }
  return point;
}

// Makes a point whose metrics are the same in all runs, because they are counts.
Json Counted(const Json& varied, const std::map<std::string, double>& metrics) {
  Json point = {{"point", varied}, {"metrics", Json::object()}};
  point["point"]["federation.agents"] = 50;
  for (const auto& [name, value] : metrics) point["metrics"][name] = {{"values", Sample(3, value)}};
  return point;
}

Json ByEpsilon(double tight_at_one) {
  Json summary = {{"points", Json::array()}};
  for (const char* width : {"paper", "exact"}) {
    for (const char* calibration : {"paper", "tight"}) {
      for (const double epsilon : {0.1, 1.0}) {
        const bool tight = std::string(calibration) == "tight";
        const double regret = !tight ? (epsilon < 1 ? 108 : 101) : epsilon < 1 ? 500 : tight_at_one;
        summary["points"].push_back(PointOf({{"privacy.model", "silo"},
                                             {"privacy.calibration", calibration},
                                             {"algorithm.width", width},
                                             {"privacy.epsilon", epsilon}},
                                            {{"regret", regret}}));
      }
    }
    summary["points"].push_back(
        PointOf({{"privacy.model", "none"}, {"algorithm.width", width}}, {{"regret", 100}}));
  }
  return summary;
}

TEST(P4Fig4, EpsilonOneIsHeldAgainstNoPrivacy) {
  EXPECT_TRUE(On(ByEpsilon(150), "p4-fig4", "as printed, epsilon = 1").holds);
  EXPECT_FALSE(On(ByEpsilon(150), "p4-fig4", "epsilon delivered, epsilon = 1").holds);
  EXPECT_TRUE(On(ByEpsilon(104), "p4-fig4", "epsilon delivered, epsilon = 1").holds);
  EXPECT_TRUE(On(ByEpsilon(150), "p4-fig4", "exact widths: regret falls").holds);
  EXPECT_FALSE(On(ByEpsilon(600), "p4-fig4", "exact widths: regret falls").holds);
}

Json ByRounds(double five, double no_limit) {
  Json summary = {{"points", Json::array()}};
  const auto add = [&](const Json& rounds, const char* algorithm, double regret, double used) {
    summary["points"].push_back(PointOf({{"algorithm.name", algorithm},
                                         {"privacy.calibration", "tight"},
                                         {"algorithm.width", "exact"},
                                         {"algorithm.gap", "auto"},
                                         {"algorithm.rounds", rounds}},
                                        {{"regret", regret}, {"rounds", used}}));
    if (rounds == "auto") {
      summary["points"].back()["point"].erase("algorithm.gap");
      summary["points"].push_back(summary["points"].back());
      summary["points"].back()["point"]["privacy.calibration"] = "paper";
      summary["points"].back()["point"]["algorithm.width"] = "paper";
    }
  };
  add(1, "cdp-mab", 9000, 1);
  add(2, "cdp-mab", 1000, 2);
  add(3, "cdp-mab", 400, 3);
  add(4, "cdp-mab", 200, 4);
  add(5, "cdp-mab", five, 5);
  add(8, "cdp-mab", 900, 8);  // beyond the paper's range
  add("auto", "cdp-mab", no_limit, no_limit / 20);
  add("auto", "single-mab", 1500, 0);
  return summary;
}

TEST(P4Fig6, RoundsAreComparedInThePapersRange) {
  EXPECT_TRUE(On(ByRounds(150, 100), "p4-fig6", "gap-free: regret falls").holds);
  EXPECT_FALSE(On(ByRounds(250, 100), "p4-fig6", "gap-free: regret falls").holds);
  EXPECT_FALSE(On(ByRounds(150, 100), "p4-fig6", "gap-free: R = 4 and R = 5").holds);
  EXPECT_TRUE(On(ByRounds(195, 100), "p4-fig6", "gap-free: R = 4 and R = 5").holds);
  EXPECT_FALSE(On(ByRounds(195, 120), "p4-fig6", "gap-free: four rounds suffice").holds);
  EXPECT_TRUE(On(ByRounds(195, 199), "p4-fig6", "gap-free: four rounds suffice").holds);
  EXPECT_TRUE(On(ByRounds(195, 100), "p4-fig6", "about log T = 4 rounds").holds);
  EXPECT_FALSE(On(ByRounds(195, 160), "p4-fig6", "about log T = 4 rounds").holds);
}

TEST(P4Fig6, RoundsAreHeldAgainstBeingAlone) {
  EXPECT_TRUE(On(ByRounds(150, 100), "p4-fig6", "with one round each is better off alone").holds);
  EXPECT_FALSE(On(ByRounds(150, 100), "p4-fig6", "with fewer rounds than").holds);
}

TEST(P4Fig7, NoRunCostsMoreThanTheTheorem) {
  Json summary = {{"points", Json::array()}};
  for (const bool printed : {false, true}) {
    for (const int rounds : {4, 5}) {
      summary["points"].push_back(Counted({{"privacy.calibration", printed ? "paper" : "tight"},
                                           {"algorithm.width", printed ? "paper" : "exact"},
                                           {"algorithm.gap", printed ? "known" : "auto"},
                                           {"federation.cost_server", 25},
                                           {"algorithm.participation", 0.3},
                                           {"algorithm.rounds", rounds}},
                                          {{"communication_cost", 25.0 * 15 * rounds}}));
    }
  }
  EXPECT_TRUE(On(summary, "p4-fig7", "cost counted is at most").holds);
  summary["points"][0]["metrics"]["communication_cost"]["values"][1] = 1525;
  const Verdict more = On(summary, "p4-fig7", "cost counted is at most");
  EXPECT_FALSE(more.holds);
  EXPECT_THAT(more.evidence, HasSubstr("1 to 1.02 at 4"));
}

Json OnGraphs(double star_links) {
  Json summary = {{"points", Json::array()}};
  const auto add = [&](const char* graph, double slots, double links, double lost) {
    for (const char* protocol : {"gis", "flooding", "gossip"}) {
      const std::string name = protocol;
      summary["points"].push_back(Counted(
          {{"algorithm.name", "ddp-mab"}, {"federation.topology", graph}, {"algorithm.protocol", protocol}},
          {{"rounds", 4},
           {"links_peer", 4 * links},
           {"slots", 4 * slots * (name == "gossip" ? 3 : 1)},
           {"waiting_pulls", 4 * (slots - 1)},
           {"waiting_regret", lost},
           {"messages", name == "gis" ? 300 : 100},
           {"communication_reals", name == "gis" ? 10 : 20}}));
    }
  };
  add("star", 2, star_links, 90);
  add("ring", 25, 1250, 2000);
  add("complete", 1, 1225, 0);
  add("regular", 1, 10, 0);
  // The complete graph of five nodes has the eigenvalues 4 (once) and -1 (four times).
  for (Json& point : summary["points"]) {
    if (point["point"]["federation.topology"] != "regular") continue;
    point["network"] = {{"nodes", 5}, {"edges", Json::array()}};
    for (int a = 1; a <= 5; ++a) {
      for (int b = a + 1; b <= 5; ++b) point["network"]["edges"].push_back({a, b, 1});
    }
  }
  return summary;
}

TEST(P4Table1, CountsAreHeldAgainstFormulas) {
  const Json summary = OnGraphs(98);
  for (const char* words : {"star: 2(M - 1)", "ring: M^2/2", "complete: M(M - 1)/2",
                            "a round takes d_G slots", "waiting costs at most", "GIS sends nothing twice",
                            "flooding is as fast", "gossip is slow", "handshakes"}) {
    EXPECT_TRUE(On(summary, "p4-table1", words).holds) << words;
  }
  EXPECT_FALSE(On(OnGraphs(97), "p4-table1", "star: 2(M - 1)").holds);
}

TEST(P4Table1, TheEigenvalueIsOfTheWalk) {
  const Json summary = OnGraphs(98);
  const Verdict walk = On(summary, "p4-table1", "second largest modulus");
  EXPECT_TRUE(walk.holds);  // 10 links; the bound is 4 * 5 / 2 * ln 5 / ln 4 = 11.6
  EXPECT_THAT(walk.evidence, HasSubstr("d = 4, eigenvalue 0.25: 10 links per round, at most 12"));
  const Verdict laplacian = On(summary, "p4-table1", "lambda_2 the Laplacian's");
  EXPECT_FALSE(laplacian.holds);
  EXPECT_THAT(laplacian.evidence, HasSubstr("eigenvalue 5: 10 links per round, at most -10"));
}

Json InComponents(double edges_of_two) {
  Json summary = {{"points", Json::array()}};
  const auto add = [&](const Json& components, const char* topology, double counted, double edges,
                       double regret) {
    for (const char* rule : {"paths", "edges"}) {
      const double paper = std::string(rule) == "edges" ? edges : counted;
      summary["points"].push_back(Counted({{"algorithm.name", "hdp-mab"},
                                           {"federation.components", components},
                                           {"federation.component_topology", topology},
                                           {"algorithm.cost_rule", rule}},
                                          {{"communication_cost", counted},
                                           {"paper_cost", paper},
                                           {"regret", 100 * regret},
                                           {"regret_per_agent", regret}}));
    }
  };
  const Json even = Json::array({20, 20, 20, 20, 20});
  add(even, "complete", 345, 1200, 80);
  add(Json::array({63, 24, 10, 6, 7}), "complete", 355, edges_of_two, 75);
  add(Json::array({100}), "complete", 149, 5000, 80);
  add(even, "erdos-renyi", 360, 500, 81);
  add(even, "star", 345, 345, 80);
  summary["points"].push_back(Counted(
      {{"algorithm.name", "cdp-mab"}},
      {{"communication_cost", 5001}, {"paper_cost", 5001}, {"regret", 8000}, {"regret_per_agent", 80}}));
  return summary;
}

TEST(P4Fig11, EveryRuleHasItsOwnOrder) {
  const Json summary = InComponents(2500);
  EXPECT_TRUE(On(summary, "p4-fig11", "by edges: from case 1 to 2 to 3").holds);
  EXPECT_FALSE(On(InComponents(1100), "p4-fig11", "by edges: from case 1 to 2 to 3").holds);
  EXPECT_FALSE(On(summary, "p4-fig11", "by ways to sinks: from case 1 to 2 to 3").holds);
  EXPECT_FALSE(On(summary, "p4-fig11", "counted: of cases 1, 4 and 5").holds);
  EXPECT_TRUE(On(summary, "p4-fig11", "by edges: of cases 1, 4 and 5").holds);
  EXPECT_TRUE(On(summary, "p4-fig11", "counted: components (cases 1, 4, 5) cost less than a server").holds);
  EXPECT_FALSE(On(summary, "p4-fig11", "counted: components (cases 1, 4, 5) cost less than one").holds);
  EXPECT_TRUE(On(summary, "p4-fig11", "similar regret per agent").holds);
  EXPECT_TRUE(On(summary, "p4-fig11", "decide alike").holds);
}

Json AroundAHalf(const Sample& alike) {
  Json summary = {{"points", Json::array()}};
  for (const char* aggregation : {"weighted", "unweighted"}) {
    const Sample rates = std::string(aggregation) == "weighted" ? Sample(12, 0.9) : alike;
    summary["points"].push_back(
        {{"point",
          {{"algorithm.name", "hdp-mab"},
           {"algorithm.aggregation", aggregation},
           {"environment.heterogeneous", 1.0},
           {"environment.means", {0.6, 0.55, 0.5, 0.5, 0.45, 0.45, 0.4, 0.4, 0.35, 0.3}}}},
         {"metrics", {{"best_action_rate", {{"values", rates}}}}}});
  }
  return summary;
}

TEST(P4Fig12, AWrongArmIsTheBestOneLessThanHalfOfTheTime) {
  const char* words = "as often as if weighted, where means differ";
  const Verdict wrong =
      On(AroundAHalf({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9}), "p4-fig12", words);
  EXPECT_FALSE(wrong.holds);
  EXPECT_THAT(wrong.evidence, HasSubstr("wrong arms: alike 0.75 +- 0.131, weighted 0 +- 0"));
  EXPECT_TRUE(On(AroundAHalf(Sample(12, 0.6)), "p4-fig12", words).holds);
}

}  // namespace
}  // namespace bandana::lab
