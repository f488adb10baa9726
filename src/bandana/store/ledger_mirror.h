#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// A copy of a store's ledger in a file, to be kept on another disk. It has the form of every ledger file
/// (privacy/ledger/record.h), with a file HeadPath beside it. It is written after the store's commits, so it
/// may be behind after a crash; then it is completed when it is opened.
class LedgerMirror {
 public:
  /// Opens a copy, or creates it, and adds the lines that it lacks. Fails with kFailedPrecondition if it has
  /// lines that the store lacks (the store is an old copy) or if it is the copy of another ledger; kDataLoss
  /// if it does not verify; kUnavailable if the disk fails or another process writes it.
  static absl::StatusOr<LedgerMirror> Open(const std::string& path, Store& store);

  /// Adds the lines that the store has since the last call. They are durable when this returns OK.
  absl::Status Extend(Store& store);

 private:
  LedgerMirror(std::string path, DurableFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  DurableFile file_;
  std::uint64_t lines_ = 0;
};

}  // namespace bandana::store
