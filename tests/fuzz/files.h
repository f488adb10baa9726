#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "bandana/core/check.h"

/// Files for code that reads them by name.
namespace bandana::fuzz {

/// A temporary folder, in memory if the machine has such a folder. A target keeps one for all its runs; it is
/// removed when the program ends well.
class Folder {
 public:
  Folder() {
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    std::string name =
        ((in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
         "bandana-fuzz-XXXXXX")
            .string();
    BANDANA_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
    Last() = path_;
    std::atexit([] { std::filesystem::remove_all(Last()); });
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  static std::filesystem::path& Last() {
    static auto& last = *new std::filesystem::path();
    return last;
  }
  std::filesystem::path path_;
};

/// Replaces a file, which only its owner can read.
inline void Write(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  BANDANA_CHECK(file.good() && chmod(path.c_str(), 0600) == 0);
}

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace bandana::fuzz
