#include "bandana/lab/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kHeader[] =
    "point,label,algorithm.alpha,replicate,t,regret,clients,communication_reals,communication_bits,rounds,"
    "best_action_rate\n";

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/bandana-results-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string out() const { return (path_ / "out").string(); }
  std::string csv() const { return out() + "/results.csv"; }

 private:
  fs::path path_;
};

std::string Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// A spec with two points, three replicates and three checkpoints.
Spec SmallSpec(const std::string& label = "plain", std::int64_t replicates = 3) {
  return ParseSpec(fmt::format(R"(horizon = 100
replicates = {}
checkpoints = [1, 10, 100]
environment = {{ dimension = 2, actions = 5 }}
algorithm.name = "dp-dpe"
privacy.model = "none"
[[variant]]
label = {}
algorithm.alpha = 0.5
)",
                               replicates, ToToml(Value(label))),
                   "x.toml", {})
      .value();
}

// Generates any value that a metric can have.
rc::Gen<double> AnyMetric() {
  return rc::gen::suchThat(
      rc::gen::oneOf(rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                  [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
                     rc::gen::map(rc::gen::inRange(0, 100'000), [](int n) { return n / 16.0; })),
      [](double value) { return std::isfinite(value); });
}

std::vector<Checkpoint> AnyReplicate() {
  std::vector<Checkpoint> replicate;
  for (const Count t : {1, 10, 100}) {
    replicate.push_back(
        {.t = t,
         .regret = *AnyMetric(),
         .clients = *rc::gen::inRange<Count>(0, 1'000'000'000),
         .reals = *rc::gen::inRange<Count>(0, Count{1} << 40),
         .rounds = *rc::gen::inRange<Count>(0, 100),
         .best_action_rate = *rc::gen::map(rc::gen::inRange(0, 1001), [](int n) { return n / 1000.0; })});
  }
  return replicate;
}

std::vector<Checkpoint> PlainReplicate(double regret) {
  return {{.t = 1, .regret = regret},
          {.t = 10, .regret = 2 * regret},
          {.t = 100, .regret = 3 * regret, .clients = 4}};
}

TEST(ResultsTest, RowsAreTidyAndInOrder) {
  const Folder folder;
  const Spec spec = SmallSpec("a, \"b\"", 1);
  absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder.out(), spec);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Read(folder.csv()), kHeader);
  EXPECT_EQ(Read(folder.out() + "/spec.toml"), spec.toml);
  ASSERT_TRUE(results
                  ->Append({{.t = 1, .regret = 0.5},
                            {.t = 10,
                             .regret = 1.25,
                             .clients = 2,
                             .reals = 6,
                             .bits = 384,
                             .rounds = 1,
                             .best_action_rate = 0.5},
                            {.t = 100,
                             .regret = 3,
                             .clients = 9,
                             .reals = 60,
                             .bits = 700,
                             .rounds = 3,
                             .best_action_rate = 1}})
                  .ok());
  ASSERT_TRUE(results->Append(PlainReplicate(0.1)).ok());
  EXPECT_EQ(Read(folder.csv()), std::string(kHeader) +
                                    "0,dp-dpe,0.8,0,1,0.5,0,0,0,0,0\n"
                                    "0,dp-dpe,0.8,0,10,1.25,2,6,384,1,0.5\n"
                                    "0,dp-dpe,0.8,0,100,3,9,60,700,3,1\n"
                                    "1,\"a, \"\"b\"\"\",0.5,0,1,0.1,0,0,0,0,0\n"
                                    "1,\"a, \"\"b\"\"\",0.5,0,10,0.2,0,0,0,0,0\n"
                                    "1,\"a, \"\"b\"\"\",0.5,0,100,0.30000000000000004,4,0,0,0,0\n");
  EXPECT_EQ(results->done(), 2u);
  EXPECT_EQ(results->values()[0][0][1], (std::vector<double>{1.25, 2, 6, 384, 1, 0.5}));
}

TEST(ResultsTest, EveryMetricIsDocumentedWithItsUnit) {
  const char* source = std::getenv("BANDANA_SOURCE");
  ASSERT_NE(source, nullptr);
  const std::string page = Read(std::string(source) + "/docs/results.md");
  for (const char* run : {R"(algorithm.name = "dp-dpe"
environment = { dimension = 2, actions = 5 })",
                          R"(algorithm.name = "fed-ucb"
environment = { kind = "contextual-linear", dimension = 2, actions = 5 }
federation.agents = 2)",
                          R"(algorithm.name = "cdp-mab"
environment = { kind = "mab", actions = 5 }
federation.agents = 4)",
                          R"(algorithm.name = "ldp-sgd"
environment = { kind = "contextual-linear", dimension = 2, actions = 5 })"}) {
    const auto spec =
        ParseSpec(fmt::format("horizon = 100\n{}\nprivacy.model = \"none\"\n", run), "x.toml", {});
    ASSERT_TRUE(spec.ok()) << spec.status();
    for (const std::string& metric : MetricNames(*spec)) EXPECT_THAT(page, HasSubstr("`" + metric + "`"));
  }
}

TEST(ResultsTest, AnExistingFolderIsLeftAlone) {
  const Folder folder;
  fs::create_directories(folder.out());
  Write(folder.out() + "/mine.txt", "precious");
  const absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder.out(), SmallSpec());
  ASSERT_FALSE(results.ok());
  const std::optional<InputError> error = InputErrorOf(results.status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->file, folder.out());
  EXPECT_THAT(error->accepted, HasSubstr("--resume"));
  EXPECT_EQ(Read(folder.out() + "/mine.txt"), "precious");
  EXPECT_FALSE(fs::exists(folder.csv()));
}

TEST(ResultsTest, AFolderThatCannotBeMadeIsAnInputError) {
  const Folder folder;
  Write(folder.out(), "a file in the way");
  for (const std::string& out : {folder.out() + "/deeper", std::string("/proc/bandana/out")}) {
    const absl::StatusOr<ResultsFile> results = ResultsFile::Create(out, SmallSpec());
    ASSERT_FALSE(results.ok());
    const std::optional<InputError> error = InputErrorOf(results.status());
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->file, out);
    EXPECT_FALSE(error->accepted.empty());
  }
  EXPECT_EQ(Read(folder.out()), "a file in the way");
}

// An interrupted run: a kill leaves a prefix of its results file, and every prefix must be continued
// correctly.
class Interrupted {
 public:
  Interrupted(const std::string& label, std::vector<std::vector<Checkpoint>> replicates)
      : spec_(SmallSpec(label)), replicates_(std::move(replicates)) {
    absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder_.out(), spec_);
    for (const auto& replicate : replicates_) {
      if (!results->Append(replicate).ok()) std::abort();
      ends_.push_back(fs::file_size(folder_.csv()));
    }
    whole_ = Read(folder_.csv());
  }

  std::size_t header() const { return ends_.front(); }
  std::size_t last_replicate() const { return ends_[ends_.size() - 2]; }
  std::size_t size() const { return whole_.size(); }

  /// Continues from the first `cut` bytes and returns what is wrong, or an empty string.
  std::string GoOnFrom(std::size_t cut) const {
    Write(folder_.csv(), whole_.substr(0, cut));
    absl::StatusOr<ResultsFile> results = ResultsFile::Resume(folder_.out(), spec_);
    if (!results.ok()) return results.status().ToString();
    const auto sound =
        static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), cut) - ends_.begin() - 1);
    if (results->done() != sound)
      return fmt::format("{} replicates are done, not {}", results->done(), sound);
    if (Read(folder_.csv()) != whole_.substr(0, ends_[sound])) return "the file is not the whole replicates";
    for (std::size_t i = sound; i < replicates_.size(); ++i) {
      if (!results->Append(replicates_[i]).ok()) return "cannot append";
    }
    if (Read(folder_.csv()) != whole_) return "the file differs at the end";
    for (std::size_t i = 0; i < replicates_.size(); ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        std::vector<double> values;
        for (const std::string& name : CommonMetricNames())
          values.push_back(MetricOf(replicates_[i][j], name));
        if (results->values()[i / 3][i % 3][j] != values) return "the values differ";
      }
    }
    return "";
  }

 private:
  const Folder folder_;
  const Spec spec_;
  const std::vector<std::vector<Checkpoint>> replicates_;
  std::vector<std::size_t> ends_ = {std::string(kHeader).size()};
  std::string whole_;
};

TEST(ResumeTest, FromEveryByteOfTheLastReplicate) {
  for (const char* label : {"plain", "a, \"b\", c", "ε"}) {
    const Interrupted run(
        label, {PlainReplicate(0.1), PlainReplicate(1e-7), PlainReplicate(1e22), PlainReplicate(3)});
    for (std::size_t cut = run.last_replicate(); cut <= run.size(); ++cut) {
      EXPECT_EQ(run.GoOnFrom(cut), "") << label << ", cut at " << cut;
    }
  }
}

RC_GTEST_PROP(ResumeTest, FromAnyPrefixOfAnyFile, ()) {
  std::vector<std::vector<Checkpoint>> replicates(*rc::gen::inRange<std::size_t>(1, 7));
  for (auto& replicate : replicates) replicate = AnyReplicate();
  const Interrupted run(*rc::gen::element<std::string>("plain", "a, \"b\", c", "=1,2", "ε"), replicates);
  for (int i = 0; i < 8; ++i) {
    const auto cut = *rc::gen::inRange(i == 0 ? run.header() : run.last_replicate(), run.size() + 1);
    RC_ASSERT(run.GoOnFrom(cut) == "");
  }
}

class AlteredTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<ResultsFile> results = ResultsFile::Create(folder_.out(), spec_);
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(results->Append(PlainReplicate(i + 0.5)).ok());
    whole_ = Read(folder_.csv());
  }

  void ExpectRefused(const std::string& altered, const std::string& what) {
    ASSERT_NE(altered, whole_) << what;
    Write(folder_.csv(), altered);
    const absl::StatusOr<ResultsFile> results = ResultsFile::Resume(folder_.out(), spec_);
    EXPECT_FALSE(results.ok()) << what;
    if (!results.ok()) {
      const std::optional<InputError> error = InputErrorOf(results.status());
      ASSERT_TRUE(error.has_value()) << what;
      EXPECT_THAT(error->file, StartsWith(folder_.out())) << what;
      EXPECT_FALSE(error->accepted.empty()) << what;
    }
    EXPECT_EQ(Read(folder_.csv()), altered) << what << ": something was lost";
    EXPECT_EQ(Read(folder_.out() + "/spec.toml"), spec_.toml);
  }

  std::string With(const std::string& part, const std::string& other) const {
    std::string text = whole_;
    const std::size_t at = text.find(part);
    return at == std::string::npos ? text : text.replace(at, part.size(), other);
  }

  const Folder folder_;
  const Spec spec_ = SmallSpec();
  std::string whole_;
};

TEST_F(AlteredTest, IsRefusedAndLosesNothing) {
  ExpectRefused("", "an empty file");
  ExpectRefused("point,label\n", "another header");
  ExpectRefused(whole_.substr(1), "a header without its first letter");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,", "0,dp-dpe,0.8,1,2,"), "another round");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,", "0,dp-dpe,0.8,2,1,"), "another replicate");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,", "1,dp-dpe,0.8,1,1,"), "another point");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,", "0,other,0.8,1,1,"), "another label");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,1.5,", "0,dp-dpe,0.8,1,1,x,"), "no number");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,1.5,", "0,dp-dpe,0.8,1,1,1.50,"),
                "a number as it would not be written");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,1.5,", "0,dp-dpe,0.8,1,1,"), "a column less");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,1.5,", "0,dp-dpe,0.8,1,1,1.5,0,"), "a column more");
  ExpectRefused(With("0,dp-dpe,0.8,1,1,1.5,0,0,0,0,0\n", ""), "a row less");
  ExpectRefused(With("\n0,dp-dpe,0.8,1,1,", "\n\n0,dp-dpe,0.8,1,1,"), "an empty row");
  ExpectRefused(With("\n0,", "\r\n0,"), "another line end");
}

TEST_F(AlteredTest, RowsBeyondTheLastAreNotThrownAway) {
  ExpectRefused(whole_ + "2,mine,0,1,0,0,0,0,0,0\n", "a row more");
  ExpectRefused(whole_ + "a note of mine\n", "a note at the end");
}

TEST_F(AlteredTest, AFinishedFileIsAsItWas) {
  const absl::StatusOr<ResultsFile> results = ResultsFile::Resume(folder_.out(), spec_);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->done(), 6u);
  EXPECT_EQ(Read(folder_.csv()), whole_);
}

TEST_F(AlteredTest, AnotherSpecIsRefusedAndLosesNothing) {
  const Spec other = SmallSpec("plain", 4);
  const absl::StatusOr<ResultsFile> results = ResultsFile::Resume(folder_.out(), other);
  ASSERT_FALSE(results.ok());
  const std::optional<InputError> error = InputErrorOf(results.status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->file, folder_.out());
  EXPECT_THAT(error->message, HasSubstr("another spec"));
  EXPECT_EQ(Read(folder_.csv()), whole_);
  EXPECT_EQ(Read(folder_.out() + "/spec.toml"), spec_.toml);
}

TEST(ResumeTest, NothingThereIsAnErrorAndMakesNothing) {
  const Folder folder;
  const absl::StatusOr<ResultsFile> results = ResultsFile::Resume(folder.out(), SmallSpec());
  ASSERT_FALSE(results.ok());
  EXPECT_TRUE(InputErrorOf(results.status()).has_value());
  EXPECT_FALSE(fs::exists(folder.out()));
}

TEST(ResumeTest, ANameTooLongIsAnErrorAndNoException) {
  const Folder folder;
  EXPECT_FALSE(ResultsFile::Resume(folder.out() + "/" + std::string(5000, 'a'), SmallSpec()).ok());
  EXPECT_FALSE(ResultsFile::Create(folder.out() + "/" + std::string(5000, 'a'), SmallSpec()).ok());
}

TEST(ResumeTest, StoppedBeforeTheFirstRow) {
  const Folder folder;
  const Spec spec = SmallSpec();
  ASSERT_TRUE(ResultsFile::Create(folder.out(), spec).ok());
  fs::remove(folder.csv());
  const absl::StatusOr<ResultsFile> results = ResultsFile::Resume(folder.out(), spec);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->done(), 0u);
  EXPECT_EQ(Read(folder.csv()), kHeader);
}

// WriteFile writes the whole file or leaves the old one.
TEST(WriteFileTest, WritesAllOrLeavesTheOld) {
  const Folder folder;
  fs::create_directories(folder.out());
  const std::string path = folder.out() + "/f";
  ASSERT_TRUE(WriteFile(path, "one").ok());
  ASSERT_TRUE(WriteFile(path, "two").ok());
  EXPECT_EQ(Read(path), "two");
  EXPECT_FALSE(fs::exists(path + ".partial"));
  EXPECT_TRUE(InputErrorOf(WriteFile(folder.out() + "/none/f", "three")).has_value());
}

}  // namespace
}  // namespace bandana::lab
