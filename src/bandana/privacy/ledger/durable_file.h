#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana {

/// A file that one process at a time appends to. Errors of the operating system are kUnavailable. All errors
/// name the file in InputErrorOf(status).
class DurableFile {
 public:
  /// Opens the file, or creates it, readable by its owner alone. Fails with kUnavailable if another process
  /// has it open, and with kInvalidArgument if no file can be written at this path.
  static absl::StatusOr<DurableFile> Open(const std::string& path);

  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;
  ~DurableFile();

  std::uint64_t size() const { return size_; }

  /// Returns the first `most` bytes.
  absl::StatusOr<std::string> Begin(std::size_t most) const;

  /// Appends the bytes. They are durable when it returns OK. Fails with kAborted, and writes nothing, if
  /// someone else has changed, moved or replaced the file. After any error the file may end with a part of
  /// `bytes`, and the caller must not continue.
  absl::Status Append(std::string_view bytes);

  /// Removes everything after `size`. The change is durable when it returns.
  absl::Status Truncate(std::uint64_t size);

 private:
  DurableFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  absl::Status CheckUntouched() const;

  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Replaces a file as a whole: after a crash it holds either the old content or `bytes`.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

/// Makes the names in the file's folder durable. Call it once, after files were created there.
absl::Status SyncFolderOf(const std::string& path);

}  // namespace bandana
