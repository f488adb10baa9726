#include "bandana/store/database.h"

#include <sqlite3.h>

#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

// How long to wait for another process that reads the file.
constexpr int kPatienceInMilliseconds = 30'000;

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

// Binding fails only if the parameter does not exist, or if the text is longer than SQLite's limit. Step then
// reports the limit.
Statement& Statement::Bind(int parameter, std::int64_t number) {
  BANDANA_CHECK(sqlite3_bind_int64(statement_.get(), parameter, number) == SQLITE_OK);
  return *this;
}

Statement& Statement::BindText(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::BindBlob(int parameter, std::string_view bytes) {
  // A null pointer would be NULL, also with length 0.
  const char* const data = bytes.data() == nullptr ? "" : bytes.data();
  sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC);
  return *this;
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) return database_->StatusOf(code);
  Reset();
  return false;
}

absl::Status Statement::Run() {
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return absl::OkStatus();
  }
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::Bytes(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view() : std::string_view(data, static_cast<std::size_t>(size));
}

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, Access access) {
  auto database = std::make_unique<Database>();
  database->path_ = path;
  database->access_ = access;
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  database->connection_.reset(connection);
  if (code != SQLITE_OK) return database->StatusOf(code);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kPatienceInMilliseconds);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (access == Access::kRead) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    BANDANA_RETURN_IF_ERROR(database->Run("PRAGMA query_only=ON"));
  }
  return database;
}

absl::Status Database::Run(const std::string& sql) {
  return StatusOf(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

absl::StatusOr<Statement> Database::Prepare(std::string_view sql) {
  Statement statement;
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &made, nullptr);
  statement.statement_.reset(made);
  statement.database_ = this;
  BANDANA_RETURN_IF_ERROR(StatusOf(code));
  return statement;
}

absl::StatusOr<std::int64_t> Database::Number(std::string_view sql) {
  BANDANA_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  BANDANA_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Integer(0) : 0;
}

absl::StatusOr<std::string> Database::Text(std::string_view sql) {
  BANDANA_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  BANDANA_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? std::string(statement.Bytes(0)) : std::string();
}

absl::Status Database::CopyInto(const std::string& path) {
  // SQLite counts a copy as a change.
  if (access_ == Access::kRead) BANDANA_RETURN_IF_ERROR(Run("PRAGMA query_only=OFF"));
  BANDANA_ASSIGN_OR_RETURN(Statement copy, Prepare("VACUUM INTO ?"));
  absl::Status copied = copy.BindText(1, path).Run();
  if (access_ == Access::kRead) BANDANA_RETURN_IF_ERROR(Run("PRAGMA query_only=ON"));
  return copied;
}

void Database::Rollback() {
  if (sqlite3_get_autocommit(connection_.get()) == 0) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

absl::Status Database::StatusOf(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return absl::OkStatus();
  const char* const text = connection_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection_.get());
  const auto fault = [&](absl::StatusCode kind, std::string_view what) {
    return FileError(kind, path_, fmt::format("{} (SQLite says: {}, code {})", what, text, code));
  };
  constexpr int kPrimary = 0xff;  // the other bits are details
  switch (code & kPrimary) {
    case SQLITE_FULL:
      return fault(absl::StatusCode::kUnavailable, "the disk is full: make room, and start again");
    case SQLITE_IOERR:
      return fault(absl::StatusCode::kUnavailable, "the disk fails: check the disk, and start again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fault(absl::StatusCode::kUnavailable,
                   "another process holds it: end that process, and start again");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fault(absl::StatusCode::kDataLoss,
                   "it is damaged, or it is not a store: restore a back-up (bandana store restore)");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fault(absl::StatusCode::kUnavailable,
                   "it cannot be opened and written: check its folder and owner");
    case SQLITE_TOOBIG:
      return fault(absl::StatusCode::kInvalidArgument,
                   "a body is too long: a store holds up to 10^9 bytes in each");
    case SQLITE_NOMEM:
      return fault(absl::StatusCode::kUnavailable, "there is not enough memory");
    default:
      return fault(absl::StatusCode::kInternal, "it cannot be used");
  }
}

}  // namespace bandana::store
