#include "bandana/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"

namespace bandana::store {

absl::Status NoSuchStore(const std::string& path) {
  return FileError(absl::StatusCode::kNotFound, path, "no such store");
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<FileLock> FileLock::Take(const std::string& path, Missing missing) {
  FileLock lock;
  const int flags = O_RDWR | O_CLOEXEC | (missing == Missing::kCreate ? O_CREAT : 0);
  lock.descriptor_ = open(path.c_str(), flags, 0600);
  if (lock.descriptor_ < 0 && errno == ENOENT && missing == Missing::kRefuse) return NoSuchStore(path);
  if (lock.descriptor_ < 0) return SystemError(path, "cannot be opened for writing");
  if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError(path, "cannot be locked");
    return FileError(absl::StatusCode::kUnavailable, path,
                     "another process uses this store; each process needs a store of its own");
  }
  BANDANA_RETURN_IF_ERROR(lock.CheckNamed(path));
  return lock;
}

absl::Status FileLock::CheckNamed(const std::string& path) const {
  struct stat mine{};
  struct stat named{};
  if (fstat(descriptor_, &mine) != 0) return SystemError(path, "cannot be examined");
  if (!S_ISREG(mine.st_mode)) return InvalidInput({.message = "not a file", .file = path});
  if (stat(path.c_str(), &named) == 0 && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino) {
    return absl::OkStatus();
  }
  return FileError(absl::StatusCode::kAborted, path, "someone else has moved or replaced it");
}

}  // namespace bandana::store
