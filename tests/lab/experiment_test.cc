#include "bandana/lab/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "bandana/core/status.h"
#include "bandana/lab/phase_json.h"
#include "bandana/lab/runner.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tests/lab/worlds_of.h"

// Tests of experiment.h and runner.h together: from settings to objects to results.
namespace bandana::lab {
namespace {

namespace fs = std::filesystem;

constexpr char kSpec[] = R"(name = "threads"
horizon = 3000
seed = 11
replicates = 5
environment = { dimension = 3, actions = 20, client_sd = 0.1, population = 3000 }
algorithm.name = "dp-dpe"
privacy = { model = "none", epsilon = 5.0, delta = 1e-5 }
[sweep]
"privacy.model" = ["none", "central", "local"]
)";

constexpr char kOnePoint[] = R"(horizon = 3000
seed = 11
environment = { dimension = 3, actions = 20, client_sd = 0.1, population = 3000 }
algorithm.name = "dp-dpe"
privacy = { model = "none", epsilon = 5.0, delta = 1e-5 }
)";

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/bandana-runner-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  absl::StatusOr<Json> Run(const Spec& spec, const std::string& out, int threads, bool resume = false) const {
    return RunExperiment(spec, {.out = Path(out), .threads = threads, .resume = resume, .quiet = true},
                         stop_);
  }

  std::string folder_;
  std::atomic<bool> stop_ = false;
};

TEST_F(RunnerTest, ResultsDoNotDependOnTheNumberOfThreads) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  std::string first;
  for (const int threads : {1, 2, 7, 64}) {
    const std::string out = fmt::format("t{}", threads);
    const absl::StatusOr<Json> summary = Run(spec, out, threads);
    ASSERT_TRUE(summary.ok()) << summary.status();
    const std::string csv = Read(Path(out) + "/results.csv");
    if (first.empty()) first = csv;
    EXPECT_EQ(csv, first) << threads << " threads";
    for (const char* file : {"/spec.toml", "/summary.json", "/report.html"}) {
      EXPECT_TRUE(fs::exists(Path(out) + file)) << file;
    }
    EXPECT_EQ(Json::parse(Read(Path(out) + "/summary.json")), *summary);
  }
  EXPECT_GT(first.size(), 1000u);
}

TEST_F(RunnerTest, ATornRunGoesOnToTheSameResults) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  ASSERT_TRUE(Run(spec, "whole", 2).ok());
  const std::string whole = Read(Path("whole/results.csv"));
  for (const double share : {0.1, 0.5, 0.77, 0.999}) {
    const std::string out = fmt::format("torn{}", share);
    fs::copy(Path("whole"), Path(out), fs::copy_options::recursive);
    fs::remove(Path(out) + "/summary.json");
    fs::resize_file(Path(out) + "/results.csv",
                    static_cast<std::uintmax_t>(share * static_cast<double>(whole.size())));
    ASSERT_TRUE(Run(spec, out, 3, true).ok());
    EXPECT_EQ(Read(Path(out) + "/results.csv"), whole) << share;
    EXPECT_TRUE(fs::exists(Path(out) + "/summary.json"));
  }
}

TEST_F(RunnerTest, PointsOfAReplicateShareTheirInstance) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  const auto first = MakeProblem(spec.points[0].settings, 2).value();
  const auto other = MakeProblem(spec.points[2].settings, 2).value();
  const auto next = MakeProblem(spec.points[0].settings, 3).value();
  EXPECT_EQ(first->actions(), other->actions());
  EXPECT_EQ(first->means(), other->means());
  EXPECT_NE(first->actions(), next->actions());
}

TEST_F(RunnerTest, AStopEndsItAndResumeFinishesIt) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  stop_ = true;
  EXPECT_TRUE(absl::IsCancelled(Run(spec, "out", 2).status()));
  EXPECT_TRUE(fs::exists(Path("out/results.csv")));
  EXPECT_FALSE(fs::exists(Path("out/summary.json")));
  stop_ = false;
  ASSERT_TRUE(Run(spec, "out", 2, true).ok());
  ASSERT_TRUE(Run(spec, "whole", 1).ok());
  EXPECT_EQ(Read(Path("out/results.csv")), Read(Path("whole/results.csv")));
}

struct Impossible {
  std::vector<std::string> set;
  std::string key;
};

// Each option is valid by itself, but not together with the others or with the data.
TEST_F(RunnerTest, WhatCannotRunIsAnInputErrorBeforeAnythingIsMade) {
  const Impossible cases[] = {
      {{"environment.population=10"}, "environment.population"},
      {{"environment.population=5_000_000_000"}, "environment.population"},
      {{"environment.reward=bernoulli"}, "environment.reward"},
      {{"environment.contexts=file", "environment.file=missing.csv"}, "environment.file"},
  };
  for (const Impossible& impossible : cases) {
    const absl::StatusOr<Spec> spec = ParseSpec(kSpec, "/specs/x.toml", impossible.set);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const absl::StatusOr<Json> summary = Run(*spec, "out", 1);
    ASSERT_FALSE(summary.ok()) << impossible.set[0];
    const std::optional<InputError> error = InputErrorOf(summary.status());
    ASSERT_TRUE(error.has_value()) << summary.status();
    EXPECT_EQ(error->key, impossible.key) << summary.status();
    EXPECT_FALSE(error->file.empty()) << summary.status();
    EXPECT_FALSE(error->accepted.empty()) << summary.status();
    EXPECT_FALSE(fs::exists(Path("out"))) << "a folder is left behind by " << impossible.set[0];
  }
}

// No population runs out in the middle of a run: it is refused before anything is made, or it suffices.
TEST_F(RunnerTest, APopulationIsRefusedAtOnceOrLasts) {
  int refused = 0;
  int lasted = 0;
  for (int population = 20; population <= 1000; population += 49) {
    const Spec spec = ParseSpec(kSpec, "/specs/x.toml",
                                {"privacy.model=none", fmt::format("environment.population={}", population)})
                          .value();
    const std::string out = fmt::format("population{}", population);
    const absl::StatusOr<Json> summary = Run(spec, out, 2);
    ++(summary.ok() ? lasted : refused);
    if (summary.ok()) continue;
    const InputError error = InputErrorOf(summary.status()).value_or(InputError{});
    EXPECT_EQ(error.key, "environment.population") << summary.status();
    EXPECT_EQ(error.file, "--set");
    EXPECT_EQ(error.value, std::to_string(population));
    EXPECT_FALSE(fs::exists(Path(out))) << "it began and ran out: " << summary.status();
  }
  EXPECT_GT(refused, 3);
  EXPECT_GT(lasted, 3);
}

TEST_F(RunnerTest, ATraceThatCannotBeWrittenMakesNothing) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  const absl::StatusOr<Json> summary =
      RunExperiment(spec, {.out = Path("out"), .quiet = true, .trace = Path("none/trace")}, stop_);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(InputErrorOf(summary.status()).value_or(InputError{}).key, "--trace");
  EXPECT_FALSE(fs::exists(Path("out"))) << "the folder is in the way of the next try";
}

TEST_F(RunnerTest, TheTraceHasEveryPhaseInOrder) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  ASSERT_TRUE(
      RunExperiment(spec, {.out = Path("out"), .threads = 7, .quiet = true, .trace = Path("trace")}, stop_)
          .ok());
  std::ifstream in(Path("trace"));
  std::pair<int, int> last = {0, 0};
  int epoch = 0;
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const Json json = Json::parse(line);
    const std::pair<int, int> run = {json["point"].get<int>(), json["replicate"].get<int>()};
    ASSERT_TRUE(PhaseFromJson(json).ok());
    EXPECT_GE(run, last);
    if (run != last) epoch = 0;
    EXPECT_EQ(json["epoch"].get<int>(), ++epoch);
    last = run;
  }
  EXPECT_EQ(last, std::make_pair(2, 4));
  EXPECT_GT(lines, 15);
}

// A name from a command line can hold any bytes.
TEST_F(RunnerTest, ANameThatIsNoUtf8IsRefusedOrWritten) {
  const absl::StatusOr<Spec> spec = ParseSpec(kSpec, "x.toml", {"name=a\xff", "replicates=1"});
  if (!spec.ok()) return;
  EXPECT_NO_THROW((void)Run(*spec, "out", 1));
}

TEST(RunReplicateTest, ReplicatesDifferAndRepeat) {
  const Spec spec = ParseSpec(kSpec, "x.toml", {}).value();
  const std::atomic<bool> stop = false;
  for (const Point& point : spec.points) {
    const Outcome a = RunReplicate(point.settings, 0, stop).value();
    const Outcome b = RunReplicate(point.settings, 0, stop).value();
    const Outcome c = RunReplicate(point.settings, 1, stop).value();
    ASSERT_EQ(a.checkpoints.size(), Checkpoints(point.settings).size());
    EXPECT_EQ(a.checkpoints.back().regret, b.checkpoints.back().regret);
    EXPECT_NE(a.checkpoints.back().regret, c.checkpoints.back().regret);
    for (std::size_t i = 1; i < a.checkpoints.size(); ++i) {
      EXPECT_GE(a.checkpoints[i].regret, a.checkpoints[i - 1].regret);
      EXPECT_GE(a.checkpoints[i].clients, a.checkpoints[i - 1].clients);
    }
    EXPECT_EQ(a.checkpoints.back().t, 3000);
  }
}

// --- every privatizer of the vocabulary runs, repeats, and states its claims

struct Model {
  std::vector<std::string> set;
  std::size_t claims;
  double epsilon;  // of the first claim
  double delta;
};

TEST(EveryModelTest, RunsToTheEndAndRepeatsAndClaims) {
  const std::vector<Model> models = {
      {{"privacy.model=none"}, 0, 0, 0},
      {{"privacy.model=central"}, 1, 5, 1e-5},
      {{"privacy.model=local"}, 1, 5, 1e-5},
      {{"privacy.model=none", "algorithm.report=estimate"}, 0, 0, 0},
      {{"privacy.model=central", "algorithm.report=estimate"}, 1, 5, 1e-5},
      {{"privacy.model=local", "algorithm.report=estimate"}, 1, 5, 1e-5},
      {{"privacy.model=central", "privacy.noise=laplace"}, 1, 5, 0},
      {{"privacy.model=local", "privacy.noise=laplace"}, 1, 5, 0},
      {{"privacy.model=local", "privacy.noise=laplace", "privacy.calibration=paper"}, 1, 10, 0},
      {{"privacy.model=shuffle"}, 2, 5, 1e-5},
      {{"privacy.model=shuffle", "privacy.transport=counts"}, 1, 5, 1e-5},
      {{"privacy.model=shuffle", "privacy.honest_fraction=0.5", "privacy.loss=0.3"}, 2, 5, 1e-5},
      {{"privacy.model=shuffle", "privacy.shuffle=amplified"}, 2, 5, 1e-5},
      {{"privacy.model=shuffle", "privacy.sampler=exact"}, 2, 5, 1e-5},
  };
  const std::atomic<bool> stop = false;
  for (const Model& model : models) {
    std::vector<std::string> set = model.set;
    set.push_back("horizon=300");
    const absl::StatusOr<Spec> spec = ParseSpec(kOnePoint, "x.toml", set);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const Settings& settings = spec->points[0].settings;
    const auto claims = ClaimsOf(settings);
    ASSERT_TRUE(claims.ok()) << claims.status();
    ASSERT_EQ(claims->size(), model.claims) << fmt::format("{}", fmt::join(model.set, " "));
    if (model.claims > 0) {
      EXPECT_EQ((*claims)[0].guarantee.epsilon, model.epsilon);
      EXPECT_EQ((*claims)[0].guarantee.delta, model.delta);
    }
    const auto first = RunReplicate(settings, 0, stop);
    const auto again = RunReplicate(settings, 0, stop);
    ASSERT_TRUE(first.ok() && again.ok()) << first.status();
    EXPECT_EQ(first->checkpoints.back().t, 300);
    EXPECT_EQ(first->checkpoints.back().regret, again->checkpoints.back().regret);
    EXPECT_GT(first->phases.size(), 2u);
  }
}

// Returns the source folder, which holds the proofs that claims name. With ccache, __FILE__ may be relative
// to a build folder; tests run somewhere below one.
fs::path SourceFolder() {
  const fs::path here = fs::path(__FILE__).parent_path().parent_path().parent_path();
  if (here.is_absolute()) return here;
  fs::path folder = fs::current_path();
  while (folder.has_relative_path() && !fs::exists(folder / "docs/proofs")) folder = folder.parent_path();
  return folder;
}

TEST(EveryModelTest, ClaimsNameProofsThatExist) {
  for (const char* set : {"privacy.model=central", "privacy.model=local", "privacy.model=shuffle"}) {
    for (const char* variant : {"privacy.noise=laplace", "privacy.noise=gaussian",
                                "privacy.shuffle=amplified", "privacy.shuffle=sum"}) {
      const absl::StatusOr<Spec> spec = ParseSpec(kOnePoint, "x.toml", {set, variant});
      if (!spec.ok()) continue;  // the variant belongs to another model
      const std::vector<Claim> claims = ClaimsOf(spec->points[0].settings).value();
      for (const Claim& claim : claims) {
        EXPECT_TRUE(fs::exists(SourceFolder() / claim.proof)) << claim.proof;
      }
    }
  }
}

TEST(EveryModelTest, EstimatesAreSentWhereTheyHaveAProof) {
  const std::vector<std::vector<std::string>> refused = {
      {"privacy.model=shuffle", "privacy.shuffle=amplified"},
      {"privacy.model=central", "privacy.noise=laplace"},
      {"privacy.model=local", "privacy.noise=laplace"},
      {"privacy.model=central", "algorithm.width=paper"},
  };
  const std::atomic<bool> stop = false;
  for (std::vector<std::string> set : refused) {
    set.push_back("algorithm.report=estimate");
    const absl::StatusOr<Spec> spec = ParseSpec(kOnePoint, "x.toml", set);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const absl::Status status = RunReplicate(spec->points[0].settings, 0, stop).status();
    EXPECT_EQ(InputErrorOf(status).value_or(InputError{}).key, "algorithm.report") << status;
  }
}

TEST(EveryModelTest, OptionsOfAnotherModelAndBadValuesAreRefused) {
  struct Bad {
    std::vector<std::string> set;
    std::string key;
  };
  const std::vector<Bad> cases = {
      {{"privacy.model=shuffle", "privacy.honest_fraction=0"}, "privacy.honest_fraction"},
      {{"privacy.model=shuffle", "privacy.honest_fraction=1.5"}, "privacy.honest_fraction"},
      {{"privacy.model=shuffle", "privacy.loss=0"}, "privacy.loss"},
      {{"privacy.model=shuffle", "privacy.loss=nan"}, "privacy.loss"},
      {{"privacy.model=shuffle", "privacy.transport=pigeons"}, "privacy.transport"},
      {{"privacy.model=shuffle", "privacy.shuffle=cards"}, "privacy.shuffle"},
      {{"privacy.model=central", "privacy.noise=pink"}, "privacy.noise"},
      {{"privacy.model=central", "privacy.epsilon=0"}, "privacy.epsilon"},
      {{"privacy.model=central", "privacy.epsilon=inf"}, "privacy.epsilon"},
  };
  for (const Bad& bad : cases) {
    const absl::StatusOr<Spec> spec = ParseSpec(kOnePoint, "x.toml", bad.set);
    ASSERT_FALSE(spec.ok()) << bad.set[1];
    EXPECT_EQ(InputErrorOf(spec.status()).value_or(InputError{}).key, bad.key) << spec.status();
  }
}

}  // namespace
}  // namespace bandana::lab
