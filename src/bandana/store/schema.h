#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/store/database.h"

namespace bandana::store {

/// The SQL that makes schema n + 1 from schema n is number n of this list. What was shipped is never changed:
/// a new schema is a new entry.
std::span<const std::string_view> Migrations();

/// Returns the schema of a store, 0 if the file is empty. Fails with kDataLoss if the file is no store.
absl::StatusOr<int> SchemaOf(Database& database);

/// Fails with kFailedPrecondition, and names the command that helps, if the schema is not this program's.
absl::Status CheckSchema(Database& database, std::span<const std::string_view> migrations = Migrations());

/// Opens a store to read it, with this program's schema or an older one. Fails with kNotFound,
/// kFailedPrecondition if the store is newer than the program, or kDataLoss if the file is no store.
absl::StatusOr<std::unique_ptr<Database>> OpenAnySchema(
    const std::string& path, std::span<const std::string_view> migrations = Migrations());

/// Brings an older store to this program's schema: one transaction for each migration. An empty file becomes
/// a store with a new identity. Fails with kFailedPrecondition if the store is newer than the program.
absl::Status Migrate(Database& database, std::span<const std::string_view> migrations = Migrations());

}  // namespace bandana::store
