#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

/// A disk below SQLite on which tests plant faults. It knows which bytes of a file are durable: those that
/// were there at the last sync. When the power fails, each sector that was written since may be on the disk
/// or not.
namespace bandana::store {

class PlantedDisk {
 public:
  /// All databases that are opened while this object lives are on it. There may be one at a time.
  PlantedDisk() {
    now_ = this;
    system_ = sqlite3_vfs_find(nullptr);
    vfs_ = *system_;
    vfs_.zName = "planted";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + system_->szOsFile;
    vfs_.xOpen = &OpenFile;
    vfs_.xDelete = &DeleteFile;
    sqlite3_vfs_register(&vfs_, 1);
  }
  PlantedDisk(const PlantedDisk&) = delete;
  PlantedDisk& operator=(const PlantedDisk&) = delete;
  ~PlantedDisk() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(system_, 1);
    now_ = nullptr;
  }

  // Faults. 0 means never.
  std::uint64_t power_fails_at = 0;  ///< the write, sync or truncation with this number
  std::uint64_t sync_fails_at =
      0;                        ///< the sync with this number; the kernel then forgets what it had to write
  std::uint64_t quota = 0;      ///< bytes of all files together
  bool syncs_are_lies = false;  ///< a sync succeeds and makes nothing durable

  std::uint64_t operations = 0;
  std::uint64_t syncs = 0;
  bool power_failed = false;

  /// Leaves on the files what the disk has after the power failed.
  void FailPower(std::mt19937_64& random) {
    for (const auto& [path, kept] : durable_) {
      const std::string written = Contents(path);
      std::string left = random() % 2 == 0 ? written : kept;
      left.resize(random() % 2 == 0 ? written.size() : kept.size());
      for (std::size_t at = 0; at < left.size(); at += kSector) {
        const std::string& from = random() % 2 == 0 ? written : kept;
        for (std::size_t i = at; i < std::min(at + kSector, left.size()); ++i) {
          left[i] = i < from.size() ? from[i] : '\0';
        }
      }
      std::ofstream(path, std::ios::binary | std::ios::trunc) << left;
    }
    for (const auto& [path, _] : durable_) {
      std::filesystem::remove(path.substr(0, path.rfind("-wal")) + "-shm");
    }
    durable_.clear();
    forgotten_.clear();
    power_failed = false;
    power_fails_at = 0;
  }

 private:
  static constexpr std::size_t kSector = 512;

  struct File {
    sqlite3_file base;
    const std::string* path;
    sqlite3_file* system() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static File* Of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static sqlite3_file* System(sqlite3_file* file) { return Of(file)->system(); }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Returns whether the power fails at this operation, or has failed.
  bool Fails() {
    ++operations;
    if (operations == power_fails_at) power_failed = true;
    return power_failed;
  }

  void MakeDurable(const std::string& path) {
    std::string now = Contents(path);
    const std::string& kept = durable_[path];
    for (auto& [at, bytes] : forgotten_[path]) {
      if (at < now.size() && now.compare(at, bytes.size(), bytes) == 0) {
        for (std::size_t i = at; i < at + bytes.size() && i < now.size(); ++i) {
          now[i] = i < kept.size() ? kept[i] : '\0';
        }
      }
    }
    durable_[path] = std::move(now);
  }

  void Forget(const std::string& path) {
    const std::string now = Contents(path);
    const std::string& kept = durable_[path];
    for (std::size_t at = 0; at < now.size(); at += kSector) {
      const std::string sector = now.substr(at, kSector);
      if (at >= kept.size() || kept.compare(at, kSector, sector) != 0) forgotten_[path][at] = sector;
    }
  }

  static int OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    File* const mine = Of(file);
    mine->base.pMethods = nullptr;
    const int code = now_->system_->xOpen(vfs, name, mine->system(), flags, out);
    if (mine->system()->pMethods == nullptr) return code;
    mine->base.pMethods = &kMethods;
    mine->path = nullptr;
    constexpr int kTracked = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    if (name != nullptr && (flags & kTracked) != 0) {
      mine->path = &now_->durable_.try_emplace(name, Contents(name)).first->first;
    }
    return code;
  }

  static int DeleteFile(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    if (now_->Fails()) return SQLITE_IOERR_DELETE;
    const int code = now_->system_->xDelete(vfs, name, sync_folder);
    if (code == SQLITE_OK) now_->durable_.erase(name);
    return code;
  }

  static int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    if (Of(file)->path == nullptr) return System(file)->pMethods->xWrite(System(file), bytes, size, at);
    const bool failed_before = now_->power_failed;
    if (now_->Fails()) {
      // The sectors at the beginning of the write that fails may still reach the disk.
      const int half = size / 2 / static_cast<int>(kSector) * static_cast<int>(kSector);
      if (!failed_before && half > 0) System(file)->pMethods->xWrite(System(file), bytes, half, at);
      return SQLITE_IOERR_WRITE;
    }
    const std::string& path = *Of(file)->path;
    if (now_->quota > 0) {
      std::uint64_t used = 0;
      for (const auto& [each, _] : now_->durable_) {
        std::error_code error;
        const auto bytes_there = std::filesystem::file_size(each, error);
        if (!error) used += bytes_there;
      }
      const std::uint64_t end = static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(size);
      const std::uint64_t there = std::filesystem::file_size(path);
      if (end > there && used + end - there > now_->quota) return SQLITE_FULL;
    }
    auto& forgotten = now_->forgotten_[path];
    const auto first = static_cast<std::size_t>(at) / kSector * kSector;
    for (std::size_t sector = first; sector < static_cast<std::size_t>(at + size); sector += kSector) {
      forgotten.erase(sector);
    }
    return System(file)->pMethods->xWrite(System(file), bytes, size, at);
  }

  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (Of(file)->path != nullptr && now_->Fails()) return SQLITE_IOERR_TRUNCATE;
    return System(file)->pMethods->xTruncate(System(file), size);
  }

  static int Sync(sqlite3_file* file, int flags) {
    if (Of(file)->path == nullptr) return System(file)->pMethods->xSync(System(file), flags);
    if (now_->Fails()) return SQLITE_IOERR_FSYNC;
    if (++now_->syncs == now_->sync_fails_at) {
      now_->Forget(*Of(file)->path);
      return SQLITE_IOERR_FSYNC;
    }
    if (!now_->syncs_are_lies) now_->MakeDurable(*Of(file)->path);
    return SQLITE_OK;
  }

  static int Close(sqlite3_file* file) { return System(file)->pMethods->xClose(System(file)); }
  static int Read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 at) {
    return System(file)->pMethods->xRead(System(file), bytes, size, at);
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    return System(file)->pMethods->xFileSize(System(file), size);
  }
  static int Lock(sqlite3_file* file, int kind) { return System(file)->pMethods->xLock(System(file), kind); }
  static int Unlock(sqlite3_file* file, int kind) {
    return System(file)->pMethods->xUnlock(System(file), kind);
  }
  static int CheckReservedLock(sqlite3_file* file, int* out) {
    return System(file)->pMethods->xCheckReservedLock(System(file), out);
  }
  static int FileControl(sqlite3_file* file, int what, void* argument) {
    return System(file)->pMethods->xFileControl(System(file), what, argument);
  }
  static int SectorSize(sqlite3_file* file) { return System(file)->pMethods->xSectorSize(System(file)); }
  static int DeviceCharacteristics(sqlite3_file*) { return 0; }
  static int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
    return System(file)->pMethods->xShmMap(System(file), region, size, extend, out);
  }
  static int ShmLock(sqlite3_file* file, int offset, int n, int flags) {
    return System(file)->pMethods->xShmLock(System(file), offset, n, flags);
  }
  static void ShmBarrier(sqlite3_file* file) { System(file)->pMethods->xShmBarrier(System(file)); }
  static int ShmUnmap(sqlite3_file* file, int remove) {
    return System(file)->pMethods->xShmUnmap(System(file), remove);
  }

  static constexpr sqlite3_io_methods kMethods = {2,
                                                  Close,
                                                  Read,
                                                  Write,
                                                  Truncate,
                                                  Sync,
                                                  FileSize,
                                                  Lock,
                                                  Unlock,
                                                  CheckReservedLock,
                                                  FileControl,
                                                  SectorSize,
                                                  DeviceCharacteristics,
                                                  ShmMap,
                                                  ShmLock,
                                                  ShmBarrier,
                                                  ShmUnmap,
                                                  nullptr,
                                                  nullptr};

  inline static PlantedDisk* now_ = nullptr;
  sqlite3_vfs* system_;
  sqlite3_vfs vfs_;
  std::map<std::string, std::string> durable_;  // what the disk has for certain
  // Sectors that a failed sync has left in memory: later syncs do not write them.
  std::map<std::string, std::map<std::size_t, std::string>> forgotten_;
};

}  // namespace bandana::store
