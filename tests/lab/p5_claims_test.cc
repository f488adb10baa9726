#include <cmath>

#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

namespace bandana::lab {
namespace {

using test::On;
using testing::HasSubstr;

// Makes a curve of c t^power at t = 10, 100, 1000, and a point with it.
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

Json Fig2Point(const std::string& calibration, const std::string& algorithm, double epsilon, double power,
               double regret) {
  return Curved({{"privacy.model", "local"},
                 {"privacy.calibration", calibration},
                 {"algorithm.name", algorithm},
                 {"privacy.epsilon", epsilon},
                 {"environment.link", "identity"},
                 {"environment.parameters", "single"}},
                power, {regret, regret, regret});
}

// LDP-SGD has a third of LDP-OLS's regret as printed; in our version both have the same.
Json Fig2Run(double power, double baseline) {
  Json points = Json::array();
  for (const double epsilon : {0.5, 1.0}) {
    for (const char* calibration : {"paper", "tight"}) {
      const bool printed = calibration == std::string("paper");
      points.push_back(Fig2Point(calibration, "ldp-sgd", epsilon, epsilon == 1 ? power : 0.5, 3));
      points.push_back(Fig2Point(calibration, "ldp-ols", epsilon, 0.5, printed ? 9 / epsilon : 3));
      points.push_back(Fig2Point(calibration, "ldp-gloc", epsilon, 1, epsilon == 1 ? baseline : 9));
    }
  }
  return {{"points", points}};
}

TEST(P5Fig2, BothEpsilonsMustShowIt) {
  const std::string sublinear = "linear, one theta: ldp-sgd's regret is sublinear";
  EXPECT_TRUE(On(Fig2Run(0.6, 9), "p5-fig2", sublinear, "ours").holds);
  EXPECT_FALSE(On(Fig2Run(0.97, 9), "p5-fig2", sublinear, "ours").holds);
  const std::string beats = "linear, one theta: ldp-sgd has at least a fifth less regret than ldp-gloc";
  EXPECT_TRUE(On(Fig2Run(0.6, 9), "p5-fig2", beats, "printed").holds);
  const Verdict lost = On(Fig2Run(0.6, 3.7), "p5-fig2", beats, "printed");
  EXPECT_FALSE(lost.holds) << "not by a fifth";
  EXPECT_THAT(lost.evidence, HasSubstr("(not so)"));
}

TEST(P5Fig2, ThePrintedAlgorithmsAndOursAreJudgedApart) {
  const std::string stringent = "linear, one theta: at epsilon = 0.5 ldp-sgd has at least a fifth less";
  EXPECT_TRUE(On(Fig2Run(0.6, 9), "p5-fig2", stringent, "printed").holds);
  EXPECT_FALSE(On(Fig2Run(0.6, 9), "p5-fig2", stringent, "ours").holds);
  const std::string gains = "linear, one theta: the ratio of ldp-sgd's to ldp-ols's median regret is smaller";
  EXPECT_TRUE(On(Fig2Run(0.6, 9), "p5-fig2", gains, "printed").holds);
  EXPECT_FALSE(On(Fig2Run(0.6, 9), "p5-fig2", gains, "ours").holds);
}

// The exponent is that of what is added from one factor of ten to the next, so that a constant does not
// count.
TEST(P5Margin, RatesAreTwoSided) {
  const auto at = [](double power, double constant) {
    Json point = Curved({{"algorithm.name", "ldp-ols"},
                         {"privacy.calibration", "tight"},
                         {"privacy.epsilon", 4},
                         {"environment.margin", 0.5}},
                        power);
    for (const char* kind : {"mean", "median"}) {
      for (Json& each : point["curve"]["regret"][kind]) each = each.get<double>() + constant;
    }
    return Json{{"points", {point}}};
  };
  const std::string words = "ldp-ols, margin beta = 0.5: regret grows like T^0.25";
  for (const double constant : {0.0, 100.0}) {
    EXPECT_TRUE(On(at(0.26, constant), "p5-margin", words, "ours").holds);
    EXPECT_FALSE(On(at(0.03, constant), "p5-margin", words, "ours").holds);
    EXPECT_FALSE(On(at(0.47, constant), "p5-margin", words, "ours").holds);
  }
}

// The worst theta is another one at every horizon.
TEST(P5Hard, TheLargestRegretOverAllThetasIsJudged) {
  const auto run = [](double power) {
    std::vector<Json> points;
    for (const double horizon : {1e4, 4e4, 16e4}) {
      for (const double length : {1, 2, 4, 8, 16}) {
        const double worst = std::pow(horizon, power);
        // A short theta costs little because it is short, a long one because it is learned soon.
        const double regret = std::min(worst, horizon / length / 50);
        points.push_back(test::PlantedPoint({{"horizon", horizon},
                                             {"environment.theta_norm", 1 / length},
                                             {"privacy.epsilon", 1},
                                             {"privacy.calibration", "tight"},
                                             {"algorithm.name", "ldp-ols"}},
                                            {{"regret", {regret, 1.01 * regret, 0.99 * regret}}}));
      }
    }
    return test::PlantedRun(points);
  };
  const std::string words = "ldp-ols: with the worst theta median regret grows like T^0.5";
  EXPECT_TRUE(On(run(0.5), "p5-hard", words, "ours").holds);
  EXPECT_FALSE(On(run(0.2), "p5-hard", words, "ours").holds);
}

// The warm-up is 20,000 of 30,000 rounds, and 4,000 of its users play their best arm. Estimates without error
// leave out 3.75 arms per round.
TEST(P5Elimination, ArmsThatAreLeftOutAreCountedAndMustBeTheRightOnes) {
  const auto run = [](double left_out, double best) {
    const double eliminated = left_out * 10'000;
    const double rate = (best * 10'000 + 4'000) / 30'000;
    return test::PlantedRun({test::PlantedPoint({{"environment.margin", 1},
                                                 {"algorithm.elimination_gap", 0.7071},
                                                 {"algorithm.warm_up", 4000},
                                                 {"privacy.epsilon", 4},
                                                 {"privacy.calibration", "tight"},
                                                 {"algorithm.name", "ldp-ols"}},
                                                {{"eliminated", {eliminated, eliminated}},
                                                 {"best_action_rate", {rate, rate}},
                                                 {"rounds", {30'000, 30'000}}})});
  };
  const std::string words =
      "ldp-ols: at epsilon = 4 and s_0 = 4000, equation (7) leaves out the arms that it should";
  EXPECT_TRUE(On(run(3.7, 0.95), "p5-elimination", words, "ours").holds);
  EXPECT_FALSE(On(run(3.7, 0.5), "p5-elimination", words, "ours").holds) << "it leaves out good arms";
  EXPECT_FALSE(On(run(4, 0.95), "p5-elimination", words, "ours").holds) << "one arm is left, always";
  EXPECT_FALSE(On(run(0, 0.95), "p5-elimination", words, "ours").holds) << "it has never acted";
}

// The claim is that the default, or the number of another exhibit, is nearly the best value of the search.
TEST(P5Tuning, HoldsIfTheNumberIsNearlyTheBest) {
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
  for (const char* exhibit : {"p5-tuning", "p5-replay-tuning"}) {
    EXPECT_TRUE(On(summary(109), exhibit, "ldp-sgd: algorithm.step = 3").holds);
    EXPECT_FALSE(On(summary(111), exhibit, "ldp-sgd: algorithm.step = 3").holds);
  }
}

}  // namespace
}  // namespace bandana::lab
