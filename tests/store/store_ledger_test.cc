#include "bandana/store/store_ledger.h"

#include "tests/store/support.h"

namespace bandana::store {
namespace {

const ReleaseKey kFirst{NodeId{7}, 1, "a question"};
const ReleaseKey kSecond{NodeId{7}, 2, "a question"};

std::vector<std::int64_t> Units(const absl::StatusOr<Report>& report) {
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? Wire::Units(*report) : std::vector<std::int64_t>();
}

class StoreLedgerTest : public ::testing::Test {
 protected:
  void SetUp() override { Restart(); }
  // The process ends, and another one goes on.
  void Restart() {
    ledger_ = nullptr;
    store_ = std::make_unique<MemoryStore>(disk_);
    ledger_ = OpenLedger(*store_);
    const auto runs = *store_->Runs();
    if (runs.empty() || runs.back().state != RunState::kOpen) return;
    ledger_->EnterRun(runs.back().run);
    const absl::Status status = ledger_->AddJournal(*store_, sealer_);
    ASSERT_TRUE(status.ok()) << status;
  }
  void BeginRunAs(char letter) {
    ledger_->EnterRun(RunId(letter));
    CommitWith({BeginRun{RunId(letter), "spec", kBegan}});
  }
  absl::Status TryToCommit(Transaction changes) {
    ledger_->MoveChangesTo(changes, sealer_);
    return store_->Commit(changes);
  }
  void CommitWith(Transaction changes = {}) {
    const absl::Status status = TryToCommit(std::move(changes));
    ASSERT_TRUE(status.ok()) << status;
  }
  double Spent() const { return ledger_->accounts().Of(NodeId{7}).spent.amount; }

  MemoryDisk disk_;
  Ratchet ratchet_ = Ratchet::InMemory();
  Sealer sealer_{ratchet_};
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<StoreLedger> ledger_;
};

TEST_F(StoreLedgerTest, ChargesOnceAndDrawsOnce) {
  BeginRunAs('a');
  EXPECT_FALSE(ledger_->has_changes());
  const auto first = Units(Release(*ledger_, kFirst));
  EXPECT_TRUE(ledger_->has_changes());
  EXPECT_EQ(Units(Release(*ledger_, kFirst)), first);
  EXPECT_EQ(Spent(), 0.25);
  CommitWith();
  EXPECT_FALSE(ledger_->has_changes());
  EXPECT_EQ(Units(Release(*ledger_, kFirst)), first);
  EXPECT_FALSE(ledger_->has_changes());
  EXPECT_THAT(Lines(*store_), SizeIs(2));
  EXPECT_THAT(Draws(*store_), SizeIs(1));
}

TEST_F(StoreLedgerTest, DrawsTheSameAgainAfterACrash) {
  BeginRunAs('a');
  const auto first = Units(Release(*ledger_, kFirst));
  CommitWith();
  Restart();
  EXPECT_EQ(Spent(), 0.25);
  EXPECT_EQ(Units(Release(*ledger_, kFirst)), first);
  EXPECT_EQ(Spent(), 0.25);
  EXPECT_FALSE(ledger_->has_changes());
}

TEST_F(StoreLedgerTest, ForgetsWhatWasNotCommitted) {
  BeginRunAs('a');
  const auto first = Units(Release(*ledger_, kFirst));
  Restart();  // nothing of it has left
  EXPECT_EQ(Spent(), 0);
  EXPECT_NE(Units(Release(*ledger_, kFirst)), first);
  EXPECT_EQ(Spent(), 0.25);
}

TEST_F(StoreLedgerTest, ARerunDrawsAnewAndPaysAnew) {
  BeginRunAs('a');
  const auto first = Units(Release(*ledger_, kFirst));
  CommitWith();
  CommitWith({EndRun{RunState::kFinished, "", kEnded}});
  Restart();
  BeginRunAs('b');
  EXPECT_NE(Units(Release(*ledger_, kFirst)), first);
  EXPECT_EQ(Spent(), 0.5);
  CommitWith();
  EXPECT_THAT(Lines(*store_)[1].line, HasSubstr(RunName(RunId('a'))));
  EXPECT_THAT(Lines(*store_)[2].line, HasSubstr(RunName(RunId('b'))));
}

TEST_F(StoreLedgerTest, NoLineHoldsADraw) {
  BeginRunAs('a');
  (void)Units(Release(*ledger_, kFirst));
  CommitWith();
  EXPECT_THAT(Lines(*store_)[1].line, ::testing::Not(HasSubstr("draw")));
  const auto seed = ledger_->SeedOf(kFirst);
  const std::string body = Draws(*store_)[0].body;
  EXPECT_EQ(body.find(std::string(seed->begin(), seed->end())), std::string::npos)
      << "the seed is not sealed";
}

TEST_F(StoreLedgerTest, AnErasedDrawIsNotMadeAgain) {
  BeginRunAs('a');
  (void)Units(Release(*ledger_, kFirst));
  Transaction changes;
  ledger_->MoveChangesTo(changes, sealer_);
  changes.push_back(PutSnapshot{1, 0, "s"});
  ASSERT_TRUE(store_->Commit(changes).ok());
  ledger_->EraseDraws();
  for (int process = 0; process < 2; ++process) {
    const absl::Status status = Release(*ledger_, kFirst).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("with other noise"));
    const absl::Status once =
        ledger_->Once(kFirst, {{0.25, 0}, {0.25, 0}}, NodeId{7}, [] { return ReportOf(Key{}); }).status();
    EXPECT_EQ(once.code(), absl::StatusCode::kFailedPrecondition) << once;
    Restart();
  }
  EXPECT_TRUE(Release(*ledger_, kSecond).ok());
}

TEST_F(StoreLedgerTest, ADrawWithoutASeedIsRefusedUnlessTheClaimsAreVoid) {
  BeginRunAs('a');
  const auto once = [](StoreLedger& ledger) {
    return ledger.Once(kFirst, {{0.25, 0}, {0.25, 0}}, NodeId{7}, [] { return ReportOf(Key{}); }).status();
  };
  EXPECT_EQ(once(*ledger_).code(), absl::StatusCode::kFailedPrecondition);
  MemoryDisk disk;
  MemoryStore store(disk);
  LedgerHeader header = SmallHeader();
  header.void_reason = "the seed is known";
  const auto ledger = OpenLedger(store, header);
  ledger->EnterRun(RunId('a'));
  EXPECT_TRUE(once(*ledger).ok());
}

TEST_F(StoreLedgerTest, KeepsTheBudgetOverRuns) {
  BeginRunAs('a');
  ASSERT_TRUE(Release(*ledger_, kFirst, 0.75).ok());
  CommitWith();
  CommitWith({EndRun{RunState::kFinished, "", kEnded}});
  Restart();
  BeginRunAs('b');
  const absl::Status status = Release(*ledger_, kFirst, 0.5).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_FALSE(ledger_->has_changes());
  EXPECT_TRUE(Release(*ledger_, kSecond, 0.25).ok());
  EXPECT_EQ(Release(*ledger_, {NodeId{7}, 3}, 1e-9).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(StoreLedgerTest, ADrawThatFailsCostsNothing) {
  BeginRunAs('a');
  ASSERT_TRUE(ledger_->SeedOf(kFirst).ok());
  const auto failed =
      ledger_->Once(kFirst, {{0.25, 0}, {0.25, 0}}, NodeId{7},
                    []() -> absl::StatusOr<Report> { return absl::InternalError("no draw"); });
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Spent(), 0);
  EXPECT_FALSE(ledger_->has_changes());
}

// The planted fault: an engine that commits a message, a snapshot or the end without the ledger's charges.
TEST_F(StoreLedgerTest, NoMessageIsStoredBeforeItsCharge) {
  const Transaction early = {PutOutput{"a", 1, "x"}, PutSnapshot{1, 0, "s"},
                             EndRun{RunState::kFinished, "", kEnded}};
  char run = 'a';
  for (const Change& change : early) {
    disk_ = MemoryDisk();
    Restart();
    BeginRunAs(run++);
    ASSERT_TRUE(Release(*ledger_, kFirst).ok());
    const absl::Status status = store_->Commit({&change, 1});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("charges that the store does not hold"));
  }
  disk_ = MemoryDisk();
  Restart();
  BeginRunAs(run);
  ASSERT_TRUE(Release(*ledger_, kFirst).ok());
  CommitWith({PutOutput{"a", 1, "x"}});
}

TEST_F(StoreLedgerTest, IsOfOneDeployment) {
  BeginRunAs('a');
  Restart();
  ledger_ = nullptr;
  for (const auto& [change, what] : std::vector<std::pair<std::function<void(LedgerHeader&)>, std::string>>{
           {[](LedgerHeader& header) { header.deployment = "another"; }, "name is 'small', not 'another'"},
           {[](LedgerHeader& header) { header.configuration = "ff"; }, "configuration"},
           {[](LedgerHeader& header) { header.limits.per_unit.amount = 2; }, "budget of a client"},
           {[](LedgerHeader& header) { header.void_reason = "why"; }, "void"}}) {
    LedgerHeader header = SmallHeader();
    change(header);
    const absl::Status status = StoreLedger::Open(*store_, header).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  }
}

TEST_F(StoreLedgerTest, AllBudgetsCanBeDeclaredSpent) {
  BeginRunAs('a');
  ASSERT_TRUE(Release(*ledger_, kFirst).ok());
  CommitWith();
  CommitWith({EndRun{RunState::kEnded, "restored", kEnded}});
  LedgerEntry all;
  all.all_spent = "restored from a back-up";
  const std::string content = FormatEntry(all, Measure::kApproximateDp, 2, kBegan);
  std::string line = Join(content, ChainHash(ledger_->head().hash, content));
  line.pop_back();
  CommitWith({AddLine{2, line}});
  Restart();
  EXPECT_EQ(ledger_->accounts().largest().amount, 1);
  EXPECT_EQ(ledger_->accounts().Of(NodeId{9}).spent.amount, 1);
  BeginRunAs('b');
  EXPECT_EQ(Release(*ledger_, kFirst, 0, NodeId{9}).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace bandana::store
