#include <cmath>

#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

namespace bandana::lab {
namespace {

using test::On;
using testing::HasSubstr;

// Makes a curve of medians c t^power at t = 10, 100, 1000.
Json Curved(const Json& varied, double power, const Sample& values = {1, 2, 3}) {
  Json median = Json::array();
  for (const double t : {10.0, 100.0, 1000.0}) median.push_back(5 * std::pow(t, power));
  Json point = {
      {"point", varied},
      {"metrics", {{"regret", {{"values", values}}}}},
      {"curve",
       {{"t", {10, 100, 1000}}, {"regret", {{"mean", median}, {"sd", median}, {"median", median}}}}}};
  point["point"]["horizon"] = 1000;
  return point;
}

Json Fig2Point(const Json& world, const std::string& algorithm, double epsilon, double power, double regret) {
  Json varied = {{"privacy.model", "local"},
                 {"privacy.calibration", "tight"},
                 {"algorithm.name", algorithm},
                 {"privacy.epsilon", epsilon}};
  varied.update(world);
  return Curved(varied, power, {regret, regret, regret});
}

TEST(P5Fig2, EveryWorldAndBothEpsilonsMustShowIt) {
  const auto world = [](const char* link, const char* parameters, int dimension) {
    return Json{{"environment.link", link},
                {"environment.parameters", parameters},
                {"environment.dimension", dimension}};
  };
  const std::vector<Json> worlds = {world("identity", "single", 2),  world("identity", "single", 20),
                                    world("identity", "multi", 10),  world("logistic", "single", 2),
                                    world("logistic", "single", 20), world("logistic", "multi", 10),
                                    world("poisson", "single", 2)};
  const auto summary = [&](double power, double last) {
    Json points = Json::array();
    for (const Json& each : worlds) {
      for (const double epsilon : {0.5, 1.0}) {
        const bool end = each == worlds.back() && epsilon == 1;
        points.push_back(Fig2Point(each, "ldp-sgd", epsilon, end ? power : 0.5, end ? last : 1));
        points.push_back(Fig2Point(each, "ldp-gloc", epsilon, 1, 5));
      }
    }
    return Json{{"points", points}};
  };
  const std::string sublinear = "Poisson, one theta, d = 2, K = 10: ldp-sgd's regret is sublinear";
  const std::string beats = "ldp-sgd has at least a fifth less regret than ldp-gloc, in median, in 7 worlds";
  EXPECT_TRUE(On(summary(0.6, 1), "p5-fig2", sublinear).holds);
  EXPECT_FALSE(On(summary(0.97, 1), "p5-fig2", sublinear).holds);
  EXPECT_TRUE(On(summary(0.6, 1), "p5-fig2", beats).holds);
  EXPECT_FALSE(On(summary(0.6, 4.1), "p5-fig2", beats).holds) << "not by a fifth";
  const Verdict lost = On(summary(0.6, 9), "p5-fig2", beats);
  EXPECT_FALSE(lost.holds);
  EXPECT_THAT(lost.evidence,
              HasSubstr("Poisson, one theta, d = 2, K = 10, epsilon = 1: median 9, ldp-gloc: 5 (not so)"));
}

TEST(P5Margin, RatesAreUpperBounds) {
  const auto at = [](double power) {
    return Json{{"points",
                 {Curved({{"algorithm.name", "ldp-ols"},
                          {"privacy.epsilon", 4},
                          {"environment.contexts", "margin"},
                          {"environment.margin", 0.5}},
                         power)}}};
  };
  const std::string words = "ldp-ols, margin beta = 0.5: regret grows at most as T^0.25";
  EXPECT_TRUE(On(at(0.1), "p5-margin", words).holds);
  EXPECT_TRUE(On(at(0.39), "p5-margin", words).holds);
  EXPECT_FALSE(On(at(0.41), "p5-margin", words).holds);
}

// The claim is that the default is nearly the best value of the search.
TEST(P5Tuning, HoldsIfTheDefaultIsNearlyTheBest) {
  const auto summary = [](double at_default) {
    Json points = Json::array();
    for (const char* link : {"identity", "logistic"}) {
      for (const char* parameters : {"single", "multi"}) {
        for (const double step : {1.0, 3.0, 10.0}) {
          const double regret = step == 3 ? at_default : 100;
          points.push_back(Curved({{"algorithm.name", "ldp-sgd"},
                                   {"algorithm.step", step},
                                   {"environment.link", link},
                                   {"environment.parameters", parameters}},
                                  0.5, {regret, regret, regret}));
        }
      }
    }
    return Json{{"points", points}};
  };
  EXPECT_TRUE(On(summary(109), "p5-tuning", "ldp-sgd: algorithm.step = 3").holds);
  EXPECT_FALSE(On(summary(111), "p5-tuning", "ldp-sgd: algorithm.step = 3").holds);
}

}  // namespace
}  // namespace bandana::lab
