#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/store/file_lock.h"

namespace bandana::store {

/// A file of SQLite that is written under another name and gets its own name when it is whole. So a crash or
/// a full disk leaves no half of it under its name, and it never replaces another file.
class NewFile {
 public:
  /// Begins an empty file beside `path`, readable by its owner alone. Fails with kAlreadyExists if there is a
  /// file at `path`, or a journal of SQLite that would be taken for the journal of the new file.
  static absl::StatusOr<NewFile> Begin(const std::string& path);

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  /// Returns where the file is until Finish.
  const std::string& part() const { return part_; }

  /// Lets a store lock the file.
  void Unlock();

  /// Makes the file durable and gives it its name. All connections to it must be closed.
  absl::Status Finish();

 private:
  NewFile(std::string path, std::string part, FileLock lock)
      : path_(std::move(path)), part_(std::move(part)), lock_(std::move(lock)) {}

  std::string path_;
  std::string part_;  // empty after Finish
  FileLock lock_;
};

}  // namespace bandana::store
