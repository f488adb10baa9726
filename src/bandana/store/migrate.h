#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/store/schema.h"

namespace bandana::store {

struct Migrated {
  int from = 0;      ///< the schema before
  int to = 0;        ///< the schema now
  std::string copy;  ///< the back-up; empty if the store had this schema already
};

/// Brings the store in a file to this program's schema. First it makes a back-up beside the file, named after
/// the schema, as "store.db.schema-1". Then each migration is a transaction of its own: if one fails, the
/// store keeps the schema before it, and a second call goes on from there.
/// - kNotFound: there is no such store.
/// - kUnavailable: a process uses the store, or a disk fails.
/// - kAlreadyExists: the back-up's file is there already.
/// - kFailedPrecondition: the store is newer than the program.
absl::StatusOr<Migrated> MigrateFile(const std::string& path, absl::Time now,
                                     std::span<const std::string_view> migrations = Migrations());

}  // namespace bandana::store
