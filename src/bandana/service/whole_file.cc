#include "bandana/service/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Status CannotWrite(const std::string& path) {
  const int why = errno;
  if (why == EEXIST) {
    return FileError(absl::StatusCode::kAlreadyExists, path,
                     "the file is there already, and nothing is overwritten; move it away first");
  }
  return FileError(absl::StatusCode::kUnavailable, path,
                   fmt::format("cannot be written: {}", std::strerror(why)));
}

bool WriteBytes(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

absl::Status WriteTemporary(const std::string& temporary, std::string_view bytes, Secrecy secrecy) {
  unlink(temporary.c_str());  // what a crash has left, which may have other permissions
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        secrecy == Secrecy::kPrivate ? 0600 : 0644);
  if (file < 0) return CannotWrite(temporary);
  const bool written = WriteBytes(file, bytes) && fsync(file) == 0;
  const absl::Status status = written ? absl::OkStatus() : CannotWrite(temporary);
  close(file);
  return status;
}

// Renames a file to a name that is free. Not every file system knows such a rename; those have hard links.
int RenameToFree(const char* from, const char* to) {
  const int renamed = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (renamed == 0 || (errno != EINVAL && errno != ENOSYS)) return renamed;
  return link(from, to) == 0 ? unlink(from) : -1;
}

absl::Status Finish(const std::string& temporary, const std::string& path,
                    int (*rename_as)(const char*, const char*)) {
  if (rename_as(temporary.c_str(), path.c_str()) == 0) return SyncFolderOf(path);
  absl::Status status = CannotWrite(path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace

std::string PathIn(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

absl::Status WriteNewFile(const std::string& path, std::string_view bytes, Secrecy secrecy) {
  const std::string temporary = path + ".new";
  BANDANA_RETURN_IF_ERROR(WriteTemporary(temporary, bytes, secrecy));
  return Finish(temporary, path, RenameToFree);
}

absl::Status WriteOverFile(const std::string& path, std::string_view bytes, Secrecy secrecy) {
  const std::string temporary = path + ".new";
  BANDANA_RETURN_IF_ERROR(WriteTemporary(temporary, bytes, secrecy));
  return Finish(temporary, path, std::rename);
}

absl::Status GiveNewName(const std::string& temporary, const std::string& path) {
  return Finish(temporary, path, RenameToFree);
}

}  // namespace bandana::service
