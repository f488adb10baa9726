// Tests of back-ups: of a store in use, of what is not in them, and of what happens when one fails.

#include "bandana/store/backup.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "bandana/store/database.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/planted_disk.h"
#include "tests/store/workload.h"

namespace bandana::store {
namespace {

using test::Folder;
using ::testing::Not;

constexpr const char* kCanary = "canary-0123456789-canary";

std::unique_ptr<SqliteStore> OpenToRead(const std::string& path) {
  auto store = SqliteStore::OpenToRead(path);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    names.push_back(file.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Makes a store whose messages, seeds and snapshots, also the erased ones, hold the canary.
void MakeStore(const std::string& path) {
  auto store = SqliteStore::Open(path);
  ASSERT_TRUE(store.ok()) << store.status();
  LineMaker lines;
  const ReleaseKey first{NodeId{7}, 1, "q"};
  const ReleaseKey second{NodeId{7}, 2, "q"};
  const auto draw = [](const ReleaseKey& key) { return AddDraw{DrawKey(RunName(RunId('a')), key), kCanary}; };
  for (const Transaction& changes :
       {Transaction{lines.header(), BeginRun{RunId('a'), "spec", kBegan}, AddInput{1, "a", 1, kCanary},
                    lines.Charge(RunId('a'), first), draw(first), PutOutput{"a", 1, kCanary}},
        Transaction{PutSnapshot{1, 1, kCanary}, PutOutput{"a", 1, kCanary}},
        Transaction{lines.Charge(RunId('a'), second), draw(second), AddInput{2, "a", 2, kCanary}}}) {
    const absl::Status status = (*store)->Commit(changes);
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(BackUp, CopiesAStoreThatAProcessUses) {
  const Folder folder;
  const std::string path = folder / "store.db";
  {
    ASSERT_TRUE(SqliteStore::Open(path).ok());
  }
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto store = SqliteStore::Open(path);
    Workload workload(1);
    for (;;) {
      if (!(*store)->Commit(workload.Next()).ok()) _exit(1);
      const std::uint64_t lines = *(*store)->Lines();
      if (write(pipes[1], &lines, sizeof lines) != sizeof lines) _exit(0);
    }
  }
  close(pipes[1]);
  std::uint64_t acknowledged = 0;
  for (int copy = 0; copy < 10; ++copy) {
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(read(pipes[0], &acknowledged, sizeof acknowledged), sizeof acknowledged)
          << "a back-up has ended the process";
    }
    const std::string name = folder / ("copy" + std::to_string(copy));
    const absl::Status status = BackUp(path, name, kBegan);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GE(*OpenToRead(name)->Lines(), acknowledged) << "a committed line is missing";
  }
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(pipes[0]);
  const auto store = OpenToRead(path);
  const std::vector<AddLine> lines = Lines(*store);
  const auto runs = *store->Runs();
  for (int copy = 0; copy < 10; ++copy) {
    const auto made = OpenToRead(folder / ("copy" + std::to_string(copy)));
    const std::vector<AddLine> copied = Lines(*made);
    ASSERT_LE(copied.size(), lines.size());
    EXPECT_TRUE(std::equal(copied.begin(), copied.end(), lines.begin()));
    const auto copied_runs = *made->Runs();
    ASSERT_LE(copied_runs.size(), runs.size());
    for (std::size_t i = 0; i < copied_runs.size(); ++i) EXPECT_EQ(copied_runs[i].run, runs[i].run);
    EXPECT_EQ(*made->Meta("store"), *store->Meta("store"));
  }
}

TEST(BackUp, HasNoMessagesAndNoSeeds) {
  const Folder folder;
  const std::string path = folder / "store.db";
  MakeStore(path);
  ASSERT_THAT(Contents(path), HasSubstr(kCanary)) << "this test could not fail";
  ASSERT_TRUE(BackUp(path, folder / "copy", kBegan).ok());
  EXPECT_THAT(Contents(folder / "copy"), Not(HasSubstr(kCanary)));
  const auto copy = OpenToRead(folder / "copy");
  EXPECT_THAT(Inputs(*copy), IsEmpty());
  EXPECT_THAT(Outputs(*copy), IsEmpty());
  EXPECT_THAT(Draws(*copy), IsEmpty());
  EXPECT_FALSE(copy->Snapshot()->has_value());
  EXPECT_THAT(Lines(*copy), SizeIs(3));
  EXPECT_EQ(copy->Runs()->back().state, RunState::kOpen);
  // The store itself is as it was.
  const auto store = SqliteStore::Open(path);
  EXPECT_THAT(Inputs(**store), SizeIs(1));
  EXPECT_THAT(Draws(**store), SizeIs(1));
}

TEST(BackUp, IsNotUsedAsAStore) {
  const Folder folder;
  MakeStore(folder / "store.db");
  ASSERT_TRUE(BackUp(folder / "store.db", folder / "copy", kBegan).ok());
  const std::string before = Contents(folder / "copy");
  const absl::Status status = SqliteStore::Open(folder / "copy").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("this is a back-up"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("bandana store restore"));
  EXPECT_EQ(Contents(folder / "copy"), before);
  EXPECT_EQ(**OpenToRead(folder / "copy")->Meta(kCopyMeta), "2027-01-15T08:00:00Z");
  // A copy of a back-up is as old as the back-up.
  ASSERT_TRUE(BackUp(folder / "copy", folder / "again", kEnded).ok());
  EXPECT_EQ(**OpenToRead(folder / "again")->Meta(kCopyMeta), "2027-01-15T08:00:00Z");
}

TEST(BackUp, IsTheOwnersAlone) {
  const Folder folder;
  MakeStore(folder / "store.db");
  ASSERT_TRUE(BackUp(folder / "store.db", folder / "copy", kBegan).ok());
  struct stat info{};
  ASSERT_EQ(stat((folder / "copy").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  EXPECT_THAT(Names(folder / ""), ElementsAre("copy", "store.db", "store.db-shm", "store.db-wal"));
}

TEST(BackUp, OverwritesNothing) {
  const Folder folder;
  MakeStore(folder / "store.db");
  std::ofstream(folder / "copy") << "something else";
  const absl::Status status = BackUp(folder / "store.db", folder / "copy", kBegan);
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
  EXPECT_EQ(InputErrorOf(status)->file, folder / "copy");
  EXPECT_EQ(Contents(folder / "copy"), "something else");
  EXPECT_EQ(BackUp(folder / "store.db", folder / "store.db", kBegan).code(),
            absl::StatusCode::kAlreadyExists);
}

TEST(BackUp, NamesASourceThatIsNoStore) {
  const Folder folder;
  EXPECT_EQ(BackUp(folder / "none", folder / "copy", kBegan).code(), absl::StatusCode::kNotFound);
  std::ofstream(folder / "empty").close();
  EXPECT_EQ(BackUp(folder / "empty", folder / "copy", kBegan).code(), absl::StatusCode::kDataLoss);
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_EQ(BackUp(folder / "text", folder / "copy", kBegan).code(), absl::StatusCode::kDataLoss);
  MakeStore(folder / "new.db");
  {
    auto database = Database::Open(folder / "new.db", Database::Access::kWrite);
    ASSERT_TRUE((*database)->Run("PRAGMA user_version=99").ok());
  }
  EXPECT_EQ(BackUp(folder / "new.db", folder / "copy", kBegan).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(folder / "copy"));
  EXPECT_FALSE(std::filesystem::exists(folder / "copy.part"));
}

TEST(BackUp, ALedgerThatWasAlteredGivesNoBackUp) {
  const Folder folder;
  MakeStore(folder / "store.db");
  {
    auto database = Database::Open(folder / "store.db", Database::Access::kWrite);
    ASSERT_TRUE(
        (*database)
            ->Run("UPDATE ledger SET line = replace(line, '\"epoch\":1', '\"epoch\":3') WHERE seq = 1")
            .ok());
  }
  const absl::Status status = BackUp(folder / "store.db", folder / "copy", kBegan);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_EQ(InputErrorOf(status)->file, folder / "store.db");
  EXPECT_FALSE(std::filesystem::exists(folder / "copy"));
}

TEST(BackUp, LeavesNothingIfTheDiskFailsOrIsFull) {
  for (const bool full : {false, true}) {
    const Folder folder;
    MakeStore(folder / "store.db");
    for (std::uint64_t at = 1; at <= 3; ++at) {
      PlantedDisk disk;
      if (full) {
        disk.quota = std::filesystem::file_size(folder / "store.db") + 10'000 * at;
      } else {
        disk.sync_fails_at = 1;
      }
      const absl::Status status = BackUp(folder / "store.db", folder / "copy", kBegan);
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(full ? "the disk is full" : "the disk fails"));
      EXPECT_FALSE(std::filesystem::exists(folder / "copy"));
      EXPECT_FALSE(std::filesystem::exists(folder / "copy.part"));
    }
    const absl::Status status = BackUp(folder / "store.db", folder / "copy", kBegan);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(BackUp, HasItsNameOnlyWhenItIsWhole) {
  const Folder folder;
  const std::string path = folder / "store.db";
  {
    auto store = SqliteStore::Open(path);
    Workload workload(2);
    for (int i = 0; i < 300; ++i) ASSERT_TRUE((*store)->Commit(workload.Next()).ok());
  }
  const std::vector<AddLine> lines = Lines(*OpenToRead(path));
  const absl::Time begin = absl::Now();
  ASSERT_TRUE(BackUp(path, folder / "first", kBegan).ok());
  const auto duration = static_cast<std::uint64_t>(absl::ToInt64Microseconds(absl::Now() - begin));
  std::mt19937_64 random(1);
  int killed = 0;
  for (int round = 0; round < 30; ++round) {
    const std::string copy = folder / "copy";
    const pid_t child = fork();
    if (child == 0) _exit(BackUp(path, copy, kBegan).ok() ? 0 : 1);
    usleep(static_cast<useconds_t>(random() % duration));
    kill(child, SIGKILL);
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    if (std::filesystem::exists(copy)) {
      EXPECT_EQ(Lines(*OpenToRead(copy)), lines);
    } else {
      EXPECT_TRUE(WIFSIGNALED(how)) << how;
      ++killed;
      const absl::Status status = BackUp(path, copy, kBegan);  // it cleans up what the other one has left
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_FALSE(std::filesystem::exists(copy + ".part"));
    std::filesystem::remove(copy);
  }
  EXPECT_GT(killed, 2) << "hardly anything was tested";
}

}  // namespace
}  // namespace bandana::store
