#include "bandana/store/migrate.h"

#include <cstdio>
#include <memory>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/store/backup.h"
#include "bandana/store/database.h"
#include "bandana/store/file_lock.h"
#include "fmt/format.h"

namespace bandana::store {

absl::StatusOr<Migrated> MigrateFile(const std::string& path, absl::Time now,
                                     std::span<const std::string_view> migrations) {
  BANDANA_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(path, FileLock::Missing::kRefuse));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                           Database::Open(path, Database::Access::kWrite));
  Migrated migrated{.to = static_cast<int>(migrations.size())};
  BANDANA_ASSIGN_OR_RETURN(migrated.from, SchemaOf(*database));
  if (migrated.from == 0) {
    return FileError(absl::StatusCode::kDataLoss, path, "this file is empty, and not a store");
  }
  if (migrated.from >= migrated.to) {
    BANDANA_RETURN_IF_ERROR(CheckSchema(*database, migrations));
    return migrated;
  }
  migrated.copy = fmt::format("{}.schema-{}", path, migrated.from);
  BANDANA_RETURN_IF_ERROR(BackUp(path, migrated.copy, now, migrations));
  BANDANA_RETURN_IF_ERROR(database->Run("PRAGMA synchronous=FULL"));
  absl::Status status = Migrate(*database, migrations);
  if (status.ok()) return migrated;
  // If no step has succeeded, the store is what it was, and a second call makes the back-up anew.
  const absl::StatusOr<int> now_at = SchemaOf(*database);
  if (now_at.ok() && *now_at == migrated.from) std::remove(migrated.copy.c_str());
  return status;
}

}  // namespace bandana::store
