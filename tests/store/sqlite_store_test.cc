#include "bandana/store/sqlite_store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "bandana/core/status.h"
#include "bandana/store/schema.h"
#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

const ReleaseKey kFirst{NodeId{7}, 1, "q"};

std::unique_ptr<SqliteStore> OpenStore(const std::string& path) {
  absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(path);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// Each test runs on both stores; Restart ends the process and starts another.
class AnyStoreTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { Restart(); }
  void Restart() {
    store_ = nullptr;
    if (GetParam()) {
      store_ = OpenStore(folder_ / "store.db");
    } else {
      store_ = std::make_unique<MemoryStore>(disk_);
    }
  }
  void Accept(const Transaction& changes) {
    const absl::Status status = store_->Commit(changes);
    ASSERT_TRUE(status.ok()) << status;
  }

  Folder folder_;
  MemoryDisk disk_;
  std::unique_ptr<Store> store_;
};
INSTANTIATE_TEST_SUITE_P(Stores, AnyStoreTest, ::testing::Bool(), [](const auto& info) {
  return info.param ? std::string("Sqlite") : std::string("Memory");
});

TEST_P(AnyStoreTest, IsEmptyAtFirst) {
  EXPECT_THAT(*store_->Runs(), IsEmpty());
  EXPECT_THAT(Inputs(*store_), IsEmpty());
  EXPECT_THAT(Outputs(*store_), IsEmpty());
  EXPECT_THAT(Lines(*store_), IsEmpty());
  EXPECT_FALSE(store_->Snapshot()->has_value());
  EXPECT_FALSE((*store_->Meta("head")).has_value());
  const std::string identity = **store_->Meta("store");
  EXPECT_THAT(identity, SizeIs(32));
  Restart();
  EXPECT_EQ(**store_->Meta("store"), identity);
}

TEST_P(AnyStoreTest, KeepsEveryKindOfChange) {
  LineMaker lines;
  const std::string binary("\0\xff \n", 4);
  const AddLine charge = lines.Charge(RunId('a'), kFirst);
  const AddDraw draw{DrawKey(RunName(RunId('a')), kFirst), binary};
  Accept({BeginRun{RunId('a'), "spec", kBegan}, lines.header(), PutMeta{"head", binary},
          AddInput{1, "agent/1", 1, binary}, AddInput{2, "", 0, ""}, PutOutput{"agent/2", 1, binary},
          PutOutput{"agent/1", 1, "x"}, PutOutput{"agent/1", 2, ""}, charge, draw});
  for (int process = 0; process < 2; ++process) {
    const auto runs = *store_->Runs();
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_EQ(runs[0].run, RunId('a'));
    EXPECT_EQ(runs[0].spec, "spec");
    EXPECT_EQ(runs[0].state, RunState::kOpen);
    EXPECT_EQ(runs[0].began, kBegan);
    EXPECT_EQ(runs[0].ended, absl::InfiniteFuture());
    EXPECT_EQ(**store_->Meta("head"), binary);
    EXPECT_THAT(Inputs(*store_), ElementsAre(AddInput{1, "agent/1", 1, binary}, AddInput{2, "", 0, ""}));
    EXPECT_THAT(Outputs(*store_), ElementsAre(PutOutput{"agent/1", 1, "x"}, PutOutput{"agent/1", 2, ""},
                                              PutOutput{"agent/2", 1, binary}));
    EXPECT_THAT(Lines(*store_), ElementsAre(lines.header(), charge));
    EXPECT_THAT(Lines(*store_, 1), ElementsAre(charge));
    EXPECT_THAT(Draws(*store_), ElementsAre(draw));
    Restart();
  }
  Accept({Acknowledge{"agent/1", 1}, Acknowledge{"agent/1", 0}});
  EXPECT_THAT(Outputs(*store_), ElementsAre(PutOutput{"agent/1", 2, ""}, PutOutput{"agent/2", 1, binary}));
  Accept({AddInput{3, "agent/1", 2, "y"}, PutSnapshot{4, 3, binary}, PutOutput{"agent/1", 2, "again"},
          PutOutput{"agent/2", 1, "again"}, AddInput{4, "agent/1", 3, "z"}});
  for (int process = 0; process < 2; ++process) {
    EXPECT_EQ(**store_->Snapshot(), (PutSnapshot{4, 3, binary}));
    EXPECT_THAT(Inputs(*store_), ElementsAre(AddInput{4, "agent/1", 3, "z"}));
    EXPECT_THAT(Outputs(*store_),
                ElementsAre(PutOutput{"agent/1", 2, "again"}, PutOutput{"agent/2", 1, "again"}));
    EXPECT_THAT(Acknowledgements(*store_), ElementsAre(Acknowledge{"agent/1", 1}));
    EXPECT_THAT(Draws(*store_), IsEmpty());
    Restart();
  }
  Accept({EndRun{RunState::kEnded, "why not", kEnded}});
  for (int process = 0; process < 2; ++process) {
    const auto run = store_->Runs()->back();
    EXPECT_EQ(run.state, RunState::kEnded);
    EXPECT_EQ(run.why, "why not");
    EXPECT_EQ(run.ended, kEnded);
    EXPECT_FALSE(store_->Snapshot()->has_value());
    EXPECT_THAT(Inputs(*store_), IsEmpty());
    EXPECT_THAT(Outputs(*store_), IsEmpty());
    EXPECT_THAT(Acknowledgements(*store_), IsEmpty());
    EXPECT_THAT(Lines(*store_), SizeIs(2));
    Restart();
  }
  Accept({BeginRun{RunId('b'), "spec", kBegan}, AddInput{1, "agent/1", 1, "of b"}});
  Restart();
  EXPECT_THAT(Inputs(*store_), ElementsAre(AddInput{1, "agent/1", 1, "of b"}));
  Accept({AddInput{2, "agent/1", 2, "of b"}});
}

TEST_P(AnyStoreTest, EndsAVisit) {
  Accept({BeginRun{RunId('a'), "spec", kBegan}, AddInput{1, "a", 1, "x"}, AddInput{2, "a", 2, "x"}});
  int visits = 0;
  const absl::Status status = store_->ForEachInput([&](const AddInput&) {
    ++visits;
    return absl::InternalError("enough");
  });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(visits, 1);
  Accept({AddInput{3, "a", 3, "x"}});
}

TEST_P(AnyStoreTest, ATransactionThatIsRefusedLeavesNothing) {
  Accept({BeginRun{RunId('a'), "spec", kBegan}});
  EXPECT_FALSE(Commit(*store_, {AddInput{1, "a", 1, "x"}, AddInput{3, "a", 2, "x"}}).ok());
  EXPECT_FALSE(Commit(*store_, {AddInput{1, "a", 1, "x"}}).ok()) << "it went on after an error";
  Restart();
  EXPECT_THAT(Inputs(*store_), IsEmpty());
  Accept({AddInput{1, "a", 1, "x"}});
}

TEST_P(AnyStoreTest, ErasedRowsNeverComeBack) {
  Accept({BeginRun{RunId('a'), "spec", kBegan}});
  std::uint64_t seq = 0;
  for (std::uint64_t generation = 1; generation <= 5; ++generation) {
    Transaction many;
    for (int i = 0; i < 500; ++i) many.push_back(AddInput{++seq, "a", seq, "old"});
    Accept(many);
    Accept({PutSnapshot{generation, seq, "s"}});
    EXPECT_THAT(Inputs(*store_), IsEmpty());
    Restart();
    EXPECT_THAT(Inputs(*store_), IsEmpty());
    ++seq;
    Accept({AddInput{seq, "a", seq, "new"}});
    EXPECT_THAT(Inputs(*store_), ElementsAre(AddInput{seq, "a", seq, "new"}));
  }
  Accept({EndRun{RunState::kFinished, "", kEnded}});
  Accept({BeginRun{RunId('b'), "spec", kBegan}});
  Restart();
  EXPECT_THAT(Inputs(*store_), IsEmpty());
  Accept({AddInput{1, "a", 1, "of b"}});
  EXPECT_THAT(Inputs(*store_), ElementsAre(AddInput{1, "a", 1, "of b"}));
}

TEST(SqliteStore, DeletesErasedRowsLittleByLittle) {
  const Folder folder;
  auto store = OpenStore(folder / "store.db");
  Transaction many = {BeginRun{RunId('a'), "spec", kBegan}};
  for (std::uint64_t i = 1; i <= 1000; ++i) many.push_back(AddInput{i, "a", i, std::string(100, 'x')});
  ASSERT_TRUE(store->Commit(many).ok());
  ASSERT_TRUE(Commit(*store, {PutSnapshot{1, 1000, "s"}}).ok());
  const auto rows = [&] {
    auto database = Database::Open(folder / "store.db", Database::Access::kRead);
    return *(*database)->Number("SELECT count(*) FROM inputs");
  };
  EXPECT_GT(rows(), 900);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Commit(*store, {PutMeta{"a", "b"}}).ok());
  store = nullptr;
  store = OpenStore(folder / "store.db");
  EXPECT_GT(rows(), 0);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Commit(*store, {PutMeta{"a", "b"}}).ok());
  EXPECT_EQ(rows(), 0);
}

TEST(SqliteStore, IsTheOwnersAlone) {
  const Folder folder;
  const auto store = OpenStore(folder / "store.db");
  ASSERT_TRUE(Commit(*store, {BeginRun{RunId('a'), "spec", kBegan}}).ok());
  for (const char* name : {"store.db", "store.db-wal", "store.db-shm"}) {
    struct stat info{};
    ASSERT_EQ(stat((folder / name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600) << name;
  }
}

TEST(SqliteStore, IsUsedByOneProcessAtATime) {
  const Folder folder;
  const std::string path = folder / "store.db";
  auto store = OpenStore(path);
  ASSERT_TRUE(Commit(*store, {BeginRun{RunId('a'), "spec", kBegan}}).ok());
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status status = SqliteStore::Open(path).status();
    const bool refused = status.code() == absl::StatusCode::kUnavailable &&
                         status.message().find("another process uses this store") != absl::string_view::npos;
    _exit(refused ? 0 : 1);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
  store = nullptr;
  EXPECT_TRUE(SqliteStore::Open(path).ok()) << "the lock outlives its process";
}

TEST(SqliteStore, IsReadWhileAProcessUsesIt) {
  const Folder folder;
  const std::string path = folder / "store.db";
  auto store = OpenStore(path);
  ASSERT_TRUE(Commit(*store, {BeginRun{RunId('a'), "spec", kBegan}}).ok());
  {
    const auto reader = SqliteStore::OpenToRead(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_TRUE(Commit(*store, {AddInput{1, "a", 1, "x"}}).ok());
    EXPECT_THAT(*(*reader)->Runs(), SizeIs(1));
    EXPECT_THAT(Inputs(**reader), IsEmpty()) << "it was committed later";
    EXPECT_FALSE(Commit(**reader, {PutMeta{"a", "b"}}).ok());
  }
  const auto reader = SqliteStore::OpenToRead(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(Inputs(**reader), SizeIs(1));
}

TEST(SqliteStore, NamesAMissingFile) {
  const Folder folder;
  for (const absl::Status& status :
       {SqliteStore::OpenToRead(folder / "none.db").status(),
        SqliteStore::Open(folder / "none.db", SqliteStore::Missing::kRefuse).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
    EXPECT_EQ(InputErrorOf(status)->file, folder / "none.db");
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
  EXPECT_EQ(SqliteStore::Open(folder / "no/folder.db").status().code(), absl::StatusCode::kUnavailable);
}

TEST(SqliteStore, RefusesWhatIsNoStore) {
  const Folder folder;
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_EQ(SqliteStore::Open(folder / "text").status().code(), absl::StatusCode::kDataLoss);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "other.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE t(a)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  const absl::Status status = SqliteStore::Open(folder / "other.db").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("of another program"));
}

TEST(SqliteStore, RefusesNumbersOfRowsThatNoStoreHas) {
  for (const char* column : {"inputs_base", "inputs_floor", "draws_floor"}) {
    for (const char* number : {"9223372036854775807", "-1"}) {
      const Folder folder;
      const std::string path = folder / "store.db";
      OpenStore(path);
      sqlite3* database = nullptr;
      ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
      const std::string sql = std::string("UPDATE position SET ") + column + " = " + number;
      ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
      sqlite3_close(database);
      for (const absl::Status& status :
           {SqliteStore::Open(path).status(), SqliteStore::OpenToRead(path).status()}) {
        EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
        EXPECT_THAT(std::string(status.message()), HasSubstr(column));
      }
    }
  }
}

TEST(SqliteStore, NoticesThatItsFileWasMoved) {
  const Folder folder;
  const auto store = OpenStore(folder / "store.db");
  ASSERT_TRUE(Commit(*store, {PutMeta{"a", "b"}}).ok());
  std::filesystem::rename(folder / "store.db", folder / "moved.db");
  const absl::Status status = Commit(*store, {PutMeta{"a", "c"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("moved or replaced"));
}

TEST(SqliteStore, RefusesAnotherSchema) {
  const Folder folder;
  const std::string path = folder / "store.db";
  {
    const auto store = OpenStore(path);
  }
  {
    auto database = Database::Open(path, Database::Access::kWrite);
    ASSERT_TRUE((*database)->Run("PRAGMA user_version=99").ok());
  }
  for (const absl::Status& status :
       {SqliteStore::Open(path).status(), SqliteStore::OpenToRead(path).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("use a newer program"));
  }
}

TEST(Schema, MigratesOneStepAfterTheOther) {
  const Folder folder;
  const std::string path = folder / "store.db";
  std::ofstream(path).close();
  auto database = *Database::Open(path, Database::Access::kWrite);
  const std::string_view first = Migrations()[0];
  const std::string_view old[] = {first};
  const std::string_view broken[] = {first, "CREATE TABLE second(a);",
                                     "CREATE TABLE third(a); INSERT INTO no VALUES (1);"};
  const std::string_view good[] = {first, broken[1], "CREATE TABLE third(a);"};
  ASSERT_TRUE(Migrate(*database, old).ok());
  const std::string identity = *database->Text("SELECT value FROM meta");
  const absl::Status status = CheckSchema(*database, good);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bandana store migrate " + path));

  EXPECT_FALSE(Migrate(*database, broken).ok());
  EXPECT_EQ(*SchemaOf(*database), 2) << "a step that fails leaves nothing, and the steps before it stay";
  EXPECT_EQ(*database->Number("SELECT count(*) FROM sqlite_schema WHERE name = 'third'"), 0);
  ASSERT_TRUE(Migrate(*database, good).ok());
  EXPECT_TRUE(CheckSchema(*database, good).ok());
  EXPECT_EQ(*database->Text("SELECT value FROM meta"), identity);
  EXPECT_EQ(Migrate(*database, old).code(), absl::StatusCode::kFailedPrecondition) << "it never goes back";
}

// A process is killed between any two commits, and while it commits: what it was told is there.
TEST(SqliteStore, KeepsWhatWasAcknowledgedWhenItsProcessIsKilled) {
  const Folder folder;
  const std::string path = folder / "store.db";
  {
    ASSERT_TRUE(Commit(*OpenStore(path), {BeginRun{RunId('a'), "spec", kBegan}}).ok());
  }
  for (int kill_after_ms : {1, 3, 7, 20, 40}) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = SqliteStore::Open(path);
      std::uint64_t next = 1;
      (void)(*store)->ForEachInput([&](const AddInput& input) {
        next = input.seq + 1;
        return absl::OkStatus();
      });
      for (;; next += 2) {
        const Transaction changes = {AddInput{next, "a", next, std::string(3000, 'x')},
                                     AddInput{next + 1, "a", next + 1, std::string(3000, 'x')}};
        if (!(*store)->Commit(changes).ok()) _exit(1);
        const std::uint64_t acknowledged = next + 1;
        if (write(pipes[1], &acknowledged, sizeof acknowledged) != sizeof acknowledged) _exit(2);
      }
    }
    close(pipes[1]);
    std::uint64_t acknowledged = 0;
    ASSERT_EQ(read(pipes[0], &acknowledged, sizeof acknowledged), sizeof acknowledged);
    usleep(static_cast<useconds_t>(kill_after_ms) * 1000);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    for (std::uint64_t more = 0; read(pipes[0], &more, sizeof more) == sizeof more;) acknowledged = more;
    close(pipes[0]);
    const auto store = OpenStore(path);
    const std::vector<AddInput> inputs = Inputs(*store);
    EXPECT_GE(inputs.size(), acknowledged);
    EXPECT_LE(inputs.size(), acknowledged + 2);
    EXPECT_EQ(inputs.size() % 2, 0) << "half of a transaction";
    EXPECT_EQ(inputs.back().seq, inputs.size());
  }
}

}  // namespace
}  // namespace bandana::store
