#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana::store {

/// Holds the lock of a store's file (flock) until it is destroyed. Whoever wants to write the file takes it
/// first; readers do not. Destroy it after the connections of SQLite to this file: closing a descriptor drops
/// SQLite's own locks.
class FileLock {
 public:
  enum class Missing { kCreate, kRefuse };

  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  /// Takes the lock. A missing file is created with mode 0600, or refused with kNotFound. Fails with
  /// kUnavailable if another process holds the lock or if the file cannot be opened for writing.
  static absl::StatusOr<FileLock> Take(const std::string& path, Missing missing);

  /// Fails with kAborted if the path does not lead to the locked file any more.
  absl::Status CheckNamed(const std::string& path) const;

 private:
  int descriptor_ = -1;
};

/// The error that says that a file is missing where a store was expected.
absl::Status NoSuchStore(const std::string& path);

}  // namespace bandana::store
