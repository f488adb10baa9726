#include "bandana/privacy/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "tests/privacy/ledger_support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

TEST_F(LedgerTest, KeepsWhatWasChargedAndDrawn) {
  Units first;
  {
    const auto ledger = Open();
    EXPECT_EQ(ledger->accounts().releases(), 0);
    first = *Once(*ledger, {NodeId{0}, 1}, 0.25, {3, 1, 2});
    EXPECT_EQ(*Once(*ledger, {NodeId{0}, 1}, 0.25, {3, 1, 2}), first);
    EXPECT_EQ(ledger->accounts().largest(), (Loss{0.25, 0.0625}));
  }
  const auto ledger = Open();
  EXPECT_EQ(ledger->torn_bytes(), 0u);
  EXPECT_EQ(*Once(*ledger, {NodeId{0}, 1}, 0.25, {1, 2, 3}), first) << "after a restart too";
  EXPECT_EQ(drawer_.draws, 1);
  EXPECT_EQ(ledger->accounts().releases(), 1);
  EXPECT_EQ(ledger->accounts().units(), 3u);
  EXPECT_EQ(ledger->accounts().Of(NodeId{2}).spent, (Loss{0.25, 0.0625}));
  EXPECT_NE(*Once(*ledger, {NodeId{0}, 2}, 0.25, {1}), first);
  EXPECT_NE(*Once(*ledger, {NodeId{1}, 1}, 0.25, {1}), first);
  EXPECT_EQ(ledger->accounts().Of(NodeId{1}).spent, (Loss{0.75, 0.1875}));
  EXPECT_EQ(ledger->head().seq, 3u);
}

// The format is a promise: docs/ledger.md tells an officer how to recompute it.
TEST_F(LedgerTest, LinesAreJsonChainedBySha256) {
  WriteSmall();
  const std::vector<std::string> lines = absl::StrSplit(Slurp(path_), '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[4], "");
  std::string previous(64, '0');
  for (int i = 0; i < 4; ++i) {
    const std::size_t at = lines[i].rfind(",\"hash\":\"");
    const std::string hash = lines[i].substr(at + 9, 64);
    EXPECT_EQ(hash, Sha256(previous + lines[i].substr(0, at)));
    EXPECT_EQ(lines[i].substr(at + 9 + 64), "\"}");
    previous = hash;
  }
  EXPECT_THAT(lines[0], ::testing::StartsWith(R"({"seq":0,"kind":"bandana-ledger","format":2,"time":"20)"));
  EXPECT_THAT(lines[0], HasSubstr(R"("deployment":"a \"small\"\u000adeployment \\ of ours",)"));
  EXPECT_THAT(lines[0], HasSubstr(R"("measure":"approximate-dp","budget":{"epsilon":1,"delta":0.5},)"
                                  R"("deployment_budget":null)"));
  EXPECT_THAT(lines[1],
              HasSubstr(R"("node":0,"epoch":1,"question":"","guarantee":{"epsilon":0.25,"delta":0.0625},)"
                        R"("loss":{"epsilon":0.25,"delta":0.0625},"units":"1-3",)"
                        R"("bits":33,"quorum":5,)"
                        R"("draw":[1,-1,4611686018427387904])"));
  EXPECT_THAT(lines[2], HasSubstr(R"("units":"1,9")"));
  EXPECT_EQ(Slurp(head_path_), "{\"seq\":3,\"hash\":\"" + previous + "\"}\n");
  EXPECT_EQ(Verify(path_)->head.hash, previous);
}

TEST_F(LedgerTest, IsItsOwnersAlone) {
  WriteSmall();
  for (const std::string& path : {path_, head_path_}) {
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << path;
  }
}

TEST_F(LedgerTest, OverBudgetNothingIsDrawnOrWritten) {
  const auto ledger = Open();
  ASSERT_TRUE(Once(*ledger, {NodeId{0}, 1}, 0.75, {1, 2}).ok());
  const std::string before = Slurp(path_);
  const auto refused = Once(*ledger, {NodeId{0}, 2}, 0.5, {4, 2, 5});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("client 2"));
  EXPECT_EQ(drawer_.draws, 1);
  EXPECT_EQ(Slurp(path_), before);
  EXPECT_EQ(ledger->accounts().Of(NodeId{4}).releases, 0) << "refused whole";
  EXPECT_TRUE(Once(*ledger, {NodeId{0}, 2}, 0.25, {4, 2, 5}).ok()) << "a cheaper one can still be paid";
}

TEST_F(LedgerTest, TheBudgetOutlivesTheProcess) {
  ASSERT_TRUE(Once(*Open(), {NodeId{0}, 1}, 0.75, {1}).ok());
  EXPECT_EQ(Once(*Open(), {NodeId{0}, 2}, 0.5, {1}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(LedgerTest, TheDeploymentsFilterCountsEveryRelease) {
  LedgerHeader header = Header();
  header.limits.deployment = Loss{1, 1};
  const auto ledger = *Ledger::Open(path_, header, Durability::kEach);
  ASSERT_TRUE(Once(*ledger, {NodeId{0}, 1}, 0.75, {1}).ok());
  const auto refused = Once(*ledger, {NodeId{0}, 2}, 0.5, {2});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("deployment"));
  EXPECT_TRUE(Once(*ledger, {NodeId{0}, 2}, 0.25, {2}).ok());
  EXPECT_EQ(ledger->accounts().total(), (Loss{1, 0.125}));
}

TEST_F(LedgerTest, AFailedDrawLeavesNothingAndCostsNothing) {
  const auto ledger = Open();
  const std::string before = Slurp(path_);
  drawer_.fails = true;
  EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.75, {1}).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Slurp(path_), before);
  drawer_.fails = false;
  EXPECT_TRUE(Once(*ledger, {NodeId{0}, 1}, 0.75, {1}).ok());
}

TEST_F(LedgerTest, RefusesChargesThatAreNone) {
  const auto ledger = Open();
  const std::string before = Slurp(path_);
  for (const double bad : {-0.5, std::nan(""), HUGE_VAL}) {
    const auto refused = Once(*ledger, {NodeId{0}, 1}, bad, {1});
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("epsilon"));
  }
  EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.5, {}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.5, {2, 1, 2}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(drawer_.draws, 0);
  EXPECT_EQ(Slurp(path_), before);
}

TEST_F(LedgerTest, RefusesBudgetsThatAreNone) {
  for (const double bad : {-1., std::nan(""), HUGE_VAL}) {
    LedgerHeader header = Header();
    header.limits.per_unit.amount = bad;
    EXPECT_THAT(std::string(OpenStatus(header).message()), HasSubstr("ledger.budget.epsilon"));
    header = Header();
    header.limits.deployment = Loss{1, bad};
    EXPECT_THAT(std::string(OpenStatus(header).message()), HasSubstr("ledger.deployment_budget.delta"));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LedgerTest, GroupedChargesAreDurableAfterCommit) {
  {
    const auto ledger = Open(Durability::kGrouped);
    const std::string before = Slurp(path_);
    const auto first = Once(*ledger, {NodeId{1}, 1}, 0.25, {1});
    ASSERT_TRUE(first.ok() && Once(*ledger, {NodeId{2}, 1}, 0.25, {2}).ok());
    EXPECT_EQ(*Once(*ledger, {NodeId{1}, 1}, 0.25, {1}), *first);
    EXPECT_EQ(Slurp(path_), before);
    ASSERT_TRUE(ledger->Commit().ok());
    EXPECT_EQ(Verify(path_)->head.seq, 2u);
    ASSERT_TRUE(Once(*ledger, {NodeId{3}, 1}, 0.25, {3}).ok());
  }
  EXPECT_EQ(Open()->head().seq, 2u) << "what was not committed did not leave and is not charged";
}

TEST_F(LedgerTest, OneWriterAtATime) {
  auto ledger = Open();
  const absl::Status second = OpenStatus();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.message()), HasSubstr("another process"));
  EXPECT_EQ(InputErrorOf(second)->file, path_);
  EXPECT_TRUE(Verify(path_).ok()) << "reading needs no lock";
  ledger.reset();
  EXPECT_TRUE(OpenStatus().ok());
}

TEST_F(LedgerTest, NothingLeavesOnceTheFileIsNotItsOwn) {
  const auto touch = [&](const std::string& how) {
    if (how == "appended") std::ofstream(path_, std::ios::app) << "x";
    if (how == "cut") std::filesystem::resize_file(path_, 10);
    if (how == "removed") std::filesystem::remove(path_);
    if (how == "replaced") std::filesystem::rename(folder_ / "copy", path_);
  };
  for (const std::string how : {"appended", "cut", "removed", "replaced"}) {
    std::filesystem::remove(path_);
    std::filesystem::remove(head_path_);
    const auto ledger = Open();
    std::filesystem::copy_file(path_, folder_ / "copy", std::filesystem::copy_options::overwrite_existing);
    touch(how);
    EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.25, {1}).status().code(), absl::StatusCode::kAborted) << how;
    EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.25, {1}).status().code(), absl::StatusCode::kAborted)
        << how << ": not by asking again either";
    EXPECT_EQ(Once(*ledger, {NodeId{0}, 2}, 0.25, {1}).status().code(), absl::StatusCode::kAborted) << how;
  }
}

TEST_F(LedgerTest, NothingLeavesIfTheHeadCannotBeWritten) {
  const auto ledger = Open();
  std::filesystem::create_directory(head_path_ + ".new");
  EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.25, {1}).status().code(), absl::StatusCode::kUnavailable);
  std::filesystem::remove(head_path_ + ".new");
  EXPECT_EQ(Once(*ledger, {NodeId{0}, 1}, 0.25, {1}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(LedgerTest, RefusesTheLedgerOfAnotherDeployment) {
  WriteSmall();
  const std::string before = Slurp(path_);
  const auto refused = [&](const std::string& part, const std::function<void(LedgerHeader&)>& change) {
    LedgerHeader header = Header();
    change(header);
    const absl::Status status = OpenStatus(header);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << part;
    EXPECT_THAT(std::string(status.message()), ::testing::AllOf(HasSubstr(path_), HasSubstr(part)));
  };
  refused("name", [](LedgerHeader& header) { header.deployment = "another"; });
  refused("configuration", [](LedgerHeader& header) { header.configuration = "4567"; });
  refused("claims", [](LedgerHeader& header) { header.claims.front().unit = "one reward"; });
  refused("claims", [](LedgerHeader& header) { header.claims.pop_back(); });
  refused("void", [](LedgerHeader& header) { header.void_reason.clear(); });
  refused("claims", [](LedgerHeader& header) { header.claims.front().neighbours = "add-remove"; });
  refused("claims", [](LedgerHeader& header) { header.claims.front().proof = "another"; });
  refused("measure", [](LedgerHeader& header) { header.limits.measure = Measure::kZcdp; });
  refused("client", [](LedgerHeader& header) { header.limits.per_unit.amount = 2; });
  refused("client", [](LedgerHeader& header) { header.limits.per_unit.delta = 0.25; });
  refused("all releases", [](LedgerHeader& header) { header.limits.deployment = Loss{9, 1}; });
  EXPECT_EQ(Slurp(path_), before);
}

TEST_F(LedgerTest, DoesNotTouchAFileThatIsNoLedger) {
  for (const std::string text : {"notes", "horizon = 3\n", "{}\n", "\n", "{\"seq\":1"}) {
    Spill(path_, text);
    EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_EQ(Slurp(path_), text);
  }
  EXPECT_EQ(Verify(folder_ / "none").status().code(), absl::StatusCode::kNotFound);
  for (const std::string& path : {folder_ / "none/ledger", folder_ / ".", std::string()}) {
    const absl::Status status = Ledger::Open(path, Header(), Durability::kEach).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(InputErrorOf(status)->file, path);
  }
}

TEST_F(LedgerTest, AHeadMissesALedgerThatIsGone) {
  WriteSmall();
  std::filesystem::remove(path_);
  const absl::Status status = Verify(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("all lines were removed"));
  EXPECT_EQ(InputErrorOf(status)->file, path_);
}

TEST_F(LedgerTest, OtherMeasuresAddUpInTheirOwn) {
  LedgerHeader header = Header();
  header.limits = {.measure = Measure::kZcdp, .per_unit = {0.5, 0}, .deployment = Loss{2, 0}};
  const auto once = [&](Ledger& ledger, Epoch epoch, double rho) {
    return ledger
        .Once({NodeId{0}, epoch}, {{3, 1e-6}, {rho, 0}}, {NodeId{1}},
              []() -> absl::StatusOr<Report> { return Wire::FromUnits(NodeId{0}, {1}); })
        .status();
  };
  {
    const auto ledger = *Ledger::Open(path_, header, Durability::kEach);
    EXPECT_TRUE(once(*ledger, 1, 0.375).ok());
    EXPECT_THAT(std::string(once(*ledger, 2, 0.25).message()), HasSubstr("rho 0.625"));
  }
  const auto ledger = *Ledger::Open(path_, header, Durability::kEach);
  EXPECT_TRUE(once(*ledger, 2, 0.125).ok());
  EXPECT_EQ(ledger->accounts().largest(), (Loss{0.5, 0}));
  EXPECT_THAT(Slurp(path_),
              HasSubstr(R"("guarantee":{"epsilon":3,"delta":1e-06},"loss":{"rho":0.375,"delta":0})"));
}

}  // namespace
}  // namespace bandana
