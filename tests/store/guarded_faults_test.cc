// Faults of a process whose ledger is also in a mirror and an anchor: it is killed, the disk is full, and a
// sync fails.

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <random>
#include <system_error>

#include "bandana/privacy/ledger/reader.h"
#include "bandana/store/guarded_store.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

// The sync with number `at` of a file whose path ends with `file` fails. 0 means that none does.
struct PlantedSync {
  std::string file;
  int at = 0;
  int seen = 0;
};
PlantedSync* planted_sync = nullptr;

bool SyncFails(int descriptor) {
  if (planted_sync == nullptr) return false;
  std::error_code error;
  const auto path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).string();
  return path.ends_with(planted_sync->file) && ++planted_sync->seen == planted_sync->at;
}

int Sync(long call, int descriptor) {
  if (!SyncFails(descriptor)) return static_cast<int>(syscall(call, descriptor));
  errno = EIO;
  return -1;
}

}  // namespace
}  // namespace bandana::store

// These take the place of the C library's functions in this program, also for SQLite.
extern "C" int fdatasync(int descriptor) { return bandana::store::Sync(SYS_fdatasync, descriptor); }
extern "C" int fsync(int descriptor) { return bandana::store::Sync(SYS_fsync, descriptor); }

namespace bandana::store {
namespace {

class GuardedFaultsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<GuardedStore>> TryToOpen() {
    auto store = SqliteStore::Open(store_);
    if (!store.ok()) return store.status();
    return GuardedStore::Open(*std::move(store),
                              {.mirror = mirror_, .anchor = anchor_, .identity = std::nullopt});
  }

  // The process: it opens the store, charges for one release after the other and sends a message that follows
  // from each. It writes the number of a line into the pipe when Commit has acknowledged it.
  [[noreturn]] void Work(int pipe) {
    auto store = TryToOpen();
    if (!store.ok()) _exit(2);
    auto ledger = StoreLedger::Open(**store, SmallHeader());
    if (!ledger.ok()) _exit(3);
    const Ratchet ratchet = Ratchet::InMemory();
    Sealer sealer(ratchet);
    (*ledger)->EnterRun(RunId('a'));
    Transaction changes;
    if ((*store)->Runs()->empty()) changes.push_back(BeginRun{RunId('a'), "spec", kBegan});
    for (;;) {
      const std::uint64_t line = (*ledger)->head().seq + 1;
      const ReleaseKey key{NodeId{7}, static_cast<Epoch>(line), "q"};
      if (!store::Release(**ledger, key, 0).ok()) _exit(4);
      (*ledger)->MoveChangesTo(changes, sealer);
      changes.push_back(PutOutput{"everybody", line, std::string(1000, 'x')});
      if (!(*store)->Commit(changes).ok()) {
        // After a failure nothing is accepted.
        changes = {PutMeta{"a", "b"}};
        _exit((*store)->Commit(changes).ok() ? 5 : 0);
      }
      changes.clear();
      if (write(pipe, &line, sizeof line) != sizeof line) _exit(6);
    }
  }

  // Starts the process, lets `stop` end it, and returns the last line that was acknowledged.
  template <class Limit, class Stop>
  std::uint64_t RunUntil(Limit limit, Stop stop) {
    int pipes[2];
    EXPECT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(pipes[0]);
      limit();
      Work(pipes[1]);
    }
    close(pipes[1]);
    const std::uint64_t acknowledged = stop(child, pipes[0]);
    close(pipes[0]);
    return acknowledged;
  }
  static std::uint64_t Drain(int pipe, std::uint64_t last) {
    for (std::uint64_t more = 0; read(pipe, &more, sizeof more) == sizeof more;) last = more;
    return last;
  }

  // Before anybody repairs anything: whatever was acknowledged is in the anchor and in the mirror, and
  // neither is ahead of the store. Afterwards they are where the store is.
  void ExpectNothingLost(std::uint64_t acknowledged) {
    const auto anchor = ReadSignedHead(anchor_);
    ASSERT_TRUE(anchor.ok()) << anchor.status();
    const auto ignore = [](const auto&, auto) { return absl::OkStatus(); };
    const auto mirror = ReadLedger(mirror_, {}, ignore);
    ASSERT_TRUE(mirror.ok()) << mirror.status();
    EXPECT_GE(anchor->head.seq, acknowledged);
    EXPECT_GE(mirror->head.seq, anchor->head.seq);
    const auto store = TryToOpen();
    ASSERT_TRUE(store.ok()) << store.status();
    const std::uint64_t last = *(*store)->Lines() - 1;
    EXPECT_GE(last, mirror->head.seq);
    EXPECT_LE(last, acknowledged + 1) << "there is at most the line that was being committed";
    EXPECT_EQ(ReadSignedHead(anchor_)->head.seq, last);
    EXPECT_EQ(ReadLedger(mirror_, {}, ignore)->head.seq, last);
    const std::vector<PutOutput> outputs = Outputs(**store);
    EXPECT_EQ(outputs.size(), last) << "a charge without its message, or a message without its charge";
    EXPECT_THAT(Draws(**store), SizeIs(last));
  }

  Folder folder_;
  std::string store_ = folder_ / "store.db";
  std::string mirror_ = folder_ / "mirror.ledger";
  std::string anchor_ = folder_ / "anchor";
};

TEST_F(GuardedFaultsTest, LosesNothingWhenItsProcessIsKilled) {
  std::mt19937_64 random(1);
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 40; ++round) {
    const auto kill_it = [&](pid_t child, int pipe) {
      std::uint64_t line = 0;
      EXPECT_EQ(read(pipe, &line, sizeof line), sizeof line);
      EXPECT_GT(line, acknowledged);
      usleep(static_cast<useconds_t>(random() % 8'000));
      kill(child, SIGKILL);
      int how = 0;
      EXPECT_EQ(waitpid(child, &how, 0), child);
      EXPECT_TRUE(WIFSIGNALED(how)) << "it ended by itself with " << WEXITSTATUS(how);
      return Drain(pipe, line);
    };
    acknowledged = RunUntil([] {}, kill_it);
    ExpectNothingLost(acknowledged);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(acknowledged, 100) << "hardly anything was tested";
}

// The operating system refuses to let any file grow beyond a limit: first the write-ahead log meets it, and
// in later rounds, when the mirror is the largest file, the mirror.
TEST_F(GuardedFaultsTest, AFullDiskEndsTheProcessAndLosesNothing) {
  const auto wait_for_it = [](pid_t child, int pipe) {
    const std::uint64_t acknowledged = Drain(pipe, 0);
    int how = 0;
    EXPECT_EQ(waitpid(child, &how, 0), child);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "it ended with " << how;
    return acknowledged;
  };
  const auto limit_to = [](std::uintmax_t bytes) {
    return [bytes] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit most{bytes, bytes};
      setrlimit(RLIMIT_FSIZE, &most);
    };
  };
  ExpectNothingLost(RunUntil(limit_to(300'000), wait_for_it));
  {
    // Many lines at once make the mirror larger than the log.
    auto store = TryToOpen();
    ASSERT_TRUE(store.ok()) << store.status();
    const auto ledger = OpenLedger(**store);
    ledger->EnterRun(RunId('a'));
    Transaction changes;
    const Ratchet ratchet = Ratchet::InMemory();
    Sealer sealer(ratchet);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t line = ledger->head().seq + 1;
      ASSERT_TRUE(store::Release(*ledger, {NodeId{7}, static_cast<Epoch>(line), "q"}, 0).ok());
      changes.push_back(PutOutput{"everybody", line, "x"});
    }
    Transaction all;
    ledger->MoveChangesTo(all, sealer);
    all.insert(all.end(), changes.begin(), changes.end());
    ASSERT_TRUE((*store)->Commit(all).ok());
  }
  {
    ASSERT_TRUE(SqliteStore::Open(store_).ok());
  }  // it empties the log
  const std::uintmax_t size = std::filesystem::file_size(mirror_);
  ASSERT_GT(size, std::uintmax_t{3'000'000});
  // The database grows only when the log is written back, so that the mirror meets this limit first.
  const std::uintmax_t database = std::filesystem::file_size(store_);
  if (database < size) {
    ExpectNothingLost(RunUntil(limit_to(size + 1'000), wait_for_it));
    EXPECT_LE(std::filesystem::file_size(mirror_), size + 2'000);
  } else {
    ExpectNothingLost(RunUntil(limit_to(database + 1'000), wait_for_it));
  }
}

TEST_F(GuardedFaultsTest, ASyncThatFailsEndsTheProcessAndLosesNothing) {
  std::uint64_t acknowledged = 0;
  for (const char* const file : {"store.db-wal", "mirror.ledger", "mirror.ledger.head.new", "anchor.new"}) {
    for (int at = 1; at <= 3; ++at) {
      {
        auto store = TryToOpen();
        ASSERT_TRUE(store.ok()) << store.status();
        const auto ledger = OpenLedger(**store);
        const Ratchet ratchet = Ratchet::InMemory();
        Sealer sealer(ratchet);
        ledger->EnterRun(RunId('a'));
        PlantedSync planted{.file = file, .at = at};
        planted_sync = &planted;
        absl::Status status;
        for (int i = 0; i < 10 && status.ok(); ++i) {
          Transaction changes;
          if ((*store)->Runs()->empty()) changes.push_back(BeginRun{RunId('a'), "spec", kBegan});
          const std::uint64_t line = ledger->head().seq + 1;
          ASSERT_TRUE(store::Release(*ledger, {NodeId{7}, static_cast<Epoch>(line), "q"}, 0).ok());
          ledger->MoveChangesTo(changes, sealer);
          changes.push_back(PutOutput{"everybody", line, "x"});
          status = (*store)->Commit(changes);
          if (status.ok()) acknowledged = line;
        }
        planted_sync = nullptr;
        EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << file << " " << at << ": " << status;
        EXPECT_FALSE(Commit(**store, {PutMeta{"a", "b"}}).ok()) << "it went on";
        EXPECT_EQ((*store)->Runs().status(), status);
        EXPECT_EQ((*store)->Lines().status(), status);
      }
      if (acknowledged == 0) continue;
      ExpectNothingLost(acknowledged);
      acknowledged = *(*TryToOpen())->Lines() - 1;
    }
  }
  EXPECT_GT(acknowledged, 15) << "hardly anything was tested";
}

}  // namespace
}  // namespace bandana::store
