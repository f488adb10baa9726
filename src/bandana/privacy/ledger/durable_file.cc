#include "bandana/privacy/ledger/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// Returns whether the error is about the path, and not about a machine that has run out of a resource.
bool IsOfThePath(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
      return true;
    default:
      return false;
  }
}

absl::Status WriteAll(int descriptor, std::string_view bytes, std::uint64_t at, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemError(path, "cannot be written");
    at += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DurableFile> DurableFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 && IsOfThePath(errno)) {
    return InvalidInput({.message = fmt::format("cannot be opened for writing: {}", std::strerror(errno)),
                         .file = path,
                         .accepted = "a file that can be written, in a folder that exists"});
  }
  if (descriptor < 0) return SystemError(path, "cannot be opened for writing");
  DurableFile file(path, descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError(path, "cannot be locked");
    return FileError(absl::StatusCode::kUnavailable, path, "another process is writing it");
  }
  struct stat info{};
  if (fstat(descriptor, &info) != 0) return SystemError(path, "cannot be examined");
  if (!S_ISREG(info.st_mode)) return InvalidInput({.message = "not a file", .file = path});
  file.size_ = static_cast<std::uint64_t>(info.st_size);
  BANDANA_RETURN_IF_ERROR(file.CheckUntouched());
  return file;
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<std::string> DurableFile::Begin(std::size_t most) const {
  std::string bytes(most, '\0');
  const ssize_t got = pread(descriptor_, bytes.data(), bytes.size(), 0);
  if (got < 0) return SystemError(path_, "cannot be read");
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

absl::Status DurableFile::CheckUntouched() const {
  struct stat mine{};
  struct stat named{};
  if (fstat(descriptor_, &mine) != 0) return SystemError(path_, "cannot be examined");
  const bool same = stat(path_.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
                    mine.st_ino == named.st_ino && static_cast<std::uint64_t>(mine.st_size) == size_;
  if (same) return absl::OkStatus();
  return FileError(absl::StatusCode::kAborted, path_, "someone else has changed, moved or replaced it");
}

absl::Status DurableFile::Append(std::string_view bytes) {
  BANDANA_RETURN_IF_ERROR(CheckUntouched());
  BANDANA_RETURN_IF_ERROR(WriteAll(descriptor_, bytes, size_, path_));
  if (fdatasync(descriptor_) != 0) return SystemError(path_, "cannot be made durable");
  size_ += bytes.size();
  return absl::OkStatus();
}

absl::Status DurableFile::Truncate(std::uint64_t size) {
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return SystemError(path_, "cannot be shortened");
  if (fsync(descriptor_) != 0) return SystemError(path_, "cannot be made durable");
  size_ = size;
  return absl::OkStatus();
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return SystemError(temporary, "cannot be opened for writing");
  absl::Status status = WriteAll(descriptor, bytes, 0, temporary);
  if (status.ok() && fdatasync(descriptor) != 0) status = SystemError(temporary, "cannot be made durable");
  close(descriptor);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "cannot be replaced");
  }
  return status;
}

absl::Status SyncFolderOf(const std::string& path) {
  const std::string folder = (std::filesystem::path(".") / path).parent_path().string();
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(folder, "cannot be opened");
  const bool synced = fsync(descriptor) == 0;
  const absl::Status status = synced ? absl::OkStatus() : SystemError(folder, "cannot be made durable");
  close(descriptor);
  return status;
}

}  // namespace bandana
