#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

namespace bandana::lab {
namespace {

using test::On;
using test::PlantedPoint;
using testing::HasSubstr;

// Says whose algorithm a point has.
enum class Whose { kPrinted, kOurs };
constexpr Whose kBoth[] = {Whose::kPrinted, Whose::kOurs};

Json With(Json keys, Whose whose) {
  const bool printed = whose == Whose::kPrinted;
  keys["privacy.calibration"] = printed ? "paper" : "tight";
  keys["algorithm.width"] = printed ? "paper" : "exact";
  keys["algorithm.overrun"] = printed ? "explore" : "best";
  if (!keys.contains("federation.agents")) keys["federation.agents"] = 50;
  return keys;
}

// Makes metrics of three runs, each spread around its value.
std::map<std::string, Sample> Spread(const std::map<std::string, double>& metrics) {
  std::map<std::string, Sample> samples;
  for (const auto& [name, value] : metrics) samples[name] = {0.99 * value, value, 1.01 * value};
  return samples;
}

// Makes metrics that are the same in all three runs, because they are counts.
std::map<std::string, Sample> Counts(const std::map<std::string, double>& metrics) {
  std::map<std::string, Sample> samples;
  for (const auto& [name, value] : metrics) samples[name] = Sample(3, value);
  return samples;
}

Json NoPoints() { return {{"points", Json::array()}}; }

Json ByEpsilon(double ours_at_one) {
  Json run = NoPoints();
  for (const double horizon : {1e4, 1e6}) {
    for (const Whose whose : kBoth) {
      for (const double epsilon : {0.1, 1.0}) {
        const bool ours = whose == Whose::kOurs;
        const double regret = !ours ? (epsilon < 1 ? 108 : 101) : epsilon < 1 ? 500 : ours_at_one;
        const Json keys = {{"horizon", horizon}, {"privacy.model", "silo"}, {"privacy.epsilon", epsilon}};
        run["points"].push_back(PlantedPoint(With(keys, whose), Spread({{"regret", regret}})));
      }
      Json none = With({{"horizon", horizon}, {"privacy.model", "none"}}, whose);
      none.erase("privacy.calibration");
      run["points"].push_back(PlantedPoint(none, Spread({{"regret", 100}})));
    }
  }
  return run;
}

TEST(P4Fig4, EpsilonOneIsHeldAgainstNoPrivacy) {
  const char* words = "T = 1e4: epsilon = 1 indicates";
  EXPECT_TRUE(On(ByEpsilon(150), "p4-fig4", words, "printed").holds);
  EXPECT_FALSE(On(ByEpsilon(150), "p4-fig4", words, "ours").holds);
  EXPECT_TRUE(On(ByEpsilon(104), "p4-fig4", words, "ours").holds);
  EXPECT_TRUE(On(ByEpsilon(150), "p4-fig4", "T = 1e6: regret falls", "ours").holds);
  EXPECT_FALSE(On(ByEpsilon(600), "p4-fig4", "T = 1e6: regret falls", "ours").holds);
}

Json ByRounds(double five, double no_limit, double rounds) {
  Json run = NoPoints();
  const auto add = [&](const Json& limit, double regret) {
    for (const double horizon : {1e4, 1e6}) {
      for (const Whose whose : kBoth) {
        Json keys = With({{"horizon", horizon}, {"algorithm.rounds", limit}}, whose);
        if (limit != "auto") keys["algorithm.gap"] = whose == Whose::kPrinted ? "known" : "auto";
        run["points"].push_back(PlantedPoint(keys, Spread({{"regret", regret}, {"rounds", rounds}})));
      }
    }
  };
  add(1, 100);  // outside of the paper's range
  add(2, 1000);
  add(3, 400);
  add(4, 200);
  add(5, five);
  add("auto", no_limit);
  return run;
}

TEST(P4Fig6, RoundsAreComparedInThePapersRange) {
  for (const char* version : {"printed", "ours"}) {
    const auto holds = [&](double five, double no_limit, double rounds, const char* words) {
      return On(ByRounds(five, no_limit, rounds), "p4-fig6", words, version).holds;
    };
    EXPECT_TRUE(holds(150, 100, 4, "T = 1e4: regret falls"));
    EXPECT_FALSE(holds(250, 100, 4, "T = 1e4: regret falls"));
    EXPECT_FALSE(holds(150, 100, 4, "T = 1e4: R = 4 and R = 5"));
    EXPECT_TRUE(holds(195, 100, 4, "T = 1e4: R = 4 and R = 5"));
    EXPECT_FALSE(holds(195, 120, 4, "T = 1e6: four rounds suffice"));
    EXPECT_TRUE(holds(195, 199, 4, "T = 1e6: four rounds suffice"));
    EXPECT_TRUE(holds(195, 100, 4.5, "T = 1e6: about log T = 4 rounds"));
    EXPECT_FALSE(holds(195, 100, 6.5, "T = 1e6: about log T = 4 rounds"));
    EXPECT_FALSE(holds(195, 100, 2.5, "T = 1e6: about log T = 4 rounds")) << "it has two sides";
  }
}

TEST(P4Fig7, TheCostIsThatOfTheTheorem) {
  const auto verdict = [](double cost) {
    Json run = NoPoints();
    for (const double horizon : {1e4, 1e6}) {
      const Json keys = With({{"horizon", horizon},
                              {"algorithm.gap", "known"},
                              {"algorithm.participation", 1},
                              {"algorithm.rounds", 5}},
                             Whose::kPrinted);
      run["points"].push_back(PlantedPoint(keys, Counts({{"communication_cost", cost}})));
    }
    return On(run, "p4-fig7", "T = 1e6: R = 5 rounds of all agents", "printed");
  };
  EXPECT_TRUE(verdict(6250).holds);
  EXPECT_FALSE(verdict(5000).holds);
  EXPECT_FALSE(verdict(6600).holds);
}

struct Traffic {
  double star_links = 98;
  double spare_slots = 3;  // of the star: two with sums, and one with adverts
  double lost = 0;
};

Json OnGraphs(const Traffic& traffic) {
  Json run = NoPoints();
  const auto add = [&](const char* graph, double slots, double spare, double links, double waiting) {
    for (const std::string protocol : {"gis", "flooding", "gossip", "spare"}) {
      Json keys = With({{"federation.topology", graph},
                        {"federation.degree", 4},
                        {"horizon", 1e6},
                        {"algorithm.protocol", protocol == "spare" ? "gis" : protocol},
                        {"algorithm.slack", protocol == "spare" ? 3 : 0}},
                       Whose::kOurs);
      const double used = protocol == "gossip" ? 3 * slots : protocol == "spare" ? spare : slots;
      const bool gis = protocol == "gis" || protocol == "spare";
      Json point = PlantedPoint(keys, Counts({{"rounds", 4},
                                              {"links_peer", 4 * links},
                                              {"slots", 4 * used},
                                              {"paper_cost", 4 * 100 * slots},
                                              {"waiting_regret", waiting},
                                              {"lost_tallies", traffic.lost},
                                              {"messages", gis ? 300 : 100},
                                              {"communication_reals", gis ? 10 : 20}}));
      if (std::string(graph) == "regular") {
        // The complete graph of five nodes has the eigenvalues 4 (once) and -1 (four times).
        point["network"] = {{"nodes", 5}, {"edges", Json::array()}};
        for (int a = 1; a <= 5; ++a) {
          for (int b = a + 1; b <= 5; ++b) point["network"]["edges"].push_back({a, b, 1});
        }
      }
      run["points"].push_back(point);
    }
  };
  add("star", 2, traffic.spare_slots, traffic.star_links, 90);
  add("ring", 25, 26, 1250, 2000);
  add("complete", 1, 2, 1225, 0);
  add("regular", 1, 2, 10, 0);
  return run;
}

TEST(P4Table1, CountsAreHeldAgainstFormulas) {
  for (const char* words :
       {"Table I, star", "Table I, ring", "Table I, complete", "the star has diameter 2",
        "the ring has diameter 25", "regular: GIS takes d_G slots", "d_G slots are enough",
        "waiting costs at most", "GIS sends nothing twice", "gossip is slow", "handshakes"}) {
    EXPECT_TRUE(On(OnGraphs({}), "p4-table1", words, "ours").holds) << words;
  }
  EXPECT_FALSE(On(OnGraphs({.star_links = 97}), "p4-table1", "Table I, star", "ours").holds);
  EXPECT_FALSE(On(OnGraphs({.spare_slots = 4}), "p4-table1", "the star has diameter 2", "ours").holds)
      << "sums travelled in a third slot";
  EXPECT_FALSE(On(OnGraphs({.lost = 1}), "p4-table1", "d_G slots are enough", "ours").holds);
}

TEST(P4Table1, TheEigenvalueIsOfTheWalk) {
  const Verdict walk = On(OnGraphs({}), "p4-table1", "second largest modulus", "ours");
  EXPECT_TRUE(walk.holds);  // 10 links; the bound is 4 * 5 / 2 * ln 5 / ln 4 = 11.6
  EXPECT_THAT(walk.evidence, HasSubstr("d = 4, eigenvalue 0.25: 10 links per round, at most 12"));
  const Verdict laplacian = On(OnGraphs({}), "p4-table1", "lambda_2 the Laplacian's", "ours");
  EXPECT_FALSE(laplacian.holds);
  EXPECT_THAT(laplacian.evidence, HasSubstr("eigenvalue 5: 10 links per round, at most -10"));
}

Json InComponents(double cost_of_three, double messages) {
  Json run = NoPoints();
  const auto add = [&](const Json& components, const char* topology, double cost, double paper,
                       double agents) {
    const Json keys = {{"horizon", 1e6},
                       {"algorithm.name", "hdp-mab"},
                       {"federation.agents", agents},
                       {"federation.components", components},
                       {"federation.component_topology", topology}};
    run["points"].push_back(PlantedPoint(With(keys, Whose::kOurs), Counts({{"communication_cost", cost},
                                                                           {"paper_cost", paper},
                                                                           {"clients", agents},
                                                                           {"messages", messages},
                                                                           {"regret", 8000},
                                                                           {"regret_per_agent", 80}})));
  };
  const Json even = Json::array({20, 20, 20, 20, 20});
  add(even, "complete", 345, 345, 100);
  add(Json::array({63, 24, 10, 6, 7}), "complete", 355, 355, 110);
  add(Json::array({100}), "complete", cost_of_three, cost_of_three, 100);
  add(even, "erdos-renyi", 360, 400, 100);
  add(even, "star", 345, 345, 100);
  const Json server = With({{"horizon", 1e6}, {"algorithm.name", "cdp-mab"}}, Whose::kOurs);
  run["points"].push_back(PlantedPoint(
      server,
      Counts({{"communication_cost", 5001}, {"messages", 201}, {"regret", 8000}, {"regret_per_agent", 80}})));
  return run;
}

TEST(P4Fig11, CostsAreThoseOfLinksThatWereUsed) {
  const auto holds = [](const char* words, double cost_of_three = 149, double messages = 200) {
    return On(InComponents(cost_of_three, messages), "p4-fig11", words, "ours").holds;
  };
  EXPECT_FALSE(holds("T = 1e6: from case 1 to 2 to 3 the cost"));
  EXPECT_TRUE(holds("T = 1e6: from case 1 to 2 to 3 the cost", 400));
  EXPECT_FALSE(holds("T = 1e6: of cases 1, 4 and 5 stars are cheapest"));
  EXPECT_TRUE(holds("T = 1e6: components (cases 1, 4, 5) cost a tenth"));
  EXPECT_FALSE(holds("T = 1e6: components (cases 1, 4, 5) cost less than one component"));
  EXPECT_TRUE(holds("T = 1e6: components (cases 1, 4, 5) send fewer messages"));
  EXPECT_FALSE(holds("T = 1e6: components (cases 1, 4, 5) send fewer messages", 149, 202));
  EXPECT_TRUE(holds("a complete component costs what Theorem 4"));
  EXPECT_FALSE(holds("a random component costs what Theorem 4"));
  EXPECT_TRUE(holds("T = 1e6: cases 1, 2 and 3 have similar regret"));
  EXPECT_TRUE(holds("T = 1e6: cases 1, 3, 5 and 6"));
}

Json AroundAHalf(const Sample& alike) {
  Json run = NoPoints();
  for (const char* name : {"cdp-mab", "hdp-mab"}) {
    const bool server = std::string(name) == "cdp-mab";
    const Json keys = {
        {"algorithm.name", name},
        {server ? "algorithm.participation" : "algorithm.aggregation", server ? Json(1) : Json("unweighted")},
        {"environment.heterogeneous", 1.0}};
    run["points"].push_back(
        PlantedPoint(With(keys, Whose::kPrinted), {{"best_action_rate", server ? Sample(12, 0.9) : alike}}));
  }
  return run;
}

TEST(P4Weights, AWrongArmIsTheBestOneLessThanHalfOfTheTime) {
  const char* words =
      "unequal components find the best arm as often as a server that hears all, where means differ";
  const Verdict wrong = On(AroundAHalf({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9}),
                           "p4-weights", words, "printed");
  EXPECT_FALSE(wrong.holds);
  EXPECT_THAT(wrong.evidence, HasSubstr("wrong arms: components 0.75 +- 0.131, server 0 +- 0"));
  EXPECT_TRUE(On(AroundAHalf(Sample(12, 0.6)), "p4-weights", words, "printed").holds);
}

// Regret is flat, or noise / (sqrt(M) epsilon) if that is larger.
Json ByNoise(double flat, double noise) {
  Json run = NoPoints();
  for (const double horizon : {1e4, 1e6, 1e8}) {
    for (const double agents : {10.0, 50.0, 250.0}) {
      for (const double epsilon : {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0}) {
        const Json keys = {{"horizon", horizon}, {"federation.agents", agents}, {"privacy.epsilon", epsilon}};
        const double regret = std::max(flat, noise / (std::sqrt(agents) * epsilon));
        run["points"].push_back(PlantedPoint(With(keys, Whose::kPrinted), Counts({{"regret", regret}})));
      }
    }
  }
  return run;
}

TEST(P4Theorem1, TheCrossoverIsWhereTheLinesMeet) {
  // 0.146 = noise / (sqrt(50) flat)
  const double at_the_text = 0.146 * std::sqrt(50) * 4000;
  const char* crossover = "the crossover is at epsilon";
  EXPECT_TRUE(On(ByNoise(4000, at_the_text), "p4-theorem1", crossover, "printed").holds);
  EXPECT_FALSE(On(ByNoise(4000, 0.2 * at_the_text), "p4-theorem1", crossover, "printed").holds);
  EXPECT_FALSE(On(ByNoise(4000, 5 * at_the_text), "p4-theorem1", crossover, "printed").holds);
  EXPECT_TRUE(On(ByNoise(4000, 900), "p4-theorem1", "the crossover falls like 1/sqrt(M)", "printed").holds);
  EXPECT_TRUE(On(ByNoise(4000, 900), "p4-theorem1", "grows like 1/epsilon", "printed").holds);
  EXPECT_FALSE(On(ByNoise(4000, 1), "p4-theorem1", "grows like 1/epsilon", "printed").holds);
}

TEST(P4Theorem1, TheBoundHasItsConstants) {
  const char* words = "regret is at most (22) with its constants";
  EXPECT_TRUE(On(ByNoise(4000, 900), "p4-theorem1", words, "printed").holds);
  EXPECT_FALSE(On(ByNoise(15'000, 900), "p4-theorem1", words, "printed").holds);
  EXPECT_FALSE(On(ByNoise(4000, 9000), "p4-theorem1", words, "printed").holds);
}

TEST(P4Balance, CostsAreEqualOnlyIfAllLinksAreUsed) {
  const auto holds = [](double peers) {
    Json run = NoPoints();
    run["points"].push_back(
        PlantedPoint(With({{"algorithm.name", "ddp-mab"}, {"federation.topology", "ring"}}, Whose::kOurs),
                     Counts({{"communication_cost", peers}})));
    run["points"].push_back(
        PlantedPoint(With({{"algorithm.name", "cdp-mab"}, {"federation.cost_server", 25}}, Whose::kOurs),
                     Counts({{"communication_cost", 8750}})));
    return On(run, "p4-balance", "ring: with c1", "ours").holds;
  };
  EXPECT_TRUE(holds(8750));
  EXPECT_FALSE(holds(7000));
  EXPECT_FALSE(holds(9500));
}

}  // namespace
}  // namespace bandana::lab
