#include "bandana/lab/judge/judge.h"

#include <cmath>
#include <map>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "tests/lab/claims_support.h"

// Every kind of claim has a planted run that it must accept and one that it must reject.
namespace bandana::lab {
namespace {

using test::ClaimOf;
using test::PlantedPoint;
using test::PlantedRun;
using testing::HasSubstr;

constexpr char kEpsilon[] = "privacy.epsilon";
constexpr char kModel[] = "privacy.model";

// Makes three replicates around a value.
Sample Around(double value, double spread = 0.01) {
  return {value * (1 - spread), value, value * (1 + spread)};
}

// Makes a line of regrets at epsilon = 1, 2 and 3 in one model.
std::vector<Json> LineIn(const std::string& model, const std::vector<Sample>& regrets) {
  std::vector<Json> points;
  for (std::size_t i = 0; i < regrets.size(); ++i) {
    points.push_back(
        PlantedPoint({{kModel, model}, {kEpsilon, static_cast<double>(i + 1)}}, {{"regret", regrets[i]}}));
  }
  return points;
}

Json TwoLines(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  std::vector<Json> points = LineIn("central", a);
  for (const Json& point : LineIn("local", b)) points.push_back(point);
  return PlantedRun(points);
}

// Makes regrets c T^exponent at T = 1e4, 1e5 and 1e6 in one model, above `floor` T^0.5.
Json Growing(double exponent, double spread = 0, double floor = 0) {
  std::vector<Json> points;
  for (const double horizon : {1e4, 1e5, 1e6}) {
    Sample regrets;
    for (const double shift : {-1.0, 0.0, 1.0}) {
      const double tilt = exponent + shift * spread * std::log(horizon / 1e5);
      regrets.push_back(floor * std::sqrt(horizon) + 3 * std::pow(horizon, tilt));
    }
    points.push_back(PlantedPoint({{kModel, "central"}, {"horizon", horizon}}, {{"regret", regrets}}));
    points.push_back(PlantedPoint({{kModel, "none"}, {"horizon", horizon}},
                                  {{"regret", Sample(3, floor * std::sqrt(horizon))}}));
  }
  return PlantedRun(points);
}

Json Delivered(double epsilon) {
  Json point = PlantedPoint({{kModel, "central"}}, {});
  point["privacy"] = {{"nominal", {{"epsilon", 1.0}, {"delta", 0.1}}},
                      {"delivered", {{{"epsilon", epsilon}, {"delta", 0.1}}}}};
  return PlantedRun({point});
}

// Makes the rounds of the first sync in two neighbouring worlds, in 3000 runs each.
Json SyncTimes(double a, double b) {
  std::vector<Json> points;
  for (const char* world : {"a", "b"}) {
    points.push_back(PlantedPoint({{"environment.world", world}},
                                  {{"first_sync", Sample(3000, std::string(world) == "a" ? a : b)}}));
    points.back()["privacy"] = {{"nominal", {{"epsilon", 1.0}, {"delta", 0.1}}}};
  }
  return PlantedRun(points);
}

struct Planted {
  std::string claim;
  Json accept;
  Json reject;
};

const std::map<std::string, Planted>& PlantedRuns() {
  const std::string along =
      "of = { at = { \"privacy.model\" = \"central\" }, along = \"privacy.epsilon\" }\n";
  const std::string than = "than = { at = { \"privacy.model\" = \"local\" }, along = \"privacy.epsilon\" }\n";
  const std::string over_horizon = "of = { at = { \"privacy.model\" = \"central\" }, along = \"horizon\" }\n";
  const std::vector<Sample> low = {Around(10), Around(20), Around(30)};
  const std::vector<Sample> high = {Around(11), Around(22), Around(33)};
  const std::vector<Sample> mixed = {Around(11), Around(22), Around(29.7)};
  const std::vector<Sample> unclear = {Around(10), Around(20), Around(33, 0.9)};
  const std::vector<Sample> noisy = {Around(11), Around(22), Around(33, 0.9)};
  static const auto& runs = *new std::map<std::string, Planted>{
      {"falls",
       {along, TwoLines({Around(3), Around(2), Around(1)}, {}),
        TwoLines({Around(3), Around(4), Around(1)}, {})}},
      {"rises",
       {along, TwoLines({Around(1), Around(2), Around(3)}, {}),
        TwoLines({Around(1), Around(1), Around(1)}, {})}},
      {"below", {along + than, TwoLines(low, high), TwoLines(low, mixed)}},
      {"above", {along + than, TwoLines(high, low), TwoLines(noisy, low)}},
      {"not-above", {along + than, TwoLines(unclear, low), TwoLines(high, low)}},
      {"not-below", {along + than, TwoLines(high, low), TwoLines(mixed, high)}},
      {"within",
       {along + than + "factor = 1.2\n", TwoLines(low, mixed),
        TwoLines(low, {Around(10), Around(20), Around(37)})}},
      {"at-least", {along + than + "factor = 1.05\n", TwoLines(high, low), TwoLines(mixed, low)}},
      {"at-most", {along + than + "factor = 0.95\n", TwoLines(low, high), TwoLines(low, mixed)}},
      {"grows", {over_horizon + "like = 0.5\ntolerance = 0.05\n", Growing(0.5), Growing(0.4)}},
      {"equals",
       {along + than, TwoLines(low, low), TwoLines(low, {Around(10), Around(20), Around(30.0001)})}},
      {"prints",
       {"of = { at = { \"privacy.model\" = \"central\", \"privacy.epsilon\" = 2 } }\nvalue = 21\nfactor = "
        "1.1\n",
        TwoLines(low, {}), TwoLines({Around(10), Around(24), Around(30)}, {})}},
      {"delivers", {"of = { at = { \"privacy.model\" = \"central\" } }\n", Delivered(1), Delivered(1.01)}},
      {"inequality",
       {"let = { a = { at = { \"privacy.model\" = \"central\", \"privacy.epsilon\" = 1 } }, b = { at = { "
        "\"privacy.model\" = \"local\", \"privacy.epsilon\" = 3 } } }\nthat = [\"a < b\", \"b / a <= 3\"]\n",
        TwoLines(low, mixed), TwoLines(low, high)}},
      {"code",
       {"judge = \"times-hide\"\nof = { at = { \"environment.world\" = \"a\" }, metric = \"first_sync\" }\n"
        "than = { at = { \"environment.world\" = \"b\" }, metric = \"first_sync\" }\n",
        SyncTimes(7, 7), SyncTimes(7, 8)}},
  };
  return runs;
}

TEST(Judge, EveryKindAcceptsWhatIsSoAndRejectsWhatIsNot) {
  for (const std::string& kind : ClaimKindNames()) {
    ASSERT_TRUE(PlantedRuns().contains(kind)) << kind;
    const Planted& planted = PlantedRuns().at(kind);
    const PaperClaim claim = ClaimOf("", "is = \"" + kind + "\"\n" + planted.claim);
    const Verdict accepted = Judge(claim, Findings(planted.accept));
    EXPECT_TRUE(accepted.judged && accepted.holds) << kind << ": " << accepted.evidence;
    const Verdict rejected = Judge(claim, Findings(planted.reject));
    EXPECT_TRUE(rejected.judged && !rejected.holds) << kind << ": " << rejected.evidence;
  }
}

TEST(Judge, NotTurnsAVerdictAround) {
  const std::string falls = "is = \"falls\"\nnot = true\n" + PlantedRuns().at("falls").claim;
  EXPECT_FALSE(Judge(ClaimOf("", falls), Findings(PlantedRuns().at("falls").accept)).holds);
  EXPECT_TRUE(Judge(ClaimOf("", falls), Findings(PlantedRuns().at("falls").reject)).holds);
}

// `like` is two-sided and wants the whole interval of the slope near the exponent. `at_most` accepts a
// smaller slope. Neither accepts a slope that is lost in the noise.
TEST(Judge, GrowsLikeIsNotGrowsAtMost) {
  const std::string of =
      "is = \"grows\"\nof = { at = { \"privacy.model\" = \"central\" }, along = \"horizon\" }\n";
  const PaperClaim like = ClaimOf("", of + "like = 0.5\ntolerance = 0.05\n");
  const PaperClaim at_most = ClaimOf("", of + "at_most = 0.5\ntolerance = 0.05\n");
  const auto holds = [](const PaperClaim& claim, const Json& run) {
    return Judge(claim, Findings(run)).holds;
  };
  EXPECT_TRUE(holds(like, Growing(0.5)) && holds(at_most, Growing(0.5)));
  EXPECT_FALSE(holds(like, Growing(0.3)));
  EXPECT_TRUE(holds(at_most, Growing(0.3)));
  EXPECT_FALSE(holds(like, Growing(0.7)));
  EXPECT_FALSE(holds(at_most, Growing(0.7)));
  EXPECT_FALSE(holds(like, Growing(0.5, 0.1))) << "the slope is too uncertain";
  EXPECT_FALSE(holds(at_most, Growing(0.5, 0.1))) << "the slope is too uncertain";
  EXPECT_FALSE(holds(at_most, Growing(0.5, 0.02))) << "the interval reaches above";
  EXPECT_TRUE(holds(at_most, Growing(0.1, 0.02))) << "the whole interval is below";
}

TEST(Judge, AnExcessGrowsByItself) {
  const std::string of =
      "is = \"grows\"\nof = { at = { \"privacy.model\" = \"central\" }, along = \"horizon\" }\n"
      "above = { at = { \"privacy.model\" = \"none\" }, along = \"horizon\" }\n";
  const Json run = Growing(0.2, 0, 100);  // 100 T^0.5 + 3 T^0.2
  EXPECT_TRUE(Judge(ClaimOf("", of + "at_most = 0.2\ntolerance = 0.01\n"), Findings(run)).holds);
  EXPECT_FALSE(Judge(ClaimOf("", of + "at_most = 0.1\ntolerance = 0.01\n"), Findings(run)).holds);
  EXPECT_TRUE(Judge(ClaimOf("", of + "like = 0.2\ntolerance = 0.01\n"), Findings(run)).holds);
  EXPECT_FALSE(Judge(ClaimOf("", of + "like = 0.5\ntolerance = 0.01\n"), Findings(run)).holds);
}

TEST(Judge, AnExcessThatIsLostInTheNoiseConfirmsNothing) {
  std::vector<Json> points;
  for (const double horizon : {1e4, 1e6}) {
    const double base = horizon / 1e3;
    points.push_back(PlantedPoint({{kModel, "none"}, {"horizon", horizon}}, {{"regret", Sample(3, base)}}));
    points.push_back(PlantedPoint({{kModel, "central"}, {"horizon", horizon}},
                                  {{"regret", {base - 1, base, base + 1.5}}}));
  }
  const PaperClaim claim =
      ClaimOf("",
              "is = \"grows\"\nof = { at = { \"privacy.model\" = \"central\" }, along = \"horizon\" }\n"
              "above = { at = { \"privacy.model\" = \"none\" }, along = \"horizon\" }\nat_most = "
              "0\ntolerance = 0.1\n");
  const Verdict verdict = Judge(claim, Findings(PlantedRun(points)));
  EXPECT_FALSE(verdict.holds);
  EXPECT_THAT(verdict.evidence, HasSubstr("; the run cannot tell"));
}

// From one replicate no claim about means can be confirmed, because nothing says how far the mean may be off.
TEST(Judge, OneReplicateShowsNoClearDifference) {
  const Json run = TwoLines({{3}, {2}, {1}}, {{30}, {20}, {10}});
  const std::string of = "of = { at = { \"privacy.model\" = \"central\" }, along = \"privacy.epsilon\" }\n";
  const std::string than = "than = { at = { \"privacy.model\" = \"local\" }, along = \"privacy.epsilon\" }\n";
  for (const std::string& claim :
       {"is = \"falls\"\n" + of, "is = \"below\"\n" + of + than,
        "is = \"grows\"\nlike = -1\ntolerance = 0.5\n" + of, "is = \"grows\"\nat_most = 0\n" + of}) {
    const Verdict verdict = Judge(ClaimOf("", claim), Findings(run));
    EXPECT_TRUE(verdict.judged && !verdict.holds) << claim << verdict.evidence;
    EXPECT_THAT(verdict.evidence, testing::Not(HasSubstr("nan")));
  }
}

// Makes the curve of a run whose median regret is 5 t^power. Its mean grows linearly.
Json Curved(double power) {
  Json t = Json::array();
  Json median = Json::array();
  for (const double round : {1.0, 10.0, 30.0, 100.0}) {
    t.push_back(round);
    median.push_back(5 * std::pow(round, power));
  }
  Json point = PlantedPoint({{"horizon", 100}}, {{"regret", {1, 2, 3}}});
  point["curve"] = {{"t", t}, {"regret", {{"mean", t}, {"median", median}}}};
  return PlantedRun({point});
}

TEST(Judge, OverTimeGrowthIsFromTheFirstPlaceToTheLast) {
  const std::string of =
      "is = \"grows\"\nby = \"median\"\nof = { along = \"t\", from = \"{horizon} / 10\" }\n";
  const Json run = Curved(0.7);
  EXPECT_TRUE(Judge(ClaimOf("", of + "at_most = 0.71\n"), Findings(run)).holds);
  EXPECT_FALSE(Judge(ClaimOf("", of + "at_most = 0.69\n"), Findings(run)).holds);
  EXPECT_TRUE(Judge(ClaimOf("", of + "like = 0.7\ntolerance = 0.01\n"), Findings(run)).holds);
  EXPECT_FALSE(Judge(ClaimOf("", of + "like = 0.8\ntolerance = 0.01\n"), Findings(run)).holds);
}

TEST(Judge, InequalitiesLookAtCurves) {
  const std::string let = "is = \"inequality\"\nlet = { a = { along = \"t\", metric = \"regret / t\" } }\n";
  EXPECT_TRUE(Judge(ClaimOf("", let + "by = \"median\"\nthat = \"at(a, 0.1) > at(a, 0.3) > at(a, 1)\"\n"),
                    Findings(Curved(0.7)))
                  .holds);
  EXPECT_FALSE(
      Judge(ClaimOf("", let + "that = \"at(a, 0.1) > at(a, 0.3) > at(a, 1)\"\n"), Findings(Curved(0.7)))
          .holds)
      << "the mean is linear";
}

TEST(Judge, MediansAndReplicatesCount) {
  const std::string of =
      "is = \"below\"\nof = { at = { \"privacy.model\" = \"central\" } }\n"
      "than = { at = { \"privacy.model\" = \"local\" } }\n";
  const auto run = [](const Sample& a) {
    return PlantedRun({PlantedPoint({{kModel, "central"}}, {{"regret", a}}),
                       PlantedPoint({{kModel, "local"}}, {{"regret", Sample(5, 10)}})});
  };
  const PaperClaim most = ClaimOf("", of + "by = \"median\"\nshare = 0.8\n");
  EXPECT_TRUE(Judge(most, Findings(run({1, 1, 1, 1, 1000}))).holds);
  EXPECT_FALSE(Judge(most, Findings(run({1, 1, 1, 1000, 1000}))).holds);
  EXPECT_FALSE(Judge(most, Findings(run({11, 11, 11, 1, 1}))).holds);
  EXPECT_THAT(Judge(most, Findings(run({1, 1, 1, 1, 1000}))).evidence, HasSubstr("below in 4 of 5"));
  const PaperClaim all = ClaimOf("", of + "by = \"replicate\"\n");
  EXPECT_TRUE(Judge(all, Findings(run({1, 2, 3, 4, 9}))).holds);
  EXPECT_FALSE(Judge(all, Findings(run({1, 2, 3, 4, 10}))).holds);
}

TEST(Judge, PlacesCanBeChosen) {
  const Json run = TwoLines({Around(30), Around(20), Around(10)}, {Around(10), Around(10), Around(10)});
  const std::string within =
      "is = \"within\"\nfactor = 1.05\nof = { at = { \"privacy.model\" = \"central\" }, along = "
      "\"privacy.epsilon\"";
  const std::string than =
      " }\nthan = { at = { \"privacy.model\" = \"local\" }, along = \"privacy.epsilon\" }\n";
  EXPECT_FALSE(Judge(ClaimOf("", within + than), Findings(run)).holds);
  EXPECT_THAT(Judge(ClaimOf("", within + than), Findings(run)).evidence,
              HasSubstr("not within a factor of 1.05 at 1, 2"));
  EXPECT_TRUE(Judge(ClaimOf("", within + than + "place = \"last\"\n"), Findings(run)).holds);
  EXPECT_TRUE(Judge(ClaimOf("", within + than + "place = \"some\"\n"), Findings(run)).holds);
  EXPECT_FALSE(Judge(ClaimOf("", within + than + "place = \"first\"\n"), Findings(run)).holds);
  EXPECT_TRUE(Judge(ClaimOf("", within + ", from = 3" + than), Findings(run)).holds);
  EXPECT_FALSE(Judge(ClaimOf("", within + ", from = 7" + than), Findings(run)).holds) << "no place is left";
}

TEST(Judge, EachWantsAllCases) {
  const auto run = [](double last) {
    return TwoLines({Around(3), Around(2), Around(1)}, {Around(3), Around(2), Around(last)});
  };
  const std::string claim =
      "is = \"falls\"\neach = { \"privacy.model\" = [\"central\", \"local\"] }\n"
      "of = { along = \"privacy.epsilon\", name = \"{privacy.model}\" }\n";
  EXPECT_TRUE(Judge(ClaimOf("", claim), Findings(run(1))).holds);
  const Verdict verdict = Judge(ClaimOf("", claim), Findings(run(4)));
  EXPECT_FALSE(verdict.holds);
  EXPECT_THAT(verdict.evidence, HasSubstr("clearly up at 3 (not so)"));
}

TEST(Judge, EachTakesTheValuesOfTheRun) {
  const PaperClaim claim =
      ClaimOf("",
              "is = \"below\"\neach = \"privacy.epsilon\"\n"
              "of = { at = { \"privacy.model\" = \"central\" }, name = \"at {privacy.epsilon}\" }\n"
              "than = 25\n");
  EXPECT_TRUE(Judge(claim, Findings(TwoLines({Around(10), Around(20), Around(24)}, {}))).holds);
  const Verdict verdict = Judge(claim, Findings(TwoLines({Around(10), Around(20), Around(30)}, {})));
  EXPECT_FALSE(verdict.holds);
  EXPECT_THAT(verdict.evidence, HasSubstr("at 1 10 +- 0.0577, against 25; at 2"));
}

// A point without a key does not depend on it, so it stands for every value that `for` and `each` give.
TEST(Judge, APointWithoutAKeyStandsForAllItsValues) {
  std::vector<Json> points = LineIn("central", {Around(10), Around(20)});
  points.push_back(PlantedPoint({{kModel, "none"}}, {{"regret", Around(5)}}));
  const PaperClaim claim = ClaimOf("",
                                   "is = \"above\"\neach = { \"privacy.epsilon\" = [1, 2] }\n"
                                   "of = { at = { \"privacy.model\" = \"central\" } }\n"
                                   "than = { at = { \"privacy.model\" = \"none\" } }\n");
  EXPECT_TRUE(Judge(claim, Findings(PlantedRun(points))).holds);
}

TEST(Judge, TheLargestIsThatOfTheRun) {
  const Json run = TwoLines({Around(10), Around(20), Around(30)}, {});
  const auto at = [&](const std::string& extreme, double value) {
    return Judge(ClaimOf("", "is = \"equals\"\nof = { at = { \"privacy.epsilon\" = \"" + extreme +
                                 "\" }, metric = \"{privacy.epsilon}\" }\nthan = " + std::to_string(value) +
                                 "\n"),
                 Findings(run))
        .holds;
  };
  EXPECT_TRUE(at("largest", 3));
  EXPECT_TRUE(at("smallest", 1));
  EXPECT_FALSE(at("largest", 2));
}

TEST(Judge, FormulasOfSeriesAreByReplicate) {
  const Json run = TwoLines({{30, 60}, {20, 40}, {10, 20}}, {{10, 20}, {10, 20}, {10, 20}});
  const std::string let =
      "[claim.let]\na = { at = { \"privacy.model\" = \"central\" }, along = \"privacy.epsilon\" }\n"
      "b = { at = { \"privacy.model\" = \"local\" }, along = \"privacy.epsilon\" }\n";
  EXPECT_THAT(Judge(ClaimOf("", "is = \"falls\"\nof = \"a / b\"\n" + let), Findings(run)).evidence,
              HasSubstr("a / b: 3 +- 0 at 1, 2 +- 0 at 2, 1 +- 0 at 3"));
}

TEST(Judge, PointsAtOnePlaceAreAnErrorOrAreAveraged) {
  const Json run =
      PlantedRun({PlantedPoint({{kEpsilon, 1}, {"algorithm.gamma", 2}}, {{"regret", {10, 20}}}),
                  PlantedPoint({{kEpsilon, 2}, {"algorithm.gamma", 1}}, {{"regret", {30, 40}}}),
                  PlantedPoint({{kEpsilon, 3}, {"algorithm.gamma", 3}}, {{"regret", {90, 95}}})});
  const std::string of = "is = \"rises\"\nof = { along = \"{privacy.epsilon} * {algorithm.gamma}\"";
  EXPECT_FALSE(Judge(ClaimOf("", of + " }\n"), Findings(run)).judged);
  EXPECT_THAT(Judge(ClaimOf("", of + ", same = \"mean\" }\n"), Findings(run)).evidence,
              HasSubstr("25 +- 5 at 2, 92.5 +- 2.5 at 9"));
}

TEST(Judge, SaysWhatTheRunLacks) {
  const Json run = TwoLines({Around(10), Around(20), Around(30)}, {});
  const auto evidence = [&](const std::string& claim) {
    const Verdict verdict = Judge(ClaimOf("", claim), Findings(run));
    EXPECT_FALSE(verdict.judged || verdict.holds || verdict.as_expected()) << claim;
    return verdict.evidence;
  };
  EXPECT_THAT(evidence("is = \"equals\"\nof = { at = { \"privacy.model\" = \"none\" } }\nthan = 1\n"),
              HasSubstr("cannot be judged: the run has 0 points with privacy.model = \"none\""));
  EXPECT_THAT(evidence("is = \"equals\"\nof = { at = { \"privacy.model\" = \"central\" } }\nthan = 1\n"),
              HasSubstr("3 points"));
  EXPECT_THAT(evidence("is = \"falls\"\nof = { along = \"horizon\" }\n"), HasSubstr("0 values of horizon"));
  EXPECT_THAT(evidence("is = \"falls\"\nof = { along = \"privacy.epsilon\", metric = \"syncs\" }\n"),
              HasSubstr("no metric syncs"));
  EXPECT_THAT(evidence("is = \"falls\"\neach = \"horizon\"\nof = { along = \"privacy.epsilon\" }\n"),
              HasSubstr("no point with a number for horizon"));
}

TEST(Judge, VerdictsAreAsExpectedOrNot) {
  const Json run = TwoLines({Around(3), Around(2), Around(1)}, {});
  const std::string falls = "of = { along = \"privacy.epsilon\" }\n";
  EXPECT_TRUE(Judge(ClaimOf("", "is = \"falls\"\n" + falls), Findings(run)).as_expected());
  EXPECT_FALSE(Judge(ClaimOf("", "is = \"rises\"\n" + falls), Findings(run)).as_expected());
  const std::string not_expected = "expected = false\nreason = \"of the moon\"\n";
  EXPECT_FALSE(Judge(ClaimOf("", "is = \"falls\"\n" + not_expected + falls), Findings(run)).as_expected());
  const Verdict known = Judge(ClaimOf("", "is = \"rises\"\n" + not_expected + falls), Findings(run));
  EXPECT_TRUE(known.as_expected());
  EXPECT_THAT(known.evidence, testing::EndsWith(". Not expected to hold: of the moon"));
}

TEST(Judge, AClaimLeftToThePapersScaleIsNeitherJudgedNorASurprise) {
  const PaperClaim claim =
      ClaimOf("", "scale = \"paper\"\nis = \"falls\"\nof = { along = \"privacy.epsilon\" }\n");
  EXPECT_TRUE(claim.at_paper_scale);
  const Verdict verdict = LeftToPaperScale(claim);
  EXPECT_TRUE(verdict.as_expected());
  EXPECT_FALSE(verdict.judged || verdict.holds);
  EXPECT_EQ(InWords(verdict), "paper scale");
  EXPECT_FALSE(Judge(claim, Findings(TwoLines({Around(1), Around(2), Around(3)}, {}))).as_expected());
}

TEST(Judge, VerdictsHaveTheShapeOfVerdictJson) {
  const Json json = ToJson(std::vector<Verdict>{{"it falls", "p1 Fig. 9", true, true, "1 +- 0"}});
  EXPECT_EQ(
      json.dump(),
      R"([{"claim":"it falls","paper":"p1 Fig. 9","version":null,"expected":true,"reason":null,"judged":true,)"
      R"("left":false,"holds":true,"evidence":"1 +- 0","horizons":[],"replicates":0,"resolves":null,"printed":null,"measured":null,"delivers":[]}])");
}

TEST(Judge, APrintedNumberStandsBesideOurs) {
  const std::string prints =
      "is = \"prints\"\nof = { at = { \"privacy.epsilon\" = 2 }, name = \"ours\" }\nfactor = 1.1\n";
  const Json run = TwoLines({Around(10), Around(20), Around(30)}, {});
  const Verdict near = Judge(ClaimOf("", prints + "value = 21\n"), Findings(run));
  EXPECT_TRUE(near.holds);
  EXPECT_EQ(near.printed, 21);
  EXPECT_EQ(near.measured, 20);
  EXPECT_THAT(near.evidence, HasSubstr("the paper prints 21, ours has 20 +- 0.115 (-4.8 %)"));
  EXPECT_FALSE(Judge(ClaimOf("", prints + "value = 18\n"), Findings(run)).holds)
      << "the factor has two sides";
}

TEST(Judge, APrintedNumberIsComparedAsItIsRounded) {
  const auto holds = [](double ours, double value) {
    const std::string prints =
        "is = \"prints\"\nof = { at = { \"privacy.epsilon\" = 2 } }\ndigit = 100\nvalue = " +
        std::to_string(value) + "\n";
    return Judge(ClaimOf("", prints), Findings(TwoLines({Around(1), Around(ours), Around(1)}, {}))).holds;
  };
  EXPECT_TRUE(holds(437, 400));
  EXPECT_FALSE(holds(451, 400));
  EXPECT_FALSE(holds(349, 400));
}

TEST(Judge, SaysWhichDifferenceItWouldHaveSeen) {
  const std::string below =
      "is = \"below\"\nof = { at = { \"privacy.model\" = \"central\" }, along = \"privacy.epsilon\" }\n"
      "than = { at = { \"privacy.model\" = \"local\" }, along = \"privacy.epsilon\" }\n";
  const std::vector<Sample> flat = {Sample(3, 10), Sample(3, 20), Sample(3, 30)};
  const Verdict verdict =
      Judge(ClaimOf("", below), Findings(TwoLines({{9, 10, 11}, {19, 20, 21}, {29, 30, 31}}, flat)));
  ASSERT_TRUE(verdict.resolves.has_value());
  EXPECT_FALSE(verdict.resolves->kind == Resolution::Kind::kExponent);
  EXPECT_NEAR(verdict.resolves->value, 3 / std::sqrt(3.0) / 10, 1e-12) << "the widest place counts";
  const std::string grows =
      "is = \"grows\"\nof = { at = { \"privacy.model\" = \"central\" }, along = \"horizon\" }\n"
      "at_most = 0.5\n";
  EXPECT_TRUE(Judge(ClaimOf("", grows), Findings(Growing(0.5, 0.1))).resolves->kind ==
              Resolution::Kind::kExponent);
}

TEST(Judge, SaysWhichRatioItWouldHaveSeen) {
  const std::string half =
      "factor = 0.5\nof = { at = { \"privacy.model\" = \"central\" }, along = \"privacy.epsilon\" }\n"
      "than = { at = { \"privacy.model\" = \"local\" }, along = \"privacy.epsilon\" }\n";
  const Json run =
      TwoLines({{1, 2, 4}, {2, 2, 2}, {2, 2, 2}}, {Sample(3, 100), Sample(3, 20), Sample(3, 20)});
  const Verdict of_means = Judge(ClaimOf("", "is = \"at-most\"\n" + half), Findings(run));
  ASSERT_TRUE(of_means.resolves.has_value());
  EXPECT_NEAR(of_means.resolves->value, 3 * std::sqrt(7.0 / 9) / (7.0 / 3), 1e-9)
      << "three standard errors of the ratio, as a share of it, however far the ratio is from 1";
  const Verdict of_medians = Judge(ClaimOf("", "is = \"at-most\"\nby = \"median\"\n" + half), Findings(run));
  ASSERT_TRUE(of_medians.resolves.has_value());
  EXPECT_NEAR(of_medians.resolves->value, 1, 1e-12)
      << "a replicate has half of the median, another one twice";
}

TEST(Judge, AnInequalitySaysHowCloselyItsNumbersAreKnown) {
  const std::string small =
      "is = \"inequality\"\nlet = { a = { at = { \"privacy.model\" = \"central\", \"privacy.epsilon\" = 1 } "
      "} }\n"
      "that = \"a < 10\"\n";
  const Json run = TwoLines({{9, 10, 11}, {19, 20, 21}, {29, 30, 31}}, {});
  const Verdict verdict = Judge(ClaimOf("", small), Findings(run));
  ASSERT_TRUE(verdict.resolves.has_value());
  EXPECT_NEAR(verdict.resolves->value, 3 / std::sqrt(3.0) / 10, 1e-12);
}

TEST(Judge, SaysFromHowManyRunsAVerdictComes) {
  const Json run = TwoLines({Around(3), Around(2), Around(1)}, {});
  const Verdict verdict =
      Judge(ClaimOf("", "is = \"falls\"\nof = { along = \"privacy.epsilon\" }\n"), Findings(run));
  EXPECT_EQ(verdict.replicates, Around(3).size());
  EXPECT_EQ(RunsInWords(verdict), fmt::format("{} runs", Around(3).size()));
  Verdict other = verdict;
  other.horizons = {1000, 20'000};
  other.replicates = 1;
  EXPECT_EQ(RunsInWords(other), "T = 1000 and 20000, 1 run");
  EXPECT_EQ(RunsInWords(Verdict{}), "") << "a claim that was not judged";
}

// A claim about a run whose noise does not give what was asked for says so, whatever the claim is about.
TEST(Judge, SaysWhichGuaranteeIsDelivered) {
  const auto run = [](const Json& privacy) {
    Json point = PlantedPoint({{kModel, "central"}}, {{"regret", {1, 2, 3}}});
    point["privacy"] = privacy;
    return PlantedRun({point});
  };
  const Json asked = {{"epsilon", 1.0}, {"delta", 0.1}};
  const auto with = [&](double epsilon) {
    const Json delivered = {{"epsilon", epsilon}, {"delta", 0.1}};
    return Json{{"nominal", asked}, {"delivered", {delivered}}, {"weakest", delivered}, {"void", nullptr}};
  };
  const PaperClaim claim = ClaimOf("", "is = \"at-most\"\nof = {}\nthan = 5\n");
  const auto said = [&](const Json& privacy) { return Judge(claim, Findings(run(privacy))); };
  EXPECT_THAT(said(with(12)).evidence, HasSubstr("The run delivers epsilon = 12 where 1 is asked"));
  EXPECT_EQ(said(with(12)).delivers.size(), 1u);
  EXPECT_THAT(said(with(0.001)).evidence, HasSubstr("epsilon = 0.001 where 1 is asked"));
  EXPECT_TRUE(said(with(0.97)).delivers.empty()) << "this is the slack of a calibration";
  EXPECT_THAT(said({{"nominal", asked}, {"delivered", Json::array()}}).evidence,
              HasSubstr("no guarantee where 1 is asked"));
  Json broken = with(1);
  broken["void"] = "a trigger reads raw data";
  EXPECT_THAT(said(broken).evidence, HasSubstr("no guarantee where 1 is asked"));
  EXPECT_TRUE(said({{"nominal", nullptr}, {"delivered", Json::array()}}).delivers.empty());
}

TEST(Judge, ABoundHasItsConstantsAndARateIsFitted) {
  const auto line = [](const std::string& rest) {
    const absl::StatusOr<ExhibitClaims> read = ReadClaims(
        "[[bound]]\nsays = \"it\"\npaper = \"p1 Theorem 9\"\nof = { at = { \"privacy.model\" = \"central\" "
        "}, along = "
        "\"horizon\" }\nvalue = \"5 * sqrt({horizon})\"\n" +
            rest,
        "own.toml");
    EXPECT_TRUE(read.ok()) << read.status();
    return *Draw(read->bounds.front(), Findings(Growing(0.5)));
  };
  const BoundLine bound = line("");
  ASSERT_EQ(bound.x.size(), 3u);
  EXPECT_DOUBLE_EQ(bound.bound[0], 500);
  EXPECT_NEAR(bound.measured[0].value, 300, 1e-9);
  const BoundLine rate = line("rate = true\n");
  EXPECT_NEAR(rate.bound[0], 300, 1e-9);
  EXPECT_NEAR(rate.bound[2], rate.measured[2].value, 1e-9);
}

}  // namespace
}  // namespace bandana::lab
