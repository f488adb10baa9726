#pragma once

#include <sys/stat.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"

namespace bandana::service {

/// The content of a file. It is read again whenever the file has changed since the last look. If it cannot be
/// read then, the last content stays in force, and `report` is told once. It may be used from any thread.
template <class T>
class WatchedFile {
 public:
  using Read = std::function<absl::StatusOr<T>(const std::string& path)>;
  using TellOperator = std::function<void(const std::string&)>;

  static absl::StatusOr<std::unique_ptr<WatchedFile>> Open(std::string path, Read read, TellOperator report) {
    std::unique_ptr<WatchedFile> file(new WatchedFile(std::move(path), std::move(read), std::move(report)));
    file->seen_ = file->Look();
    BANDANA_ASSIGN_OR_RETURN(T content, file->read_(file->path_));
    file->content_ = std::make_shared<const T>(std::move(content));
    return file;
  }

  std::shared_ptr<const T> Current() {
    absl::Status problem;
    std::shared_ptr<const T> current;
    {
      const std::lock_guard lock(mutex_);
      if (const Stamp now = Look(); now != seen_) {
        seen_ = now;
        absl::StatusOr<T> content = read_(path_);
        problem = content.status();
        if (content.ok()) content_ = std::make_shared<const T>(*std::move(content));
      }
      current = content_;
    }
    if (!problem.ok()) report_(std::string(problem.message()) + "; what was read before stays in force");
    return current;
  }

  const std::string& path() const { return path_; }

 private:
  // Two versions of a file differ in one of these: replaced files have another number, and edited ones
  // another time.
  using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

  WatchedFile(std::string path, Read read, TellOperator report)
      : path_(std::move(path)), read_(std::move(read)), report_(std::move(report)) {}

  Stamp Look() const {
    struct stat info{};
    if (stat(path_.c_str(), &info) != 0) return {};
    return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  }

  const std::string path_;
  const Read read_;
  const TellOperator report_;
  std::mutex mutex_;
  Stamp seen_;
  std::shared_ptr<const T> content_;
};

}  // namespace bandana::service
