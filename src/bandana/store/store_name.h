#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace bandana::store {

/// Returns the file of a store that is named "store.db" or "sqlite:store.db". Fails with kInvalidArgument if
/// the name is empty or is that of a database that is no file ("postgresql://...").
absl::StatusOr<std::string> FileOfStore(const std::string& name);

/// Returns whether a name is that of a store and not of a ledger's file: it begins with "sqlite:", or the
/// file begins as those of SQLite do. A process that uses the store must not call this: closing the file
/// would drop SQLite's locks.
bool NamesStore(const std::string& name);

}  // namespace bandana::store
