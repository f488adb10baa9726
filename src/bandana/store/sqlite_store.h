#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bandana/store/database.h"
#include "bandana/store/file_lock.h"
#include "bandana/store/rules.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// A store in one file of SQLite, with a write-ahead log beside it (FILE-wal, FILE-shm). A transaction is
/// durable when Commit returns, because the log is synchronised. The file is locked (flock), so one process
/// at a time uses the store; other processes may read it meanwhile.
class SqliteStore final : public Store {
 public:
  enum class Missing {
    kCreate,  ///< a missing store is created, readable by its owner alone
    kRefuse,
  };

  /// Opens a store. What it then shows is durable, also if it was written shortly before a crash.
  /// - kNotFound: there is no such file, and none may be created.
  /// - kUnavailable: another process uses the store, or the disk fails.
  /// - kFailedPrecondition: the store's schema is not this program's, or the file is a back-up
  ///   (store/backup.h).
  /// - kDataLoss: the file is no store, or damaged.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path,
                                                           Missing missing = Missing::kCreate);

  /// Opens a store to read it, also while a process uses it. It shows what was committed before this call,
  /// and refuses to commit.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> OpenToRead(const std::string& path);

  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  const std::string& name() const override { return path_; }
  absl::Status Commit(std::span<const Change> changes) override;
  absl::StatusOr<std::vector<Run>> Runs() override;
  absl::StatusOr<std::optional<std::string>> Meta(const std::string& name) override;
  absl::StatusOr<std::optional<PutSnapshot>> Snapshot() override;
  absl::Status ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) override;
  absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) override;
  absl::Status ForEachAcknowledgement(absl::FunctionRef<absl::Status(const Acknowledge&)> visit) override;
  absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) override;
  absl::StatusOr<std::uint64_t> Lines() override;
  absl::Status ForEachLine(std::uint64_t from,
                           absl::FunctionRef<absl::Status(const AddLine&)> visit) override;

 private:
  explicit SqliteStore(std::string path) : path_(std::move(path)) {}
  absl::Status Prepare();
  absl::Status Load();
  absl::Status LoadRules();
  absl::Status ApplyAll(std::span<const Change> changes);
  absl::Status DeleteErased(std::size_t inserted);
  absl::Status StorePosition();

  absl::Status Apply(const BeginRun& begin);
  absl::Status Apply(const EndRun& end);
  absl::Status Apply(const AddInput& input);
  absl::Status Apply(const PutSnapshot& snapshot);
  absl::Status Apply(const PutOutput& output);
  absl::Status Apply(const Acknowledge& acknowledge);
  absl::Status Apply(const AddLine& line);
  absl::Status Apply(const AddDraw& draw);
  absl::Status Apply(const PutMeta& meta);

  // Rows of a table that are numbered over the life of the store. Those up to the floor are erased.
  struct Rows {
    std::int64_t first = 1;  // no row before this one is in the table
    std::int64_t floor = 0;
    std::int64_t last = 0;
  };

  std::string path_;
  FileLock lock_;  // released after the database is closed
  std::unique_ptr<Database> database_;
  bool writes_ = false;
  Rules rules_;
  std::int64_t inputs_base_ = 0;
  Rows inputs_;
  Rows draws_;
  std::uint64_t lines_ = 0;
  absl::Status failed_;

  Statement begin_, commit_;
  Statement begin_run_, end_run_, add_input_, put_snapshot_, delete_snapshot_, put_output_, acknowledge_;
  Statement delete_outputs_, delete_all_outputs_, delete_acknowledged_, add_line_, add_draw_, put_meta_;
  Statement put_position_, delete_inputs_, delete_draws_;
};

}  // namespace bandana::store
