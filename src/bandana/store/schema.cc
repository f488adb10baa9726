#include "bandana/store/schema.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/store/file_lock.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

constexpr std::int64_t kApplication = 0x626e6461;  // "bnda": the file says that it is a store

constexpr std::string_view kMigrations[] = {
    // Rows of `inputs` and `draws` are numbered over the life of the store. Those up to the floors in
    // `position` are erased: nobody can open them, and they are deleted in small groups. Input n of the open
    // run is row inputs_base + n.
    R"(
CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE runs(number INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, spec TEXT NOT NULL,
                  state INTEGER NOT NULL, why TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER,
                  first_line INTEGER NOT NULL);
CREATE TABLE ledger(seq INTEGER PRIMARY KEY, line TEXT NOT NULL);
CREATE TABLE position(one INTEGER PRIMARY KEY CHECK (one = 1), inputs_base INTEGER NOT NULL,
                      inputs_floor INTEGER NOT NULL, draws_floor INTEGER NOT NULL);
INSERT INTO position VALUES (1, 0, 0, 0);
CREATE TABLE snapshot(one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL,
                      applied INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE inputs(number INTEGER PRIMARY KEY, link TEXT NOT NULL, link_seq INTEGER NOT NULL,
                    body BLOB NOT NULL);
CREATE TABLE outputs(number INTEGER PRIMARY KEY, link TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL,
                     UNIQUE (link, seq));
CREATE TABLE acknowledged(link TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE draws(number INTEGER PRIMARY KEY, key TEXT NOT NULL, body BLOB NOT NULL);
)"};

absl::Status NotAStore(const Database& database) {
  return FileError(absl::StatusCode::kDataLoss, database.path(),
                   "this is a file of another program, and not a store: name the store's file");
}

}  // namespace

std::span<const std::string_view> Migrations() { return kMigrations; }

absl::StatusOr<int> SchemaOf(Database& database) {
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t application, database.Number("PRAGMA application_id"));
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t version, database.Number("PRAGMA user_version"));
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t tables, database.Number("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && tables == 0) return 0;
  if (application != kApplication || version < 1) return NotAStore(database);
  return static_cast<int>(version);
}

absl::Status CheckSchema(Database& database, std::span<const std::string_view> migrations) {
  BANDANA_ASSIGN_OR_RETURN(const int version, SchemaOf(database));
  const int mine = static_cast<int>(migrations.size());
  if (version == mine) return absl::OkStatus();
  return FileError(
      absl::StatusCode::kFailedPrecondition, database.path(),
      version > mine
          ? fmt::format("the store has schema {}, and this program has schema {}: use a newer program",
                        version, mine)
          : fmt::format("the store has schema {}, and this program has schema {}: make a back-up, then run: "
                        "bandana store migrate {}",
                        version, mine, database.path()));
}

absl::StatusOr<std::unique_ptr<Database>> OpenAnySchema(const std::string& path,
                                                        std::span<const std::string_view> migrations) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? NoSuchStore(path) : SystemError(path, "cannot be read");
  }
  BANDANA_ASSIGN_OR_RETURN(std::unique_ptr<Database> source, Database::Open(path, Database::Access::kRead));
  BANDANA_ASSIGN_OR_RETURN(const int schema, SchemaOf(*source));
  if (schema == 0) return FileError(absl::StatusCode::kDataLoss, path, "this file is empty, and not a store");
  if (schema > static_cast<int>(migrations.size())) BANDANA_RETURN_IF_ERROR(CheckSchema(*source, migrations));
  return source;
}

absl::Status Migrate(Database& database, std::span<const std::string_view> migrations) {
  BANDANA_ASSIGN_OR_RETURN(const int version, SchemaOf(database));
  const int mine = static_cast<int>(migrations.size());
  if (version > mine) return CheckSchema(database, migrations);
  for (int next = version + 1; next <= mine; ++next) {
    std::string sql = "BEGIN IMMEDIATE;";
    sql += migrations[static_cast<std::size_t>(next - 1)];
    if (next == 1) {
      const Key entropy = RandomKey();
      const std::string identity(entropy.begin(), entropy.begin() + entropy.size() / 2);
      sql += fmt::format("PRAGMA application_id={};INSERT INTO meta VALUES ('store', CAST('{}' AS BLOB));",
                         kApplication, RunName(identity));
    }
    sql += fmt::format("PRAGMA user_version={};COMMIT;", next);
    const absl::Status status = database.Run(sql);
    if (!status.ok()) database.Rollback();
    BANDANA_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace bandana::store
