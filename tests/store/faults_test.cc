// Faults below a store: the power fails in any operation, a sync fails, the disk is full.

#include <sys/wait.h>
#include <unistd.h>

#include "bandana/core/status.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/planted_disk.h"
#include "tests/store/workload.h"

namespace bandana::store {
namespace {

using test::Folder;

// Returns the first difference from the twin that has made `done` transactions of the workload, or one more.
std::string DifferenceAfter(Store& store, std::uint64_t seed, std::uint64_t done, std::uint64_t* found) {
  Workload workload(seed);
  MemoryDisk disk;
  MemoryStore twin(disk);
  for (std::uint64_t i = 0; i < done; ++i) EXPECT_TRUE(twin.Commit(workload.Next()).ok());
  *found = done;
  const std::string difference = Difference(store, twin);
  if (difference.empty()) return "";
  EXPECT_TRUE(twin.Commit(workload.Next()).ok());
  *found = done + 1;
  return Difference(store, twin).empty() ? "" : difference;
}

// Commits until something fails or `most` are done; returns how many were acknowledged.
std::uint64_t Work(Store& store, Workload& workload, std::uint64_t most, absl::Status& error) {
  for (std::uint64_t done = 0; done < most; ++done) {
    error = store.Commit(workload.Next());
    if (!error.ok()) return done;
  }
  return most;
}

struct Outcome {
  std::uint64_t acknowledged = 0;
  std::string difference;
};

Outcome LoseThePower(std::uint64_t seed, bool syncs_are_lies) {
  const Folder folder;
  const std::string path = folder / "store.db";
  std::mt19937_64 random(seed);
  PlantedDisk disk;
  disk.syncs_are_lies = syncs_are_lies;
  Outcome outcome;
  {
    Workload workload(seed);
    const auto store = SqliteStore::Open(path);
    EXPECT_TRUE(store.ok()) << store.status();
    disk.power_fails_at = disk.operations + 1 + random() % 300;
    absl::Status error;
    outcome.acknowledged = Work(**store, workload, 200, error);
    EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable) << error;
  }
  disk.FailPower(random);
  const auto store = SqliteStore::Open(path);
  if (!store.ok()) {
    outcome.difference = std::string(store.status().message());
    return outcome;
  }
  std::uint64_t found = 0;
  outcome.difference = DifferenceAfter(**store, seed, outcome.acknowledged, &found);
  return outcome;
}

TEST(SqliteFaults, LosesNothingWhenThePowerFails) {
  std::uint64_t acknowledged = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Outcome outcome = LoseThePower(seed, false);
    EXPECT_EQ(outcome.difference, "") << "seed " << seed;
    acknowledged += outcome.acknowledged;
  }
  EXPECT_GT(acknowledged, 150) << "hardly anything was tested";
}

// This shows that the test above can fail: the disk does not synchronise.
TEST(SqliteFaults, ADiskThatLiesIsFound) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    if (!LoseThePower(seed, true).difference.empty()) ++found;
  }
  EXPECT_GE(found, 5);
}

TEST(SqliteFaults, ASyncThatFailsEndsTheProcess) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Folder folder;
    const std::string path = folder / "store.db";
    std::mt19937_64 random(seed);
    PlantedDisk disk;
    std::uint64_t acknowledged = 0;
    {
      Workload workload(seed);
      const auto store = SqliteStore::Open(path);
      ASSERT_TRUE(store.ok()) << store.status();
      disk.sync_fails_at = disk.syncs + 1 + random() % 20;
      absl::Status error;
      acknowledged = Work(**store, workload, 200, error);
      EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable) << error;
      EXPECT_THAT(std::string(error.message()), HasSubstr("the disk fails"));
      EXPECT_EQ(InputErrorOf(error)->file, path);
      EXPECT_EQ(Commit(**store, {PutMeta{"a", "b"}}), error) << "it went on";
      EXPECT_EQ((*store)->Runs().status(), error);
    }
    // The next process acts upon what it reads, so that must outlive a power failure, although the kernel has
    // forgotten pages that it could not write.
    std::uint64_t found = 0;
    {
      const auto store = SqliteStore::Open(path);
      ASSERT_TRUE(store.ok()) << store.status();
      EXPECT_EQ(DifferenceAfter(**store, seed, acknowledged, &found), "") << "seed " << seed;
      disk.power_fails_at = disk.operations + 1;
    }
    disk.FailPower(random);
    const auto store = SqliteStore::Open(path);
    ASSERT_TRUE(store.ok()) << store.status();
    std::uint64_t found_later = 0;
    EXPECT_EQ(DifferenceAfter(**store, seed, found, &found_later), "") << "seed " << seed;
    EXPECT_EQ(found_later, found) << "seed " << seed;
  }
}

TEST(SqliteFaults, AFullDiskEndsTheProcessAndLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Folder folder;
    const std::string path = folder / "store.db";
    PlantedDisk disk;
    std::uint64_t acknowledged = 0;
    Workload workload(seed);
    {
      const auto store = SqliteStore::Open(path);
      ASSERT_TRUE(store.ok()) << store.status();
      disk.quota = 500'000 + 100'000 * seed;
      absl::Status error;
      acknowledged = Work(**store, workload, 2000, error);
      EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable) << error;
      EXPECT_THAT(std::string(error.message()), HasSubstr("the disk is full: make room"));
      EXPECT_FALSE(Commit(**store, {PutMeta{"a", "b"}}).ok()) << "it went on";
    }
    disk.quota = 0;
    const auto store = SqliteStore::Open(path);
    ASSERT_TRUE(store.ok()) << store.status();
    std::uint64_t found = 0;
    EXPECT_EQ(DifferenceAfter(**store, seed, acknowledged, &found), "") << "seed " << seed;
    EXPECT_GT(acknowledged, 3);
  }
}

// The twin and the store agree, whatever a process does and wherever it ends.
TEST(Stores, AgreeOnWhatIsLeftAfterACrashBetweenAnyTwoTransactions) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Folder folder;
    const std::string path = folder / "store.db";
    MemoryDisk disk;
    Workload workload(seed);
    for (int process = 0; process < 6; ++process) {
      const auto store = SqliteStore::Open(path);
      ASSERT_TRUE(store.ok()) << store.status();
      MemoryStore twin(disk);
      ASSERT_EQ(Difference(**store, twin), "") << "seed " << seed;
      for (std::uint64_t i = workload.Below(20); i > 0; --i) {
        const Transaction changes = workload.Next();
        const absl::Status status = (*store)->Commit(changes);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_TRUE(twin.Commit(changes).ok());
      }
      ASSERT_EQ(Difference(**store, twin), "") << "seed " << seed;
    }
  }
}

TEST(MemoryDisk, LosesWhatWasNotCommitted) {
  for (const MemoryDisk::Crash crash : {MemoryDisk::Crash::kBefore, MemoryDisk::Crash::kAfter}) {
    MemoryDisk disk;
    Workload workload(5);
    std::uint64_t done = 0;
    disk.CrashAt(8, crash);
    {
      MemoryStore store(disk);
      absl::Status error;
      done = Work(store, workload, 20, error);
      EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
      EXPECT_EQ(store.Commit({}).code(), absl::StatusCode::kUnavailable);
    }
    EXPECT_EQ(done, 7);
    MemoryStore again(disk);
    std::uint64_t found = 0;
    EXPECT_EQ(DifferenceAfter(again, 5, done, &found), "");
    EXPECT_EQ(found, crash == MemoryDisk::Crash::kBefore ? 7 : 8);
  }
}

TEST(MemoryDisk, EndsTheProcessOfAnOlderStore) {
  MemoryDisk disk;
  MemoryStore older(disk);
  MemoryStore newer(disk);
  EXPECT_EQ(Commit(older, {PutMeta{"a", "b"}}).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Commit(newer, {PutMeta{"a", "b"}}).ok());
}

}  // namespace
}  // namespace bandana::store
