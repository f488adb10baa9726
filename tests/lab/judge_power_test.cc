#include <cmath>
#include <optional>
#include <string>

#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/lab/judge/judge.h"
#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

// Verdicts say how small an effect their runs would have shown. Here, runs of which the law is known tell
// whether this is so.
namespace bandana::lab {
namespace {

using test::ClaimOf;
using test::PlantedPoint;
using test::PlantedRun;

// A planted run with its rows of results.csv.
struct PlantedCurves {
  Json summary;
  ResultsFile::Values rows;

  Verdict On(const PaperClaim& claim) const {
    Findings findings(summary);
    findings.AddRows(rows);
    return Judge(claim, findings);
  }
};

// Makes one point with a regret of 5 t^power in each replicate.
PlantedCurves CurvesOf(const std::vector<double>& powers) {
  const Sample t = {1, 10, 100};
  Sample mean;
  Sample median;
  std::vector<std::vector<std::vector<double>>> rows(powers.size());
  for (const double round : t) {
    Sample regrets;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      regrets.push_back(5 * std::pow(round, powers[i]));
      rows[i].push_back({regrets.back(), 0});
    }
    mean.push_back(MeanOf(regrets).value);
    median.push_back(MedianOf(regrets));
  }
  Json point = PlantedPoint({{"horizon", 100}}, {{"regret", Sample(powers.size(), 1)}});
  point["curve"] = {{"t", t}, {"regret", {{"mean", mean}, {"median", median}}}};
  return {PlantedRun({point}), {rows}};
}

double UniformAround(double centre, double width, CoinGen& coin) {
  return centre + width * (UniformUnit(coin) - 0.5);
}

TEST(JudgePower, OverTimeMediansShowTheSpreadOfTheExponents) {
  const std::string of = "is = \"grows\"\nby = \"median\"\nof = { along = \"t\" }\n";
  const Verdict verdict = CurvesOf({0.5, 0.6, 0.75}).On(ClaimOf("", of + "at_most = 0.61\n"));
  EXPECT_TRUE(verdict.holds);
  ASSERT_TRUE(verdict.resolves.has_value());
  EXPECT_EQ(verdict.resolves->kind, Resolution::Kind::kExponent);
  EXPECT_NEAR(verdict.resolves->value, 0.15, 1e-9);
  EXPECT_EQ(PowerInWords(verdict), "sees exponents that differ by 0.15");
}

// The standard deviation of the exponent over 400 runs is what a verdict says, within 10 %: with a standard
// error of 3.5 % for it, this has a false-alarm rate of 0.5 %. A verdict that took the replicates alone for
// those left out would be off by a factor of 9.
TEST(JudgePower, OverTimeMeansKnowTheirStandardError) {
  PhiloxSource bits({.seed = 11});
  CoinGen coin(bits);
  const PaperClaim claim = ClaimOf("", "is = \"grows\"\nof = { along = \"t\" }\nat_most = 0.5\n");
  Sample exponents;
  Sample stated;
  for (int run = 0; run < 400; ++run) {
    std::vector<double> powers;
    for (int i = 0; i < 10; ++i) powers.push_back(UniformAround(0.5, 0.2, coin));
    const PlantedCurves curves = CurvesOf(powers);
    const Json& mean = curves.summary["points"][0]["curve"]["regret"]["mean"];
    exponents.push_back(std::log(mean[2].get<double>() / mean[0].get<double>()) / std::log(100));
    stated.push_back(curves.On(claim).resolves.value().value / kClear);
  }
  const double sd = MeanOf(exponents).se * std::sqrt(400);
  EXPECT_NEAR(MeanOf(stated).value / sd, 1, 0.1);
}

// The run cannot tell an exponent of 0.45 from one of 0.5, and says so; in an exponent of 0.3 it can.
TEST(JudgePower, OverTimeMeansMustBeClear) {
  const PaperClaim claim = ClaimOf("", "is = \"grows\"\nof = { along = \"t\" }\nat_most = 0.5\n");
  const auto around = [&](double power) { return CurvesOf({power - 0.05, power, power + 0.05}).On(claim); };
  EXPECT_FALSE(around(0.45).holds);
  EXPECT_GT(around(0.45).resolves->value, 0.05);
  EXPECT_TRUE(around(0.3).holds);
}

TEST(JudgePower, AnInequalityOfCurvesKnowsItsGap) {
  const std::string claim =
      "is = \"inequality\"\nlet = { a = { along = \"t\", metric = \"regret / t\" } }\n"
      "that = [\"at(a, 1) < at(a, 0.1)\", \"0 < at(a, 1)\"]\n";
  const auto unclear = [&](const std::string& by, double shift) {
    const Verdict verdict =
        CurvesOf({0.5 - shift, 0.5, 0.5 + shift}).On(ClaimOf("", claim + "by = \"" + by + "\"\n"));
    EXPECT_TRUE(verdict.holds);
    EXPECT_EQ(verdict.resolves.value().kind, Resolution::Kind::kGap);
    return verdict.resolves->value;
  };
  EXPECT_NEAR(unclear("mean", 0), 0, 1e-12);
  const auto gap = [](double power) { return 5 * (std::pow(100, power - 1) - std::pow(10, power - 1)); };
  const auto last = [](double power) { return 5 * std::pow(100, power - 1); };
  ASSERT_GT(last(0.6) - last(0.5), std::abs(gap(0.6) - gap(0.5))) << "the second inequality is known least";
  EXPECT_NEAR(unclear("median", 0.1), last(0.6) - last(0.5), 1e-9);
  const double error = MeanOf({last(0.4), last(0.5), last(0.6)}).se;
  EXPECT_NEAR(unclear("mean", 0.1), kClear * error, 1e-9) << "the jackknife of a mean is its standard error";
}

TEST(JudgePower, WithoutRowsOrWithOneReplicateNothingIsStated) {
  const PaperClaim claim =
      ClaimOf("", "is = \"grows\"\nby = \"median\"\nof = { along = \"t\" }\nat_most = 0.7\n");
  EXPECT_FALSE(Judge(claim, Findings(CurvesOf({0.5, 0.6}).summary)).resolves.has_value());
  EXPECT_FALSE(CurvesOf({0.5}).On(claim).resolves.has_value());
  EXPECT_TRUE(CurvesOf({0.5, 0.6}).On(claim).resolves.has_value());
}

// 3 excesses of 10 and 3 of 10 (1 + shift): the last one is known to 3 standard errors of what is beyond.
TEST(JudgePower, AnExcessKnowsItsExponent) {
  std::vector<Json> points;
  for (const double horizon : {1e4, 1e6}) {
    const double shift = horizon == 1e6 ? 0.1 : 0;
    points.push_back(
        PlantedPoint({{"privacy.model", "none"}, {"horizon", horizon}}, {{"regret", {1, 1, 1}}}));
    points.push_back(PlantedPoint({{"privacy.model", "central"}, {"horizon", horizon}},
                                  {{"regret", {11 - 10 * shift, 11, 11 + 10 * shift}}}));
  }
  const std::string of =
      "is = \"grows\"\nof = { at = { \"privacy.model\" = \"central\" }, along = \"horizon\" }\n"
      "above = { at = { \"privacy.model\" = \"none\" }, along = \"horizon\" }\nat_most = 0\ntolerance = "
      "0.1\n";
  const Verdict verdict = Judge(ClaimOf("", of), Findings(PlantedRun(points)));
  const double error = 1 / std::sqrt(3);
  ASSERT_TRUE(verdict.resolves.has_value());
  EXPECT_NEAR(verdict.resolves->value, std::log1p(kClear * error / (std::pow(100, 0.1) * 10)) / std::log(100),
              1e-9);
}

TEST(JudgePower, AMeanOfZeroIsComparedRelativeToTheOther) {
  const std::string claim =
      "of = { at = { \"privacy.model\" = \"central\" } }\nthan = { at = { \"privacy.model\" = \"local\" } "
      "}\n";
  const auto unclear = [&](const std::string& is, const Sample& a, const Sample& b) {
    const Json run = PlantedRun({PlantedPoint({{"privacy.model", "central"}}, {{"regret", a}}),
                                 PlantedPoint({{"privacy.model", "local"}}, {{"regret", b}})});
    return Judge(ClaimOf("", "is = \"" + is + "\"\n" + claim), Findings(run)).resolves.value().value;
  };
  for (const char* is : {"below", "at-most"}) {
    EXPECT_NEAR(unclear(is, {0, 0, 0}, {9, 10, 11}), kClear / std::sqrt(3) / 10, 1e-12) << is;
    EXPECT_EQ(unclear(is, {0, 0, 0}, {0, 0, 0}), 0) << is;
  }
}

Json TimesOf(double truth, int runs, CoinGen& coin) {
  std::vector<Json> points;
  for (const char* world : {"a", "b"}) {
    Sample times;
    for (int i = 0; i < runs; ++i) {
      times.push_back((UniformUnit(coin) < truth) == (std::string(world) == "a") ? 7 : 8);
    }
    points.push_back(PlantedPoint({{"environment.world", world}}, {{"first_sync", times}}));
    points.back()["privacy"] = {{"nominal", {{"epsilon", 1.0}, {"delta", 0.0}}}};
  }
  return PlantedRun(points);
}

constexpr char kTimesHide[] =
    "is = \"code\"\njudge = \"times-hide\"\n"
    "of = { at = { \"environment.world\" = \"a\" }, metric = \"first_sync\" }\n"
    "than = { at = { \"environment.world\" = \"b\" }, metric = \"first_sync\" }\n";

// Randomized response with the epsilon that the verdict names breaks the claim of epsilon = 1 in all of 50
// runs. With an epsilon halfway down to the claim, it does not.
TEST(JudgePower, TimesThatHideNameTheEpsilonThatTheyWouldShow) {
  PhiloxSource bits({.seed = 12});
  CoinGen coin(bits);
  const PaperClaim claim = ClaimOf("", kTimesHide);
  const auto response = [](double epsilon) { return 1 / (1 + std::exp(-epsilon)); };
  const Verdict first = Judge(claim, Findings(TimesOf(response(1), 1000, coin)));
  ASSERT_TRUE(first.resolves.has_value());
  EXPECT_EQ(first.resolves->kind, Resolution::Kind::kEpsilon);
  const double epsilon = first.resolves->value;
  EXPECT_GT(epsilon, 1);
  EXPECT_LT(epsilon, 2);
  int broken = 0;
  int half_broken = 0;
  for (int run = 0; run < 50; ++run) {
    broken += Judge(claim, Findings(TimesOf(response(epsilon), 1000, coin))).holds ? 0 : 1;
    half_broken += Judge(claim, Findings(TimesOf(response((1 + epsilon) / 2), 1000, coin))).holds ? 0 : 1;
  }
  EXPECT_EQ(broken, 50);
  EXPECT_LT(half_broken, 50);
}

TEST(JudgePower, TooFewTimesShowNothing) {
  PhiloxSource bits({.seed = 13});
  CoinGen coin(bits);
  const Verdict verdict = Judge(ClaimOf("", kTimesHide), Findings(TimesOf(1, 10, coin)));
  EXPECT_TRUE(verdict.holds) << "ten runs break no claim, although the worlds are told apart in each of them";
  EXPECT_EQ(PowerInWords(verdict), "too few runs to see anything");
  EXPECT_TRUE(ToJson({verdict})[0]["resolves"]["epsilon"].dump() == "null");
}

TEST(JudgePower, LinksAreKnownToThreeStandardErrors) {
  Json point = PlantedPoint({{"horizon", 100}}, {{"links_peer", {9, 10, 11}}});
  point["network"] = {{"nodes", 4},
                      {"edges", {{1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 1, 1}, {1, 3, 1}, {2, 4, 1}}}};
  const Verdict verdict =
      Judge(ClaimOf("", "is = \"code\"\njudge = \"links-by-walk\"\nof = { metric = \"links_peer\" }\n"),
            Findings(PlantedRun({point})));
  ASSERT_TRUE(verdict.resolves.has_value()) << verdict.evidence;
  EXPECT_NEAR(verdict.resolves->value, kClear * std::sqrt(1.0 / 3) / 10, 1e-12);
}

// The value 2 has 4 times the regret of the value 1 at one point, and as much at the other. The replicates'
// own scores relative to it are 1/2 (1 +- shift).
TEST(JudgePower, TheBestValueIsKnownToTheSpreadOfItsScores) {
  std::vector<Json> points;
  for (const double value : {1.0, 2.0}) {
    for (const double epsilon : {1.0, 2.0}) {
      const double regret = value == 2 && epsilon == 2 ? 40 : 10;
      const double shift = value == 1 ? 0.21 : 0;
      points.push_back(PlantedPoint({{"algorithm.step", value}, {"privacy.epsilon", epsilon}},
                                    {{"regret", {regret / (1 + shift), regret, regret * (1 + shift)}}}));
    }
  }
  const Verdict verdict = Judge(ClaimOf("",
                                        "is = \"code\"\njudge = \"number-is-best\"\nfactor = 1.1\n"
                                        "for = { value = [1] }\nof = { along = \"algorithm.step\" }\n"),
                                Findings(PlantedRun(points)));
  EXPECT_TRUE(verdict.judged && verdict.holds) << verdict.evidence;
  ASSERT_TRUE(verdict.resolves.has_value());
  EXPECT_EQ(verdict.resolves->kind, Resolution::Kind::kDifference);
  EXPECT_NEAR(verdict.resolves->value, 0.21, 1e-9);
}

}  // namespace
}  // namespace bandana::lab
