#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bandana::store {

class Database;

/// A statement of SQL. Parameters are numbered from 1, columns from 0. After a failure of Step it returns
/// that error until it is reset.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) noexcept = default;

  Statement& Bind(int parameter, std::int64_t number);
  /// The bytes must stay until the statement is reset or stepped to its end.
  Statement& BindText(int parameter, std::string_view text);
  Statement& BindBlob(int parameter, std::string_view bytes);

  /// Returns whether there is a row. After the last row the statement is reset.
  absl::StatusOr<bool> Step();
  /// Steps to the end, and resets.
  absl::Status Run();
  void Reset();

  std::int64_t Integer(int column) const;
  bool IsNull(int column) const;
  /// Valid until the next Step or Reset.
  std::string_view Bytes(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Database* database_ = nullptr;
};

/// A connection to a file of SQLite. Errors name the file and say what to do.
class Database {
 public:
  enum class Access { kWrite, kRead };

  /// Opens a file that exists. A file of length 0 is an empty database.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Access access);

  const std::string& path() const { return path_; }

  /// Runs statements that return nothing.
  absl::Status Run(const std::string& sql);
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  /// Returns the first column of the first row, 0 if there is no row.
  absl::StatusOr<std::int64_t> Number(std::string_view sql);
  absl::StatusOr<std::string> Text(std::string_view sql);

  /// Writes a copy of the database as it is now into an empty file, also while another process writes. The
  /// copy has only what is valid: nothing of rows that were deleted. It is one file without a write-ahead
  /// log. It is not durable yet.
  absl::Status CopyInto(const std::string& path);

  /// Ends the open transaction, if there is one, without its changes.
  void Rollback();

  /// Returns the status of a result code of SQLite.
  absl::Status StatusOf(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  std::string path_;
  Access access_ = Access::kWrite;
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace bandana::store
