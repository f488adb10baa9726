#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tests/lab/spec_support.h"

namespace bandana::lab {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;
struct BadLine {
  const char* replace;  // a line of kBase
  const char* with;
  const char* key;
  int line;
  const char* value;
  const char* accepted;
};

void PrintTo(const BadLine& bad, std::ostream* out) { *out << bad.with; }

class BadLineTest : public testing::TestWithParam<BadLine> {};

TEST_P(BadLineTest, IsNamedWithFileLineKeyValueAndAccepted) {
  const BadLine& bad = GetParam();
  std::string text = kBase;
  const std::size_t at = text.find(bad.replace);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bad.replace).size(), bad.with);
  const InputError error = Refused(text);
  EXPECT_EQ(error.file, kFile);
  EXPECT_EQ(error.line, bad.line);
  EXPECT_EQ(error.key, bad.key);
  EXPECT_EQ(error.value, bad.value);
  EXPECT_THAT(error.accepted, HasSubstr(bad.accepted));
  EXPECT_FALSE(error.message.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Values, BadLineTest,
    testing::Values(
        BadLine{"epsilon = 1.0", "epsilon = 0", "privacy.epsilon", 9, "0", "finite number > 0"},
        BadLine{"epsilon = 1.0", "epsilon = -1", "privacy.epsilon", 9, "-1", "> 0"},
        BadLine{"epsilon = 1.0", "epsilon = -0.0", "privacy.epsilon", 9, "-0", "> 0"},
        BadLine{"epsilon = 1.0", "epsilon = nan", "privacy.epsilon", 9, "nan", "finite number > 0"},
        BadLine{"epsilon = 1.0", "epsilon = inf", "privacy.epsilon", 9, "inf", "finite number > 0"},
        BadLine{"epsilon = 1.0", "epsilon = -inf", "privacy.epsilon", 9, "-inf", "finite number > 0"},
        BadLine{"epsilon = 1.0", "epsilon = \"1\"", "privacy.epsilon", 9, "1", "number"},
        BadLine{"epsilon = 1.0", "epsilon = true", "privacy.epsilon", 9, "true", "number"},
        BadLine{"epsilon = 1.0", "epsilon = [1, 2]", "privacy.epsilon", 9, "[1, 2]", "number"},
        BadLine{"epsilon = 1.0", "epsilon = [0.5, 1]", "privacy.epsilon", 9, "[0.5, 1]", "number"},
        BadLine{"epsilon = 1.0", "epsilon = 2026-01-01", "privacy.epsilon", 9, "2026-01-01", "number"},
        BadLine{"delta = 1e-6", "delta = 0", "privacy.delta", 10, "0", "(0, 1)"},
        BadLine{"delta = 1e-6", "delta = 1", "privacy.delta", 10, "1", "(0, 1)"},
        BadLine{"delta = 1e-6", "delta = 1.5", "privacy.delta", 10, "1.5", "(0, 1)"},
        BadLine{"delta = 1e-6", "delta = -0.1", "privacy.delta", 10, "-0.1", "(0, 1)"},
        BadLine{"delta = 1e-6", "delta = nan", "privacy.delta", 10, "nan", "(0, 1)"},
        BadLine{"name = \"dp-dpe\"", "name = \"dp-dpe\"\nalpha = 0", "algorithm.alpha", 7, "0", "> 0"},
        BadLine{"name = \"dp-dpe\"", "name = \"dp-dpe\"\nalpha = -2.5", "algorithm.alpha", 7, "-2.5", "> 0"},
        BadLine{"name = \"dp-dpe\"", "name = \"lin-usb\"", "algorithm.name", 6, "lin-usb", "dp-dpe"},
        BadLine{"model = \"central\"", "model = \"shufle\"", "privacy.model", 8, "shufle",
                "none, central, local"},
        BadLine{"horizon = 1000", "horizon = 0", "horizon", 1, "0", ">= 1"},
        BadLine{"horizon = 1000", "horizon = 1e6", "horizon", 1, "1000000",
                "without point or exponent: 1000000"},
        BadLine{"horizon = 1000", "horizon = -5", "horizon", 1, "-5", ">= 1"},
        BadLine{"horizon = 1000", "horizon = \"1000\"", "horizon", 1, "1000", "whole number"},
        BadLine{"horizon = 1000", "horizon = 1000\nseed = -1", "seed", 2, "-1", ">= 0"},
        BadLine{"horizon = 1000", "horizon = 1000\nname = 5", "name", 2, "5", "a text"},
        BadLine{"horizon = 1000", "horizon = 1000\ncheckpoints = [10, 5]", "checkpoints", 2, "[10, 5]",
                "ascending"},
        BadLine{"horizon = 1000", "horizon = 1000\ncheckpoints = [5, 5]", "checkpoints", 2, "[5, 5]",
                "ascending"},
        BadLine{"horizon = 1000", "horizon = 1000\ncheckpoints = []", "checkpoints", 2, "[]", "ascending"},
        BadLine{"horizon = 1000", "horizon = 1000\ncheckpoints = 0", "checkpoints", 2, "0", ">= 1"},
        BadLine{"horizon = 1000", "horizon = 1000\ncheckpoints = [1, 2000]", "checkpoints", 2, "2000",
                "1 to 1000"},
        BadLine{"dimension = 2", "dimension = 0", "environment.dimension", 3, "0", ">= 1"},
        BadLine{"actions = 5", "actions = 0", "environment.actions", 4, "0", ">= 1"},
        BadLine{"actions = 5", "actions = 5\nclient_sd = nan", "environment.client_sd", 5, "nan", ">= 0"},
        BadLine{"actions = 5", "actions = 5\ntheta_norm = 2", "environment.theta_norm", 5, "2", "(0, 1]"}));

TEST(SpecErrorTest, AnUnknownKeyNamesTheNearest) {
  const std::pair<const char*, const char*> cases[] = {
      {"[privacy]\nepsilom = 1\n", "privacy.epsilon"},
      {"[environment]\ndimensions = 1\n", "environment.dimension"},
      {"horizont = 1\n", "horizon"},
      {"[privcy]\nepsilon = 1\n", "privacy.epsilon"}};
  for (const auto& [text, nearest] : cases) {
    const InputError error = Refused(text);
    EXPECT_EQ(error.message, "unknown key");
    EXPECT_EQ(error.accepted, std::string("nearest known key: ") + nearest);
    EXPECT_EQ(error.line, text[0] == '[' ? 2 : 1);
  }
}

TEST(SpecErrorTest, ATableInPlaceOfAValueIsNamed) {
  const InputError error = Refused("[horizon]\nrounds = 5\n");
  EXPECT_EQ(error.file, kFile);
  EXPECT_EQ(error.line, 2);
  // An empty table with an unknown name must be refused, too.
  const absl::StatusOr<Spec> spec = ParseSpec(std::string(kBase) + "[privvacy]\n", kFile, {});
  EXPECT_FALSE(spec.ok()) << "an empty table of an unknown name was taken";
}

TEST(SpecErrorTest, MissingKeys) {
  const std::pair<const char*, const char*> cases[] = {{"horizon = 1000\n", "horizon"},
                                                       {"dimension = 2\n", "environment.dimension"},
                                                       {"actions = 5\n", "environment.actions"},
                                                       {"name = \"dp-dpe\"\n", "algorithm.name"},
                                                       {"model = \"central\"\n", "privacy.model"},
                                                       {"epsilon = 1.0\n", "privacy.epsilon"},
                                                       {"delta = 1e-6\n", "privacy.delta"}};
  for (const auto& [line, key] : cases) {
    std::string text = kBase;
    text.erase(text.find(line), std::string(line).size());
    const InputError error = Refused(text);
    EXPECT_EQ(error.message, "missing");
    EXPECT_EQ(error.key, key);
    EXPECT_EQ(error.file, kFile);
    EXPECT_FALSE(error.accepted.empty());
  }
  EXPECT_EQ(Refused("").key, "horizon");
  EXPECT_EQ(Refused(std::string(kBase), {"environment.contexts=file"}).key, "environment.file");
}

// Errors of worlds and algorithms know only fields. The lab adds where the value was written.
TEST(SpecErrorTest, AnErrorOfAnAlgorithmHasItsLineOrNamesSet) {
  const auto refused = [](const std::string& text, const Overrides& overrides) {
    const Spec spec = Must(text, overrides);
    const Point& point = spec.points.front();
    return ErrorOf(WithSource(CheckPoint(point.settings), point.sources, spec.file));
  };
  std::string text = kBase;
  text.replace(text.find("actions = 5"), 11, "actions = 5\npopulation = 1");
  const InputError written = refused(text, {});
  EXPECT_EQ(written.key, "environment.population");
  EXPECT_EQ(written.file, kFile);
  EXPECT_EQ(written.line, 5);

  const InputError set = refused(kBase, {"environment.population=1"});
  EXPECT_EQ(set.key, "environment.population");
  EXPECT_EQ(set.file, "--set");
  EXPECT_EQ(set.line, 0);
}

TEST(SpecErrorTest, AnErrorOfASweptOrVariedValueHasItsLine) {
  std::string text = std::string(kBase) + "[sweep]\n\"environment.population\" = [1, 100000]\n";
  Spec spec = Must(text);
  EXPECT_EQ(spec.points.front().sources.at("environment.population").line, 12);
  spec = Must(std::string(kBase) + "[[variant]]\nlabel = \"few\"\nenvironment.population = 1\n");
  EXPECT_EQ(spec.points.back().sources.at("environment.population").line, 13);
  // A value that was not written has no source; its error names the file alone.
  EXPECT_FALSE(spec.points.front().sources.contains("environment.population"));
}

TEST(SpecErrorTest, NoneNeedsNoBudget) {
  EXPECT_THAT(Must("horizon = 1\nenvironment = {dimension = 1, actions = 1}\nalgorithm.name = \"dp-dpe\"\n"
                   "privacy.model = \"none\"\n")
                  .points,
              SizeIs(1));
}

TEST(SpecErrorTest, Sweeps) {
  const std::string base = kBase;
  const InputError empty = Refused(base + "[sweep]\n\"privacy.epsilon\" = []\n");
  EXPECT_EQ(empty.key, "sweep.privacy.epsilon");
  EXPECT_EQ(empty.line, 12);
  EXPECT_THAT(empty.accepted, HasSubstr("at least one value"));
  EXPECT_EQ(Refused(base + "[sweep]\n\"privacy.epsilon\" = 1\n").key, "sweep.privacy.epsilon");
  for (const char* key : {"seed", "replicates", "name", "checkpoints"}) {
    const InputError error = Refused(base + "[sweep]\n" + key + " = [1, 2]\n");
    EXPECT_EQ(error.key, std::string("sweep.") + key);
    EXPECT_EQ(error.line, 12);
    EXPECT_THAT(error.message, HasSubstr("cannot be swept"));
  }
  std::string numbers = "1";
  for (int i = 2; i <= 400; ++i) numbers += ", " + std::to_string(i);
  const InputError many =
      Refused(base + "[sweep]\nprivacy.epsilon = [" + numbers + "]\nhorizon = [" + numbers + "]\n");
  EXPECT_EQ(many.key, "sweep.horizon");
  EXPECT_EQ(many.line, 13);
  EXPECT_THAT(many.message, HasSubstr("more than 100000 points"));
  const InputError value = Refused(base + "[sweep]\n\"privacy.epsilon\" = [\n1,\n-2]\n");
  EXPECT_EQ(value.line, 14);
  EXPECT_EQ(value.value, "-2");
  EXPECT_THAT(value.accepted, HasSubstr("> 0"));
  const InputError unknown = Refused(base + "[sweep]\n\"privacy.epsilom\" = [1]\n");
  EXPECT_EQ(unknown.line, 12);
  EXPECT_THAT(unknown.accepted, HasSubstr("privacy.epsilon"));
  EXPECT_EQ(Refused("sweep = 5\n" + base).line, 1);
}

TEST(SpecErrorTest, ASweptHorizonMustReachTheCheckpoints) {
  const InputError error =
      Refused("checkpoints = [100]\n" + std::string(kBase) + "[sweep]\nhorizon = [1000, 50]\n");
  EXPECT_EQ(error.key, "checkpoints");
  EXPECT_EQ(error.line, 1);
  EXPECT_EQ(error.value, "100");
}

TEST(SpecErrorTest, BrokenTomlHasItsLine) {
  const InputError error = Refused("horizon = 5\n[environment\nx = 1\n");
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.file, kFile);
  EXPECT_THAT(error.message, HasSubstr("not TOML"));
  EXPECT_EQ(Refused("horizon = 5\nhorizon = 6\n").line, 2);
  EXPECT_EQ(Refused("a = \xff\n").line, 1);
}

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/bandana-spec-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  fs::path folder_;
};

TEST_F(FileTest, Loads) {
  const absl::StatusOr<Spec> spec = LoadSpec(Write("small.toml", kBase), {});
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name, "small");
}

TEST_F(FileTest, AMissingFileAndAFolderCannotBeRead) {
  for (const std::string& path : {(folder_ / "none.toml").string(), folder_.string(), std::string()}) {
    const absl::StatusOr<Spec> spec = LoadSpec(path, {});
    ASSERT_FALSE(spec.ok()) << path;
    EXPECT_EQ(ErrorOf(spec.status()).file, path);
    EXPECT_THAT(ErrorOf(spec.status()).message, HasSubstr("cannot be read"));
  }
}

TEST_F(FileTest, AnEmptyFileMissesItsHorizon) {
  const absl::StatusOr<Spec> spec = LoadSpec(Write("empty.toml", ""), {});
  EXPECT_EQ(ErrorOf(spec.status()).key, "horizon");
}

constexpr char kFromFile[] = R"(horizon = 10
environment = { contexts = "file", file = "data/actions.csv" }
algorithm.name = "dp-dpe"
privacy.model = "none"
)";

TEST_F(FileTest, TheActionFileIsRelativeToTheSpec) {
  const absl::StatusOr<Spec> spec = LoadSpec(Write("a.toml", kFromFile), {});
  ASSERT_TRUE(spec.ok()) << spec.status();
  const std::string& file = spec->points[0].settings.Text("environment.file");
  EXPECT_EQ(fs::path(file), (folder_ / "data/actions.csv").lexically_normal());
  // The resolved spec means the same in any folder.
  const absl::StatusOr<Spec> again = ParseSpec(spec->toml, "/elsewhere/spec.toml", {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->toml, spec->toml);
  const absl::StatusOr<Spec> absolute =
      LoadSpec(Write("a.toml", kFromFile), {"environment.file=/data/a.csv"});
  EXPECT_EQ(absolute->points[0].settings.Text("environment.file"), "/data/a.csv");
}

// An option of another algorithm is a mistake, wherever it stands. An option of this algorithm that does not
// apply with the values given is none.
TEST(SpecErrors, OptionsThatNothingInTheRunHasAreRefused) {
  const auto key_of = [](const std::string& rest) {
    return Refused("horizon = 100\n[algorithm]\nname = \"dp-dpe\"\n" + rest).key;
  };
  const std::string none = "[privacy]\nmodel = \"none\"\n[environment]\ndimension = 3\nactions = 5\n";
  EXPECT_EQ(key_of("bonus = 0.3\n" + none), "algorithm.bonus");
  EXPECT_EQ(key_of(none + "parameters = \"multi\"\n"), "environment.parameters");
  EXPECT_EQ(key_of(none + "[sweep]\n\"algorithm.gamma\" = [1, 2]\n"), "algorithm.gamma");
  EXPECT_EQ(key_of(none + "[[variant]]\nlabel = \"x\"\nalgorithm = { name = \"pe\", alpha = 0.7 }\n"),
            "algorithm.alpha");
  const absl::StatusOr<Spec> fine = ParseSpec(
      "horizon = 100\n[algorithm]\nname = \"dp-dpe\"\nalpha = 0.7\nclients = \"fixed\"\n"
      "fixed_clients = 5\n" +
          none + "[[variant]]\nlabel = \"x\"\nalgorithm = { name = \"pe\" }\n",
      kFile, {});
  EXPECT_TRUE(fine.ok()) << fine.status();
}

}  // namespace
}  // namespace bandana::lab
