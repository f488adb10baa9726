// Tests of a store that is restored: with all lines of its ledger, with a part of them, and from the wrong
// files.

#include "bandana/store/restore.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/store/anchor.h"
#include "bandana/store/backup.h"
#include "bandana/store/guarded_store.h"
#include "bandana/store/ledger_reader.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/planted_disk.h"
#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

// A deployment whose store was backed up after line 3 and lost after line 8: line 4 to 6 are of run a, and 7
// and 8 of run b.
class RestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    {
      const auto store = Open();
      Charge(*store, 'a', 1, 3);
      ASSERT_TRUE(Commit(*store, {AddInput{1, "x", 1, "an input"}, PutOutput{"x", 1, "an output"}}).ok());
      ASSERT_TRUE(BackUp(store_, copy_, kBegan).ok());
      CopyMirror("mirror3");
      Charge(*store, 'a', 4, 5);
      CopyMirror("mirror5");
      Charge(*store, 'a', 6, 6);
      ASSERT_TRUE(Commit(*store, {EndRun{RunState::kFinished, "", kEnded}}).ok());
      Charge(*store, 'b', 7, 7);
      CopyMirror("mirror7");
      Charge(*store, 'b', 8, 8);
      identity_ = **store->Meta("store");
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(store_ + suffix);
  }

  absl::StatusOr<std::unique_ptr<GuardedStore>> TryToOpen() {
    auto store = SqliteStore::Open(store_);
    if (!store.ok()) return store.status();
    return GuardedStore::Open(*std::move(store),
                              {.mirror = mirror_, .anchor = anchor_, .identity = *IdentityKey::Open(key_)});
  }
  std::unique_ptr<GuardedStore> Open() {
    auto store = TryToOpen();
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  // Charges for epochs first to last, in a transaction each.
  void Charge(Store& store, char run, int first, int last) {
    for (int epoch = first; epoch <= last; ++epoch) {
      Transaction changes;
      if (*store.Lines() == 0) changes.push_back(lines_.header());
      const auto runs = *store.Runs();
      if (runs.empty() || runs.back().run != RunId(run))
        changes.push_back(BeginRun{RunId(run), "spec", kBegan});
      changes.push_back(lines_.Charge(RunId(run), {NodeId{7}, epoch, "q"}, 0.01));
      const absl::Status status = store.Commit(changes);
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  void CopyMirror(const std::string& name) {
    std::filesystem::copy_file(mirror_, folder_ / name);
    std::filesystem::copy_file(HeadPath(mirror_), HeadPath(folder_ / name));
  }
  RestoreParams With(const std::string& mirror, const std::string& anchor) {
    return {.copy = copy_, .store = store_, .mirror = mirror, .anchor = anchor};
  }
  Restored Restore(const RestoreParams& params) {
    const auto restored = store::Restore(params, kEnded);
    EXPECT_TRUE(restored.ok()) << restored.status();
    return restored.ok() ? *restored : Restored();
  }
  // Expects a refusal that names `file` and contains `text`, and leaves no file.
  void ExpectRefused(const RestoreParams& params, absl::StatusCode code, const std::string& file,
                     const std::string& text) {
    const absl::Status status = store::Restore(params, kEnded).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    const auto error = InputErrorOf(status);
    EXPECT_TRUE(error.has_value() && error->file == file) << status;
    EXPECT_FALSE(std::filesystem::exists(params.store));
    EXPECT_FALSE(std::filesystem::exists(params.store + ".part"));
  }
  bool AllSpent(Store& store) {
    const auto state = ReadStoreLedger(store, {}, [](const auto&, auto) { return absl::OkStatus(); });
    EXPECT_TRUE(state.ok()) << state.status();
    return state.ok() && state->accounts.all_spent();
  }

  Folder folder_;
  std::string store_ = folder_ / "store.db";
  std::string copy_ = folder_ / "copy.db";
  std::string mirror_ = folder_ / "mirror.ledger";
  std::string anchor_ = folder_ / "anchor";
  std::string key_ = folder_ / "identity";
  bool has_key_ = IdentityKey::Create(key_).ok();
  LineMaker lines_;
  std::string identity_;
};

TEST_F(RestoreTest, AddsTheLinesOfTheMirrorAndEndsTheRuns) {
  const std::string anchor = Contents(anchor_);
  const std::string mirror = Contents(mirror_);
  const Restored restored = Restore(With(mirror_, anchor_));
  EXPECT_EQ(restored.made, "2027-01-15T08:00:00Z");
  EXPECT_EQ(restored.copied_lines, 4);
  EXPECT_EQ(restored.added_lines, 5);
  EXPECT_EQ(restored.ended_run, RunName(RunId('a')));
  EXPECT_THAT(restored.learned, ElementsAre(RunName(RunId('b'))));
  EXPECT_EQ(restored.all_spent, "");
  EXPECT_EQ(restored.head->hash, ReadSignedHead(anchor_)->head.hash);
  EXPECT_EQ(Contents(anchor_), anchor) << "the anchor is only read";
  EXPECT_EQ(Contents(mirror_), mirror) << "the mirror is only read";

  const auto store = Open();
  EXPECT_EQ(**store->Meta("store"), identity_);
  const auto runs = *store->Runs();
  ASSERT_THAT(runs, SizeIs(2));
  for (const auto& run : runs) EXPECT_EQ(run.state, RunState::kEnded);
  EXPECT_EQ(runs[0].run, RunId('a'));
  EXPECT_THAT(runs[0].why, HasSubstr("restored"));
  EXPECT_EQ(runs[1].run, RunId('b'));
  EXPECT_THAT(runs[1].why, HasSubstr("mirror"));
  EXPECT_LT(absl::AbsDuration(runs[1].began - kBegan), absl::Milliseconds(1));
  EXPECT_THAT(Inputs(*store), IsEmpty());
  EXPECT_THAT(Outputs(*store), IsEmpty());
  EXPECT_FALSE(AllSpent(*store));
  const auto ledger = OpenLedger(*store);
  EXPECT_NEAR(ledger->accounts().Of(NodeId{7}).spent.amount, 0.08, 1e-9) << "somebody forgot what was paid";
  // It goes on with another run; the run that has ended cannot be taken up again.
  Charge(*store, 'c', 9, 10);
  EXPECT_EQ(ReadSignedHead(anchor_)->head.seq, 10);
  EXPECT_FALSE(
      Commit(*store, {EndRun{RunState::kFinished, "", kEnded}, BeginRun{RunId('a'), "", kBegan}}).ok());
}

TEST_F(RestoreTest, WithoutTheMirrorEveryBudgetCountsAsSpent) {
  const Restored restored = Restore(With("", anchor_));
  EXPECT_EQ(restored.added_lines, 0);
  EXPECT_THAT(restored.all_spent, HasSubstr("the anchor knows line 8"));
  // The mirror that was not named has lines that the store lacks, so that it is missed.
  const absl::Status missed = TryToOpen().status();
  EXPECT_EQ(missed.code(), absl::StatusCode::kFailedPrecondition) << missed;
  mirror_ = folder_ / "new.ledger";
  const auto store = Open();
  EXPECT_TRUE(AllSpent(*store));
  EXPECT_EQ(*store->Lines(), 5);
  EXPECT_EQ(ReadSignedHead(anchor_)->head.seq, 4) << "the anchor moves to the restored ledger";
  const auto ledger = OpenLedger(*store);
  ledger->EnterRun(RunId('c'));
  EXPECT_EQ(Release(*ledger, {NodeId{99}, 1, "q"}, 0).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RestoreTest, TheRestoredStoreIsGuardedAsBefore) {
  Restore(With("", anchor_));
  mirror_ = "";
  const std::string old_anchor = Contents(anchor_);
  {
    const auto store = Open();
    Transaction begin = {BeginRun{RunId('c'), "spec", kBegan}};
    ASSERT_TRUE(store->Commit(begin).ok());
  }
  // The copy from before does not fit the anchor any more, and neither does one that is made without it.
  std::filesystem::remove(store_);
  const auto again = store::Restore(With("", anchor_), kEnded);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_NE(again->all_spent, "");
  std::ofstream(anchor_, std::ios::trunc) << old_anchor;
  EXPECT_EQ(TryToOpen().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RestoreTest, AMirrorThatIsBehindTheAnchorDoesNotComplete) {
  const Restored restored = Restore(With(folder_ / "mirror5", anchor_));
  EXPECT_EQ(restored.added_lines, 2);
  EXPECT_THAT(restored.all_spent, HasSubstr("together have only 6 lines"));
  mirror_ = folder_ / "mirror5";
  const auto store = Open();
  EXPECT_TRUE(AllSpent(*store));
  EXPECT_EQ(*store->Lines(), 7);
}

TEST_F(RestoreTest, OneMissingLineIsEnough) {
  const Restored restored = Restore(With(folder_ / "mirror7", anchor_));
  EXPECT_EQ(restored.added_lines, 4);
  EXPECT_THAT(restored.all_spent, HasSubstr("together have only 8 lines"));
  // The newest mirror has as many lines as the restored ledger, but another last one.
  const absl::Status status = TryToOpen().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("or the store was restored without it"));
}

TEST_F(RestoreTest, ALineOfTheMirrorThatWasBeingWrittenIsLeftOut) {
  std::ofstream(mirror_, std::ios::app) << "{\"seq\":9,";
  const Restored restored = Restore(With(mirror_, anchor_));
  EXPECT_EQ(restored.added_lines, 5);
  EXPECT_EQ(restored.all_spent, "");
}

TEST_F(RestoreTest, AMirrorThatHasNothingNewAddsNothing) {
  const Restored restored = Restore(With(folder_ / "mirror3", anchor_));
  EXPECT_EQ(restored.added_lines, 0);
  EXPECT_NE(restored.all_spent, "");
}

TEST_F(RestoreTest, ACopyThatHasTheAnchorsLineNeedsNoMirror) {
  Restore(With(mirror_, anchor_));
  std::filesystem::remove(copy_);
  ASSERT_TRUE(BackUp(store_, copy_, kBegan).ok());
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(store_ + suffix);
  for (const std::string& mirror : {std::string(), folder_ / "mirror5", mirror_}) {
    const Restored restored = Restore(With(mirror, anchor_));
    EXPECT_EQ(restored.copied_lines, 9);
    EXPECT_EQ(restored.added_lines, 0);
    EXPECT_EQ(restored.all_spent, "");
    EXPECT_EQ(restored.ended_run, "");
    std::filesystem::remove(store_);
  }
}

TEST_F(RestoreTest, AnAnchorThatTheStoreHadIsMissed) {
  ExpectRefused(With(mirror_, ""), absl::StatusCode::kFailedPrecondition, copy_, "--anchor-is-lost");
  ExpectRefused(With(mirror_, folder_ / "none"), absl::StatusCode::kNotFound, folder_ / "none",
                "no such file");
  RestoreParams params = With(mirror_, "");
  params.anchor_is_lost = true;
  const Restored restored = Restore(params);
  EXPECT_EQ(restored.added_lines, 5);
  EXPECT_THAT(restored.all_spent, HasSubstr("the anchor is lost"));
  std::filesystem::remove(anchor_);
  const auto store = Open();  // it makes an anchor anew
  EXPECT_TRUE(AllSpent(*store));
  EXPECT_EQ(ReadSignedHead(anchor_)->head.seq, 9);
}

TEST_F(RestoreTest, WithoutAnyAnchorEveryBudgetCountsAsSpent) {
  lines_ = LineMaker();
  {
    const auto store = SqliteStore::Open(folder_ / "plain.db");
    Charge(**store, 'a', 1, 2);
  }
  const Restored restored = Restore({.copy = folder_ / "plain.db", .store = folder_ / "restored.db"});
  EXPECT_EQ(restored.made, "");
  EXPECT_THAT(restored.all_spent, HasSubstr("there is no anchor"));
  const auto store = SqliteStore::Open(folder_ / "restored.db");
  EXPECT_TRUE(AllSpent(**store));
}

TEST_F(RestoreTest, APlainCopyIsRestoredToo) {
  lines_ = LineMaker();
  const std::string plain = folder_ / "plain.db";
  {
    const auto store = SqliteStore::Open(plain);
    Charge(**store, 'a', 1, 2);
    ASSERT_TRUE(
        Commit(**store, {AddInput{1, "x", 1, "y"}, PutSnapshot{1, 1, "s"}, PutOutput{"x", 1, "y"}}).ok());
  }
  Restore({.copy = plain, .store = folder_ / "restored.db"});
  const auto store = SqliteStore::Open(folder_ / "restored.db");
  EXPECT_EQ((*store)->Runs()->back().state, RunState::kEnded);
  EXPECT_FALSE((*store)->Snapshot()->has_value());
  EXPECT_THAT(Outputs(**store), IsEmpty());
}

TEST_F(RestoreTest, AnchorsAndMirrorsOfOthersAreRefused) {
  const std::string other = folder_ / "other.db";
  {
    lines_ = LineMaker();
    auto store = SqliteStore::Open(other);
    auto guarded = GuardedStore::Open(
        *std::move(store),
        {.mirror = folder_ / "other.ledger", .anchor = folder_ / "other.anchor", .identity = std::nullopt});
    Charge(**guarded, 'o', 11, 13);
  }
  ExpectRefused(With(mirror_, folder_ / "other.anchor"), absl::StatusCode::kFailedPrecondition,
                folder_ / "other.anchor", "anchor of the store");
  ExpectRefused(With(folder_ / "other.ledger", anchor_), absl::StatusCode::kFailedPrecondition,
                folder_ / "other.ledger", "the mirror of another ledger");
}

TEST_F(RestoreTest, AMirrorThatWasAlteredIsRefused) {
  std::string mirror = Contents(mirror_);
  mirror[mirror.size() / 2] ^= 1;
  std::ofstream(mirror_, std::ios::trunc) << mirror;
  ExpectRefused(With(mirror_, anchor_), absl::StatusCode::kDataLoss, mirror_, "");
}

TEST_F(RestoreTest, AnAnchorThatWasAlteredIsRefused) {
  const PublicKey key = IdentityKey::Open(key_)->public_key();
  RestoreParams params = With(mirror_, anchor_);
  params.key = &key;
  Restore(params);
  std::filesystem::remove(store_);
  // Whoever moves the anchor back to a line of the copy would hide that lines are missing.
  auto head = *ReadSignedHead(anchor_);
  head.head = {2, *HashOfLine(**SqliteStore::OpenToRead(copy_), 2).value()};
  std::ofstream(anchor_, std::ios::trunc) << FormatSignedHead(head);
  ExpectRefused(params, absl::StatusCode::kDataLoss, anchor_, "not signed by the key");
  head.head = {8, std::string(64, 'a')};
  std::ofstream(anchor_, std::ios::trunc) << FormatSignedHead(head);
  ExpectRefused(With(mirror_, anchor_), absl::StatusCode::kFailedPrecondition, anchor_,
                "is not the line that the anchor knows");
}

TEST_F(RestoreTest, ACopyThatWentOnElsewhereIsRefused) {
  // Somebody has used a plain copy of the store as a store.
  std::filesystem::remove(mirror_);
  Restored restored = Restore(With(folder_ / "mirror3", anchor_));
  std::filesystem::rename(store_, folder_ / "fork.db");
  {
    auto store = SqliteStore::Open(folder_ / "fork.db");
    for (int epoch = 20; epoch < 30; ++epoch) {
      LedgerEntry all;
      all.all_spent = "again";
      const auto head = **HeadOf(**store);
      const std::string content = FormatEntry(all, Measure::kApproximateDp, head.seq + 1, kBegan);
      std::string line = Join(content, ChainHash(head.hash, content));
      line.pop_back();
      ASSERT_TRUE(Commit(**store, {AddLine{head.seq + 1, line}}).ok());
    }
  }
  RestoreParams params = With("", anchor_);
  params.copy = folder_ / "fork.db";
  ExpectRefused(params, absl::StatusCode::kFailedPrecondition, anchor_, "a store went on from an old copy");
}

TEST_F(RestoreTest, WithoutTheFirstLineNobodyKnowsTheBudgets) {
  lines_ = LineMaker();
  {
    ASSERT_TRUE(SqliteStore::Open(folder_ / "empty.db").ok());
  }
  ExpectRefused({.copy = folder_ / "empty.db", .store = folder_ / "restored.db"},
                absl::StatusCode::kFailedPrecondition, folder_ / "empty.db", "Name a mirror of the ledger");
  const Restored restored =
      Restore({.copy = folder_ / "empty.db", .store = folder_ / "restored.db", .mirror = mirror_});
  EXPECT_EQ(restored.added_lines, 9);
  EXPECT_THAT(restored.learned, SizeIs(2));
  EXPECT_NE(restored.all_spent, "");
}

TEST_F(RestoreTest, OverwritesNothing) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::ofstream(store_ + suffix) << "something else";
    const absl::Status status = store::Restore(With(mirror_, anchor_), kEnded).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
    EXPECT_EQ(InputErrorOf(status)->file, store_ + suffix);
    EXPECT_EQ(Contents(store_ + suffix), "something else");
    std::filesystem::remove(store_ + suffix);
  }
  Restore(With(mirror_, anchor_));
}

TEST_F(RestoreTest, ADamagedCopyIsRefusedOrRestoredAsItWas) {
  constexpr std::size_t kPage = 8192;
  const std::string good = Contents(copy_);
  const std::vector<AddLine> lines = Lines(**SqliteStore::OpenToRead(copy_));
  int refused = 0;
  for (std::size_t page = 0; page < good.size() / kPage; ++page) {
    std::string bad = good;
    bad.replace(page * kPage, kPage, kPage, page % 2 == 0 ? '\0' : '\x5a');
    std::ofstream(copy_, std::ios::binary | std::ios::trunc) << bad;
    const auto restored = store::Restore(With("", anchor_), kEnded);
    if (restored.ok()) {  // a page of an index, which is made anew
      const auto store = SqliteStore::OpenToRead(store_);
      std::vector<AddLine> left = Lines(**store);
      left.pop_back();  // all budgets are spent
      EXPECT_EQ(left, lines) << page;
      EXPECT_EQ((*store)->Runs()->size(), 1) << page;
      EXPECT_EQ((*store)->Meta("store")->value(), identity_) << page;
    } else {
      EXPECT_EQ(restored.status().code(), absl::StatusCode::kDataLoss) << page << restored.status();
      EXPECT_FALSE(std::filesystem::exists(store_));
      ++refused;
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(store_ + suffix);
  }
  EXPECT_GE(refused, 4);
  std::ofstream(copy_, std::ios::binary | std::ios::trunc) << good.substr(0, 20'000);
  ExpectRefused(With("", anchor_), absl::StatusCode::kDataLoss, copy_, "damaged");
}

TEST_F(RestoreTest, LeavesNothingIfTheDiskFailsOrIsFull) {
  for (int at = 1; at <= 5; ++at) {
    PlantedDisk disk;
    if (at <= 3) {
      disk.sync_fails_at = static_cast<std::uint64_t>(at);
    } else {
      disk.quota = std::filesystem::file_size(copy_) + 20'000 * static_cast<std::uint64_t>(at);
    }
    const absl::Status status = store::Restore(With(mirror_, anchor_), kEnded).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << at << ": " << status;
    EXPECT_FALSE(std::filesystem::exists(store_));
    EXPECT_FALSE(std::filesystem::exists(store_ + ".part"));
  }
  EXPECT_EQ(Restore(With(mirror_, anchor_)).all_spent, "");
}

TEST_F(RestoreTest, ThereIsAStoreOnlyWhenItIsWhole) {
  const absl::Time begin = absl::Now();
  Restore(With(mirror_, anchor_));
  const auto duration = static_cast<std::uint64_t>(absl::ToInt64Microseconds(absl::Now() - begin));
  std::filesystem::remove(store_);
  std::mt19937_64 random(1);
  int killed = 0;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(store::Restore(With(mirror_, anchor_), kEnded).ok() ? 0 : 1);
    usleep(static_cast<useconds_t>(random() % duration));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    if (!std::filesystem::exists(store_)) {
      ++killed;
      Restore(With(mirror_, anchor_));
    }
    const auto store = SqliteStore::Open(store_);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ(*(*store)->Lines(), 9);
    EXPECT_FALSE(AllSpent(**store));
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(store_ + suffix);
  }
  EXPECT_GT(killed, 2) << "hardly anything was tested";
}

}  // namespace
}  // namespace bandana::store
