#include "bandana/lab/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bandana/config.h"

namespace bandana::lab {
namespace {

namespace fs = std::filesystem;

constexpr char kSpec[] = R"(name = "moments"
horizon = 100
replicates = 4
checkpoints = [10, 100]
environment = { dimension = 2, actions = 5 }
algorithm.name = "dp-dpe"
privacy = { model = "central", epsilon = 0.5, delta = 1e-6 }
[sweep]
"privacy.model" = ["none", "central", "local"]
)";

std::vector<std::string> Keys(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

class SummaryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/bandana-summary-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    spec_ = ParseSpec(kSpec, "x.toml", {}).value();
    absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder_ + "/out", spec_);
    ASSERT_TRUE(results.ok());
    for (int point = 0; point < 3; ++point) {
      for (const double regret : {7.0, 1.0, 4.0, 2.0}) {  // the regret at the end; half of it at the
                                                          // checkpoint before
        ASSERT_TRUE(results
                        ->Append({{.t = 10, .regret = (regret + point) / 2},
                                  {.t = 100, .regret = regret + point, .clients = 5}})
                        .ok());
      }
    }
    const absl::StatusOr<Json> summary = Summarize(spec_, *results, {.wall_s = 1.5, .cpu_s = 2.5});
    ASSERT_TRUE(summary.ok()) << summary.status();
    summary_ = *summary;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_;
  Spec spec_;
  Json summary_;
};

TEST_F(SummaryTest, HasTheShapeOfTheInterfaces) {
  EXPECT_EQ(summary_["name"], "moments");
  EXPECT_EQ(summary_["version"], Version());
  EXPECT_EQ(summary_["spec_sha256"], spec_.sha256);
  EXPECT_EQ(summary_["wall_s"], 1.5);
  EXPECT_EQ(summary_["cpu_s"], 2.5);
  ASSERT_EQ(summary_["points"].size(), 3u);
  for (const Json& point : summary_["points"]) {
    for (const char* key : {"point", "algorithm", "replicates", "metrics", "curve", "privacy"}) {
      EXPECT_TRUE(point.contains(key)) << key;
    }
    EXPECT_EQ(point["algorithm"], "dp-dpe");
    EXPECT_EQ(point["replicates"], 4);
    EXPECT_EQ(Keys(point["metrics"]), CommonMetricNames());
    for (const Json& metric : point["metrics"]) {
      EXPECT_EQ(Keys(metric), (std::vector<std::string>{"mean", "sd", "se", "n", "values"}));
      EXPECT_EQ(metric["values"].size(), 4u);
    }
    EXPECT_EQ(Keys(point["curve"]), (std::vector<std::string>{"t", "regret"}));
    EXPECT_EQ(Keys(point["curve"]["regret"]),
              (std::vector<std::string>{"mean", "sd", "median", "q10", "q90"}));
    EXPECT_EQ(Keys(point["privacy"]),
              (std::vector<std::string>{"nominal", "delivered", "asked", "weakest", "void"}));
  }
  EXPECT_EQ(summary_["points"][1]["point"], Json({{"privacy.model", "central"}}));
}

TEST_F(SummaryTest, MomentsAtTheEnd) {
  const Json& regret = summary_["points"][0]["metrics"]["regret"];
  EXPECT_EQ(regret["values"], Json({7.0, 1.0, 4.0, 2.0}));
  EXPECT_EQ(regret["n"], 4);
  EXPECT_DOUBLE_EQ(regret["mean"].get<double>(), 3.5);
  EXPECT_DOUBLE_EQ(regret["sd"].get<double>(), std::sqrt(7.0));  // the squares 12.25 + 6.25 + 0.25 + 2.25,
                                                                 // divided by 3
  EXPECT_DOUBLE_EQ(regret["se"].get<double>(), std::sqrt(7.0) / 2);
  const Json& clients = summary_["points"][0]["metrics"]["clients"];
  EXPECT_EQ(clients["mean"], 5.0);
  EXPECT_EQ(clients["sd"], 0.0);
}

TEST_F(SummaryTest, TheCurveHasMomentsAndQuantilesAtEachCheckpoint) {
  const Json& curve = summary_["points"][0]["curve"];
  EXPECT_EQ(curve["t"], Json({10, 100}));
  const Json& regret = curve["regret"];
  EXPECT_DOUBLE_EQ(regret["mean"][0].get<double>(), 1.75);
  EXPECT_DOUBLE_EQ(regret["mean"][1].get<double>(), 3.5);
  EXPECT_DOUBLE_EQ(regret["sd"][1].get<double>(), std::sqrt(7.0));
  EXPECT_DOUBLE_EQ(regret["median"][1].get<double>(), 3.0);  // between 2 and 4
  EXPECT_DOUBLE_EQ(regret["q10"][1].get<double>(), 1.3);     // 0.3 of the way from 1 to 2
  EXPECT_DOUBLE_EQ(regret["q90"][1].get<double>(), 6.1);     // 0.7 of the way from 4 to 7
}

TEST_F(SummaryTest, PrivacyIsStated) {
  const Json& none = summary_["points"][0]["privacy"];
  EXPECT_TRUE(none["nominal"].is_null());
  EXPECT_EQ(none["delivered"], Json::array());
  EXPECT_TRUE(none["void"].is_null());
  for (const int i : {1, 2}) {
    const Json& stated = summary_["points"][i]["privacy"];
    EXPECT_EQ(stated["nominal"], Json({{"epsilon", 0.5}, {"delta", 1e-6}}));
    ASSERT_FALSE(stated["delivered"].empty());
    ASSERT_EQ(stated["asked"].size(), stated["delivered"].size());
    EXPECT_EQ(stated["asked"][0], stated["nominal"]) << "no agent has a budget of its own";
    for (const Json& claim : stated["delivered"]) {
      EXPECT_EQ(Keys(claim), (std::vector<std::string>{"adversary", "epsilon", "delta", "unit", "neighbours",
                                                       "proof", "only_if", "asked", "text"}));
      EXPECT_LE(claim["epsilon"], 0.5 * (1 + 1e-9));
      EXPECT_LE(claim["delta"], 1e-6 * (1 + 1e-9));
      for (const char* words : {"adversary", "unit", "neighbours"})
        EXPECT_FALSE(claim[words].get<std::string>().empty());
      EXPECT_TRUE(claim["proof"].get<std::string>().starts_with("docs/proofs/"));
    }
  }
  EXPECT_NE(summary_["points"][1]["privacy"]["delivered"][0]["adversary"],
            summary_["points"][2]["privacy"]["delivered"][0]["adversary"]);
}

TEST_F(SummaryTest, AVoidPromiseSaysWhy) {
  const Json stated =
      PrivacyStatement(MakeInstance(spec_.points[1].settings, 0).value(), "the seed is known");
  EXPECT_EQ(stated["void"], "the seed is known");
}

TEST(SummaryOfOneTest, TheSpreadOfOneReplicateIsUnknown) {
  std::string folder = testing::TempDir() + "/bandana-summary-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Spec spec = ParseSpec(kSpec, "x.toml", {"replicates=1", "privacy.model=none"}).value();
  absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder + "/out", spec);
  ASSERT_TRUE(results->Append({{.t = 10, .regret = 1}, {.t = 100, .regret = 2}}).ok());
  const Json summary = Summarize(spec, *results, {}).value();
  const Json& regret = summary["points"][0]["metrics"]["regret"];
  EXPECT_EQ(regret["mean"], 2.0);
  EXPECT_TRUE(std::isnan(regret["sd"].get<double>()));
  EXPECT_TRUE(std::isnan(regret["se"].get<double>()));
  EXPECT_THAT(Dump(regret), testing::HasSubstr(R"("se": null)"));
  EXPECT_EQ(summary["points"][0]["curve"]["regret"]["q90"], Json({1.0, 2.0}));
  fs::remove_all(folder);
}

TEST(SummaryOfPeersTest, HasTheirGraph) {
  std::string folder = testing::TempDir() + "/bandana-summary-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Spec spec = ParseSpec(R"(
horizon = 100
checkpoints = 1
environment = { kind = "contextual-linear", contexts = "gap", dimension = 2, actions = 4, reward = "bernoulli" }
algorithm = { name = "fed-ucb-p2p", gamma = 2 }
federation = { agents = 7, topology = "line" }
privacy.model = "none"
[[variant]]
label = "with a controller"
algorithm.name = "fed-ucb"
)",
                              "x.toml", {})
                        .value();
  absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder + "/out", spec);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(results->Append({{.t = 100, .regret = 1}}).ok());
  const Json summary = Summarize(spec, *results, {}).value();
  EXPECT_EQ(summary["points"][0]["graph"],
            Json({{"nodes", 7}, {"edges", 6}, {"diameter", 6}, {"cliques", 3}}));
  EXPECT_FALSE(summary["points"][1].contains("graph"));
  fs::remove_all(folder);
}

TEST(ToJsonTest, ValuesKeepTheirType) {
  EXPECT_EQ(ToJson(Value(true)), Json(true));
  EXPECT_TRUE(ToJson(Value(std::int64_t{5})).is_number_integer());
  EXPECT_TRUE(ToJson(Value(5.0)).is_number_float());
  EXPECT_EQ(ToJson(Value(std::string("a"))), Json("a"));
  EXPECT_EQ(ToJson(Value(std::vector<std::int64_t>{1, 2})), Json({1, 2}));
}

}  // namespace
}  // namespace bandana::lab
