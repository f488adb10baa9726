#include "bandana/store/backup.h"

#include <memory>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/store/database.h"
#include "bandana/store/new_file.h"
#include "bandana/store/sqlite_store.h"

namespace bandana::store {
namespace {

// Every schema has these tables. With secure_delete, SQLite overwrites what it deletes. The copy of a back-up
// keeps the time of that back-up.
absl::Status Strip(Database& copy, absl::Time now) {
  BANDANA_RETURN_IF_ERROR(
      copy.Run("PRAGMA secure_delete=ON;PRAGMA synchronous=FULL;BEGIN IMMEDIATE;"
               "DELETE FROM inputs;DELETE FROM outputs;DELETE FROM draws;DELETE FROM snapshot"));
  BANDANA_ASSIGN_OR_RETURN(Statement mark, copy.Prepare("INSERT OR IGNORE INTO meta VALUES (?, ?)"));
  const std::string time = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now, absl::UTCTimeZone());
  BANDANA_RETURN_IF_ERROR(mark.BindText(1, kCopyMeta).BindBlob(2, time).Run());
  return copy.Run("COMMIT");
}

absl::Status VerifyLedger(Database& copy, const std::string& store) {
  LedgerVerifier verifier(store);
  BANDANA_ASSIGN_OR_RETURN(Statement lines, copy.Prepare("SELECT line FROM ledger ORDER BY seq"));
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, lines.Step());
    if (!row) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(
        verifier.Take(lines.Bytes(0), [](const auto&, std::string_view) { return absl::OkStatus(); }));
  }
}

}  // namespace

absl::Status BackUp(const std::string& store, const std::string& copy, absl::Time now,
                    std::span<const std::string_view> migrations) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Database> source, OpenAnySchema(store, migrations));
  BANDANA_ASSIGN_OR_RETURN(NewFile file, NewFile::Begin(copy));
  BANDANA_RETURN_IF_ERROR(source->CopyInto(file.part()));
  {
    BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Database> made,
                             Database::Open(file.part(), Database::Access::kWrite));
    BANDANA_RETURN_IF_ERROR(Strip(*made, now));
    BANDANA_RETURN_IF_ERROR(VerifyLedger(*made, store));
  }
  return file.Finish();
}

}  // namespace bandana::store
