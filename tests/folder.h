#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace bandana::test {

enum class Medium { kMemory, kDisk };

/// A temporary folder. With kMemory it is in memory if the machine has such a folder, because a sync is free
/// there.
class Folder {
 public:
  explicit Folder(Medium medium = Medium::kMemory) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = medium == Medium::kMemory && access(memory.c_str(), W_OK) == 0;
    std::string name =
        ((in_memory ? memory : std::filesystem::temp_directory_path()) / "bandana-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace bandana::test
