#include "bandana/store/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

// SQLite keeps these files beside a database.
constexpr const char* kBeside[] = {"-wal", "-shm", "-journal"};

bool Exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

absl::Status IsThere(const std::string& path) {
  return FileError(absl::StatusCode::kAlreadyExists, path,
                   "there is a file already, and it is not overwritten: name another file, or move this one "
                   "away");
}

}  // namespace

absl::StatusOr<NewFile> NewFile::Begin(const std::string& path) {
  if (Exists(path)) return IsThere(path);
  for (const char* const suffix : kBeside) {
    if (!Exists(path + suffix)) continue;
    return FileError(
        absl::StatusCode::kAlreadyExists, path + suffix,
        fmt::format("this file of an earlier store would be taken for a part of {}: move it away", path));
  }
  const std::string part = path + ".part";
  // A part that nobody holds is what is left of a process that was killed.
  absl::StatusOr<FileLock> lock = FileLock::Take(part, FileLock::Missing::kCreate);
  if (!lock.ok()) return lock.status();
  NewFile file(path, part, *std::move(lock));
  for (const char* const suffix : kBeside) unlink((part + suffix).c_str());
  if (truncate(part.c_str(), 0) != 0) return SystemError(part, "cannot be written");
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, std::string())),
      lock_(std::move(other.lock_)) {}

NewFile::~NewFile() {
  if (part_.empty()) return;
  for (const char* const suffix : kBeside) unlink((part_ + suffix).c_str());
  unlink(part_.c_str());
}

void NewFile::Unlock() { lock_ = FileLock(); }

absl::Status NewFile::Finish() {
  for (const char* const suffix : {"-wal", "-journal"}) {
    if (!Exists(part_ + suffix)) continue;
    return FileError(absl::StatusCode::kUnavailable, part_ + suffix, "another process is using this file");
  }
  const int descriptor = open(part_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(part_, "cannot be opened");
  const bool synced = fsync(descriptor) == 0;
  const absl::Status status = synced ? absl::OkStatus() : SystemError(part_, "cannot be made durable");
  close(descriptor);
  BANDANA_RETURN_IF_ERROR(status);
  if (renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) return IsThere(path_);
    // Some file systems cannot rename in this way.
    if (errno != EINVAL) return SystemError(path_, "cannot be made");
    if (Exists(path_)) return IsThere(path_);
    if (std::rename(part_.c_str(), path_.c_str()) != 0) return SystemError(path_, "cannot be made");
  }
  part_.clear();
  return SyncFolderOf(path_);
}

}  // namespace bandana::store
