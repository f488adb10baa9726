// Tests of reading a store's ledger, and of names of stores.

#include "bandana/store/ledger_reader.h"

#include <fstream>

#include "bandana/core/status.h"
#include "bandana/store/database.h"
#include "bandana/store/sqlite_store.h"
#include "bandana/store/store_name.h"
#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

absl::StatusOr<LedgerState> ReadAll(Store& store, const ReadOptions& options = {}) {
  return ReadStoreLedger(store, options, [](const auto&, auto) { return absl::OkStatus(); });
}

class LedgerReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = SqliteStore::Open(path_);
    Transaction changes = {lines_.header(), BeginRun{RunId('a'), "spec", kBegan}};
    for (int epoch = 1; epoch <= 3; ++epoch) {
      changes.push_back(lines_.Charge(RunId('a'), {NodeId{7}, epoch, "q"}));
    }
    const LedgerHead last{3, std::string(Split(std::get<AddLine>(changes.back()).line)->hash)};
    changes.push_back(
        PutMeta{kHeadMeta, FormatSignedHead(SignHead("0123abcd", "store", last, kBegan, nullptr))});
    const absl::Status status = (*store)->Commit(changes);
    ASSERT_TRUE(status.ok()) << status;
  }
  std::unique_ptr<SqliteStore> Open() { return *SqliteStore::OpenToRead(path_); }
  void Alter(const std::string& sql) {
    auto database = Database::Open(path_, Database::Access::kWrite);
    const absl::Status status = (*database)->Run(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
  void ExpectFault(const std::string& text) {
    const absl::Status status = ReadAll(*Open()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_EQ(InputErrorOf(status)->file, path_);
  }

  Folder folder_;
  std::string path_ = folder_ / "store.db";
  LineMaker lines_;
};

TEST_F(LedgerReaderTest, ReadsWhatAStoreHas) {
  const auto store = Open();
  std::vector<std::uint64_t> visited;
  const auto state = ReadStoreLedger(*store, {}, [&](const Dated<LedgerEntry>& entry, std::string_view) {
    visited.push_back(entry.seq);
    EXPECT_EQ(entry.record.run, RunName(RunId('a')));
    return absl::OkStatus();
  });
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(visited, ElementsAre(1, 2, 3));
  EXPECT_EQ(state->header.record.deployment, "small");
  EXPECT_EQ(state->accounts.Of(NodeId{7}).spent.amount, 0.75);
  EXPECT_EQ(state->head.seq, 3);
  EXPECT_EQ(state->head.hash, (*HeadOf(*store))->hash);
  EXPECT_FALSE(state->noted_seq.has_value());
}

TEST_F(LedgerReaderTest, ComparesANotedHead) {
  const auto store = Open();
  const std::string hash = **HashOfLine(*store, 2);
  EXPECT_EQ(ReadAll(*store, {.noted_head = hash})->noted_seq, 2);
  const absl::Status status = ReadAll(*store, {.noted_head = std::string(64, 'a')}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
}

TEST_F(LedgerReaderTest, FindsLinesThatWereRemovedAtTheEnd) {
  Alter("DELETE FROM ledger WHERE seq = 3");
  ExpectFault("the last lines were removed");
}

TEST_F(LedgerReaderTest, FindsALineThatWasAltered) {
  Alter("UPDATE ledger SET line = replace(line, '0.25', '0.05') WHERE seq = 2");
  ExpectFault("hash does not fit");
}

TEST_F(LedgerReaderTest, FindsALedgerThatWasMadeAnew) {
  LineMaker others;
  std::string sql;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    sql += "UPDATE ledger SET line = '" + others.Charge(RunId('a'), {NodeId{7}, epoch, "q"}, 0.05).line +
           "' WHERE seq = " + std::to_string(epoch) + ";";
  }
  Alter(sql);
  ExpectFault("signed head");
}

TEST_F(LedgerReaderTest, FindsAHeadThatWasAltered) {
  Alter("UPDATE meta SET value = CAST('{}' AS BLOB) WHERE name = 'head'");
  ExpectFault("its signed head was altered");
}

TEST_F(LedgerReaderTest, AStoreWithoutALedgerHasNone) {
  MemoryDisk disk;
  MemoryStore store(disk);
  EXPECT_EQ(ReadAll(store).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LedgerReaderTest, TellsStoresFromFiles) {
  EXPECT_TRUE(NamesStore(path_));
  EXPECT_TRUE(NamesStore("sqlite:" + (folder_ / "none")));
  EXPECT_FALSE(NamesStore(folder_ / "none"));
  std::ofstream(folder_ / "short") << "SQLite";
  EXPECT_FALSE(NamesStore(folder_ / "short"));
  std::ofstream(folder_ / "ledger") << lines_.header().line << "\n";
  EXPECT_FALSE(NamesStore(folder_ / "ledger"));
}

TEST(FileOfStore, AcceptsFilesAlone) {
  EXPECT_EQ(*FileOfStore("a/store.db"), "a/store.db");
  EXPECT_EQ(*FileOfStore("sqlite:a/store.db"), "a/store.db");
  for (const char* const wrong : {"", "sqlite:", "postgresql://bandana@db/bandana"}) {
    const absl::Status status = FileOfStore(wrong).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(InputErrorOf(status)->value, wrong);
  }
}

}  // namespace
}  // namespace bandana::store
