#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana {

/// A file that one process at a time appends to. Errors of the operating system are kUnavailable; all name
/// the file in InputErrorOf(status).
class DurableFile {
 public:
  /// Makes it, readable by its owner alone, if there is none. kUnavailable if another process has it open,
  /// kInvalidArgument if the path is none of a file that can be written.
  static absl::StatusOr<DurableFile> Open(const std::string& path);

  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;
  ~DurableFile();

  std::uint64_t size() const { return size_; }

  /// The first `most` bytes.
  absl::StatusOr<std::string> Begin(std::size_t most) const;

  /// Durable when it returns OK. kAborted, and nothing written, if someone else has changed, moved or
  /// replaced the file. After any error the file may end with a part of `bytes`: do not go on.
  absl::Status Append(std::string_view bytes);

  /// Drops what comes after `size`; durable when it returns.
  absl::Status Truncate(std::uint64_t size);

 private:
  DurableFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  absl::Status CheckUntouched() const;

  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Replaces a file as a whole: after a crash it holds either what it held or `bytes`.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

/// Makes the names in the file's folder durable: once, after files were made there.
absl::Status SyncFolderOf(const std::string& path);

}  // namespace bandana
