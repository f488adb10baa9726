#include "bandana/lab/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tests/lab/spec_support.h"

namespace bandana::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
std::vector<std::string> Labels(const Spec& spec) {
  std::vector<std::string> labels;
  for (const Point& point : spec.points) labels.push_back(point.label);
  return labels;
}

void ExpectSame(const Spec& a, const Spec& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.swept, b.swept);
  EXPECT_EQ(a.toml, b.toml);
  EXPECT_EQ(a.sha256, b.sha256);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_EQ(a.points[i].label, b.points[i].label);
    EXPECT_EQ(a.points[i].settings, b.points[i].settings) << "point " << i;
    EXPECT_EQ(a.points[i].varied, b.points[i].varied) << "point " << i;
  }
}

// The example of interfaces.md, with the models and algorithms that exist.
constexpr char kInterfaces[] = R"(name    = "local against central"
horizon = 1_000_000
seed    = 7
replicates = 20
[environment]
kind = "linear"            # linear | contextual-linear | glm | mab | replay
dimension = 20
actions = 1000
client_sd = 0.1
reward = "gaussian"        # gaussian | rademacher | bernoulli | uniform
population = 100_000
[algorithm]
name = "dp-dpe"
alpha = 0.8
width = "exact"            # exact | paper
[privacy]
model = "local"
epsilon = 1.0
delta = 1e-6
calibration = "tight"      # tight | paper
[[variant]]
label = "wide"
algorithm = { width = "paper" }
privacy = { model = "none" }
[sweep]
"privacy.model" = ["none", "central", "local"]
"privacy.epsilon" = [0.5, 1, 2, 5, 10]
)";

TEST(SpecTest, TheSpecOfTheInterfacesParses) {
  const Spec spec = Must(kInterfaces);
  EXPECT_EQ(spec.name, "local against central");
  EXPECT_EQ(spec.replicates(), 20);
  EXPECT_THAT(spec.swept, ElementsAre("privacy.model", "privacy.epsilon"));
  EXPECT_THAT(Labels(spec),
              ElementsAre("none", "central epsilon=0.5", "central epsilon=1", "central epsilon=2",
                          "central epsilon=5", "central epsilon=10", "local epsilon=0.5", "local epsilon=1",
                          "local epsilon=2", "local epsilon=5", "local epsilon=10", "wide"));
  const Settings& first = spec.points.front().settings;
  EXPECT_EQ(first.Integer("horizon"), 1'000'000);
  EXPECT_EQ(first.Number("environment.client_sd"), 0.1);
  EXPECT_EQ(first.Text("algorithm.clients"), "growing");
  EXPECT_FALSE(first.Has("privacy.epsilon")) << "ignored under none";
  EXPECT_EQ(spec.points[1].settings.Number("privacy.epsilon"), 0.5);
  EXPECT_EQ(spec.points.back().settings.Text("algorithm.width"), "paper");
}

TEST(SpecTest, ResolvedTomlIsAFixpoint) {
  for (const char* text : {kInterfaces, kBase}) {
    const Spec spec = Must(text);
    EXPECT_EQ(spec.sha256, Sha256(spec.toml));
    ExpectSame(spec, Must(spec.toml));
  }
}

TEST(SpecTest, ResolvedTomlWritesEveryDefaultOut) {
  const std::string toml = Must(kBase).toml;
  for (const char* line :
       {"seed = 1", "replicates = 1", "checkpoints = \"log\"", "kind = \"linear\"", "contexts = \"sphere\"",
        "population = \"auto\"", "alpha = 0.8", "beta = \"auto\"", "width = \"exact\"", "epsilon = 1.0",
        "delta = 1e-06", "calibration = \"tight\"", "sampler = \"fast\""}) {
    EXPECT_THAT(toml, HasSubstr(std::string("\n") + line + "\n"));
  }
  EXPECT_THAT(toml, HasSubstr("name = \"x\"\nhorizon = 1000\n"));
}

TEST(SpecTest, TheShaTellsSpecsApartAndNotTheirSpelling) {
  const std::string spelled = R"(privacy.model = "central"
privacy.epsilon = 1
privacy.delta = 0.000001
algorithm = { name = "dp-dpe" }
environment = { dimension = 2, actions = 5 } # a comment
horizon = 1_000
)";
  EXPECT_EQ(Must(kBase).sha256, Must(spelled).sha256);
  EXPECT_NE(Must(kBase).sha256, Must(kBase, {"seed=2"}).sha256);
}

// Generates a random spec: sweeps over some keys, variants over others.
std::string GenerateSpec() {
  const auto number = rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int n) { return n / 1000.0; });
  std::vector<std::string> models;
  for (const char* model : {"none", "central", "local"}) {
    if (*rc::gen::arbitrary<bool>()) models.push_back(model);
  }
  const auto few = [&] {
    return *rc::gen::container<std::vector<double>>(*rc::gen::inRange<std::size_t>(0, 5), number);
  };
  const std::vector<double> epsilons = few();
  const std::vector<double> alphas = few();
  const auto name = *rc::gen::container<std::string>(rc::gen::inRange<char>(32, 127));
  std::string text = fmt::format("name = {}\nhorizon = {}\nseed = {}\nreplicates = {}\n", ToToml(Value(name)),
                                 *rc::gen::inRange(1, 1'000'000'000), *rc::gen::inRange(0, 1'000'000'000),
                                 *rc::gen::inRange(1, 50));
  if (*rc::gen::arbitrary<bool>()) text += fmt::format("checkpoints = {}\n", *rc::gen::inRange(1, 50));
  text += fmt::format("[environment]\ndimension = {}\nactions = {}\n", *rc::gen::inRange(1, 100),
                      *rc::gen::inRange(1, 100));
  text += fmt::format("reward = \"{}\"\n",
                      *rc::gen::element<std::string>("gaussian", "rademacher", "bernoulli", "uniform"));
  text +=
      fmt::format("[algorithm]\nname = \"dp-dpe\"\n[privacy]\nmodel = \"{}\"\nepsilon = {}\ndelta = 1e-6\n",
                  *rc::gen::element<std::string>("none", "central", "local"), ToToml(Value(*number)));
  const int variants = *rc::gen::inRange(0, 3);
  for (int i = 0; i < variants; ++i) {
    text +=
        fmt::format("[[variant]]\nlabel = {}\n",
                    ToToml(Value("v" + *rc::gen::container<std::string>(rc::gen::inRange<char>(32, 126)))));
    if (*rc::gen::arbitrary<bool>()) text += fmt::format("algorithm.alpha = {}\n", ToToml(Value(*number)));
    if (*rc::gen::arbitrary<bool>()) text += "privacy = { model = \"local\", calibration = \"paper\" }\n";
    if (*rc::gen::arbitrary<bool>()) text += "algorithm.clients = \"fixed\"\nalgorithm.fixed_clients = 7\n";
  }
  text += "[sweep]\n";
  std::vector<std::string> sweeps;
  if (!models.empty())
    sweeps.push_back(fmt::format("privacy.model = [\"{}\"]\n", fmt::join(models, "\", \"")));
  if (!epsilons.empty())
    sweeps.push_back(fmt::format("\"privacy.epsilon\" = [{}]\n", fmt::join(epsilons, ", ")));
  if (!alphas.empty()) sweeps.push_back(fmt::format("\"algorithm.alpha\" = [{}]\n", fmt::join(alphas, ", ")));
  if (*rc::gen::arbitrary<bool>()) std::reverse(sweeps.begin(), sweeps.end());
  for (const std::string& sweep : sweeps) text += sweep;
  return text;
}

RC_GTEST_PROP(SpecTest, AnyResolvedTomlIsAFixpoint, ()) {
  const std::string text = GenerateSpec();
  const absl::StatusOr<Spec> spec = ParseSpec(text, kFile, {});
  RC_LOG() << text << spec.status();
  RC_ASSERT(spec.ok());
  const absl::StatusOr<Spec> again = ParseSpec(spec->toml, "/elsewhere/spec.toml", {});
  RC_LOG() << spec->toml << again.status();
  RC_ASSERT(again.ok());
  RC_ASSERT(again->toml == spec->toml);
  RC_ASSERT(again->sha256 == spec->sha256);
  RC_ASSERT(again->name == spec->name);
  RC_ASSERT(again->swept == spec->swept);
  RC_ASSERT(again->points.size() == spec->points.size());
  for (std::size_t i = 0; i < spec->points.size(); ++i) {
    RC_ASSERT(again->points[i].label == spec->points[i].label);
    RC_ASSERT(again->points[i].settings == spec->points[i].settings);
    RC_ASSERT(again->points[i].varied == spec->points[i].varied);
  }
}

RC_GTEST_PROP(SpecTest, NoTwoPointsAreTheSame, ()) {
  const absl::StatusOr<Spec> spec = ParseSpec(GenerateSpec(), kFile, {});
  RC_ASSERT(spec.ok());
  RC_ASSERT(!spec->points.empty());
  for (std::size_t i = 0; i < spec->points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) RC_ASSERT(!(spec->points[i].settings == spec->points[j].settings));
  }
}

TEST(SweepTest, GoesInFileOrderOverEveryCombination) {
  const Spec spec = Must(std::string(kOpen) + R"([sweep]
"privacy.epsilon" = [2, 1]
"privacy.model" = ["local", "central"]
"algorithm.alpha" = [0.5, 0.25]
)");
  EXPECT_THAT(spec.swept, ElementsAre("privacy.epsilon", "privacy.model", "algorithm.alpha"));
  EXPECT_THAT(Labels(spec), ElementsAre("epsilon=2 local alpha=0.5", "epsilon=2 local alpha=0.25",
                                        "epsilon=2 central alpha=0.5", "epsilon=2 central alpha=0.25",
                                        "epsilon=1 local alpha=0.5", "epsilon=1 local alpha=0.25",
                                        "epsilon=1 central alpha=0.5", "epsilon=1 central alpha=0.25"));
}

TEST(SweepTest, GoesInFileOrderOnOneLineToo) {
  const std::string sweep =
      R"(sweep = { "privacy.model" = ["local", "central"], "privacy.epsilon" = [2, 1] })";
  EXPECT_THAT(Must(sweep + "\n" + kOpen).swept, ElementsAre("privacy.model", "privacy.epsilon"));
}

TEST(SweepTest, TakesDottedTablesAndKeys) {
  for (const char* sweep : {"[sweep]\nprivacy.model = [\"none\", \"local\"]\nprivacy.epsilon = [1]\n",
                            "[sweep.privacy]\nmodel = [\"none\", \"local\"]\nepsilon = [1]\n"}) {
    EXPECT_THAT(Labels(Must(std::string(kOpen) + sweep)), ElementsAre("none", "local epsilon=1"));
  }
}

TEST(SweepTest, KeysThatAModelIgnoresCollapse) {
  const Spec spec = Must(std::string(kOpen) + R"([sweep]
"privacy.epsilon" = [1, 2, 3]
"privacy.model" = ["none", "central"]
)");
  EXPECT_THAT(Labels(spec),
              ElementsAre("none", "epsilon=1 central", "epsilon=2 central", "epsilon=3 central"));
  EXPECT_FALSE(spec.points.front().varied.Has("privacy.epsilon"));
}

TEST(SweepTest, ARepeatedValueIsOnePoint) {
  EXPECT_THAT(Must(std::string(kBase) + "[sweep]\n\"algorithm.alpha\" = [1, 1.0, 1]\n").points, SizeIs(1));
}

TEST(VariantTest, MergesOverTheBaseWhichIsAPointToo) {
  const Spec spec = Must(std::string(kBase) + R"([[variant]]
label = "paper"
algorithm = { width = "paper" }
[[variant]]
label = "plain"
privacy = { model = "none" }
)");
  ASSERT_THAT(Labels(spec), ElementsAre("dp-dpe", "paper", "plain"));
  EXPECT_EQ(spec.points[0].settings.Text("algorithm.width"), "exact");
  EXPECT_EQ(spec.points[1].settings.Text("algorithm.width"), "paper");
  EXPECT_EQ(spec.points[1].settings.Text("privacy.model"), "central");
  EXPECT_EQ(spec.points[2].settings.Text("privacy.model"), "none");
  EXPECT_FALSE(spec.points[2].settings.Has("privacy.epsilon"));
  for (const Point& point : spec.points) {
    EXPECT_TRUE(point.varied.Has("algorithm.width") && point.varied.Has("privacy.model")) << point.label;
  }
}

TEST(VariantTest, ItsOwnKeysAreNotSwept) {
  const Spec spec = Must(std::string(kBase) + R"([[variant]]
label = "loose"
privacy.epsilon = 50
[sweep]
"privacy.epsilon" = [1, 2]
"algorithm.alpha" = [0.5, 0.6]
)");
  EXPECT_THAT(Labels(spec), ElementsAre("epsilon=1 alpha=0.5", "epsilon=1 alpha=0.6", "epsilon=2 alpha=0.5",
                                        "epsilon=2 alpha=0.6", "loose alpha=0.5", "loose alpha=0.6"));
  EXPECT_EQ(spec.points[4].settings.Number("privacy.epsilon"), 50);
}

TEST(VariantTest, NeedsALabelAndKnownKeys) {
  const std::string base = kBase;
  for (const char* variant : {"[[variant]]\nprivacy = { model = \"none\" }\n", "[[variant]]\nlabel = \"\"\n",
                              "[[variant]]\nlabel = 5\n"}) {
    const InputError error = Refused(base + variant);
    EXPECT_EQ(error.key, "variant.label");
    EXPECT_EQ(error.file, kFile);
    EXPECT_GE(error.line, 11);
    EXPECT_FALSE(error.accepted.empty());
  }
  const InputError unknown = Refused(base + "[[variant]]\nlabel = \"a\"\nprivacy = { modle = \"none\" }\n");
  EXPECT_EQ(unknown.key, "privacy.modle");
  EXPECT_EQ(unknown.line, 13);
  EXPECT_THAT(unknown.accepted, HasSubstr("privacy.model"));
  EXPECT_EQ(Refused(base + "[variant]\nlabel = \"a\"\n").key, "variant");
  EXPECT_EQ(Refused("variant = 5\n" + base).line, 1);
}

// A key of the whole run cannot be swept, and a variant must not change it either.
TEST(VariantTest, DoesNotChangeTheWholeRun) {
  for (const char* line :
       {"replicates = 3", "seed = 3", "name = \"other\"", "service.listen = \"127.0.0.1:0\""}) {
    const absl::StatusOr<Spec> spec = ParseSpec(
        std::string(kBase) + "[[variant]]\nlabel = \"v\"\nalgorithm.alpha = 1\n" + line + "\n", kFile, {});
    EXPECT_FALSE(spec.ok()) << line << " was taken and has no effect";
  }
}

TEST(OverrideTest, WinsOverFileSweepAndVariants) {
  const std::string text = std::string(kBase) + R"([[variant]]
label = "loose"
privacy.epsilon = 50
[sweep]
"privacy.epsilon" = [1, 2]
)";
  const Spec spec = Must(text, {"privacy.epsilon=9"});
  EXPECT_TRUE(spec.swept.empty());
  ASSERT_THAT(spec.points, SizeIs(1)) << "the variant now is the base";
  EXPECT_EQ(spec.points[0].settings.Number("privacy.epsilon"), 9);
  ExpectSame(spec, Must(spec.toml));
}

TEST(OverrideTest, TakesATomlValueOrElseAText) {
  EXPECT_EQ(Must(kBase, {"horizon=5_000"}).points[0].settings.Integer("horizon"), 5000);
  EXPECT_EQ(Must(kBase, {"privacy.delta=1e-3"}).points[0].settings.Number("privacy.delta"), 1e-3);
  EXPECT_EQ(Must(kBase, {"privacy.model=none"}).points[0].settings.Text("privacy.model"), "none");
  EXPECT_EQ(Must(kBase, {"privacy.model=\"none\""}).points[0].settings.Text("privacy.model"), "none");
  EXPECT_EQ(Must(kBase, {"name=a b = c"}).name, "a b = c");
  EXPECT_EQ(Must(kBase, {"service.listen=127.0.0.1:0"}).service.Text("service.listen"), "127.0.0.1:0");
  EXPECT_EQ(Must(kBase, {"checkpoints=[1, 10]"}).points[0].settings.values().at("checkpoints"),
            Value(std::vector<std::int64_t>{1, 10}));
  const Spec table = Must(kBase, {"privacy={epsilon=3, delta=0.5}"});
  EXPECT_EQ(table.points[0].settings.Number("privacy.epsilon"), 3);
  EXPECT_EQ(table.points[0].settings.Number("privacy.delta"), 0.5);
}

// A text stays a text, even if it looks like a number.
TEST(OverrideTest, ATextThatLooksLikeANumberIsAText) {
  for (const char* name : {"5", "true", "1e6", "2026-01-01", "inf"}) {
    const absl::StatusOr<Spec> spec = ParseSpec(kBase, kFile, {std::string("name=") + name});
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->name, name);
  }
}

TEST(OverrideTest, TheLastWordWins) {
  EXPECT_EQ(Must(kBase, {"seed=3", "seed=4"}).points[0].settings.Integer("seed"), 4);
}

TEST(OverrideTest, SaysThatTheErrorIsOnTheCommandLine) {
  const InputError unknown = Refused(kBase, {"privacy.epsilom=1"});
  EXPECT_EQ(unknown.file, "--set");
  EXPECT_EQ(unknown.line, 0);
  EXPECT_EQ(unknown.key, "privacy.epsilom");
  EXPECT_THAT(unknown.accepted, HasSubstr("privacy.epsilon"));
  const InputError bad = Refused(kBase, {"privacy.epsilon=-1"});
  EXPECT_EQ(bad.file, "--set");
  EXPECT_EQ(bad.value, "-1");
  EXPECT_THAT(bad.accepted, HasSubstr("> 0"));
  for (const char* assignment : {"privacy.epsilon", "=5", ""}) {
    EXPECT_THAT(Refused(kBase, {assignment}).accepted, HasSubstr("key=value")) << assignment;
  }
}

// A value with a second line behind it is not a TOML value.
TEST(OverrideTest, OneAssignmentIsOneValue) {
  const absl::StatusOr<Spec> spec = ParseSpec(kBase, kFile, {"seed=3\nhorizon = 5"});
  if (spec.ok()) ADD_FAILURE() << "taken as seed = " << spec->points[0].settings.Integer("seed");
}

Settings At(std::int64_t horizon, Value checkpoints) {
  Settings settings;
  settings.Set("horizon", Value(horizon));
  settings.Set("checkpoints", std::move(checkpoints));
  return settings;
}

TEST(CheckpointsTest, AListIsTakenAsItIs) {
  EXPECT_THAT(Checkpoints(At(100, Value(std::vector<std::int64_t>{1, 7, 50}))), ElementsAre(1, 7, 50));
}

TEST(CheckpointsTest, ACountIsSpacedEvenly) {
  EXPECT_THAT(Checkpoints(At(100, Value(std::int64_t{4}))), ElementsAre(25, 50, 75, 100));
  EXPECT_THAT(Checkpoints(At(10, Value(std::int64_t{3}))), ElementsAre(3, 6, 10));
  EXPECT_THAT(Checkpoints(At(3, Value(std::int64_t{10}))), ElementsAre(1, 2, 3));
  EXPECT_THAT(Checkpoints(At(1, Value(std::int64_t{1}))), ElementsAre(1));
}

TEST(CheckpointsTest, LogIsDenseAtTheBeginning) {
  EXPECT_THAT(Checkpoints(At(10, Value(std::string("log")))), ElementsAre(1, 2, 3, 4, 5, 6, 8, 10));
  EXPECT_THAT(Checkpoints(At(1, Value(std::string("log")))), ElementsAre(1));
}

RC_GTEST_PROP(CheckpointsTest, AreAscendingFromOneOnAndEndAtTheHorizon, ()) {
  const auto horizon = *rc::gen::map(rc::gen::inRange(0, 62), [](int bits) {
    return std::int64_t{1} << bits;
  }) + *rc::gen::inRange(0, 1000);
  const Value how = *rc::gen::oneOf(
      rc::gen::just(Value(std::string("log"))),
      rc::gen::map(rc::gen::inRange<std::int64_t>(1, 1000), [](std::int64_t n) { return Value(n); }));
  const std::vector<Count> times = Checkpoints(At(horizon, how));
  RC_ASSERT(!times.empty());
  RC_ASSERT(times.front() >= 1);
  RC_ASSERT(times.back() == horizon);
  for (std::size_t i = 1; i < times.size(); ++i) RC_ASSERT(times[i] > times[i - 1]);
}

}  // namespace
}  // namespace bandana::lab
