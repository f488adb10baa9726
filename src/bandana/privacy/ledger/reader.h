#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/ledger/record.h"

namespace bandana {

/// Returns the path of the file beside a ledger that says where the ledger ends, so that a line removed at
/// the end is noticed. For a symbolic link, it is beside the link's target.
std::string HeadPath(const std::string& ledger);

/// Returns the content of the file HeadPath, or nothing if there is no such file. Fails with kDataLoss if it
/// is not a head.
absl::StatusOr<std::optional<LedgerHead>> ReadHead(const std::string& ledger);

/// A whole ledger that verifies.
struct LedgerState {
  Dated<LedgerHeader> header;
  Accounts accounts;
  LedgerHead head;               ///< number and hash of the last line
  std::string last_time;         ///< time of the last line
  std::uint64_t bytes = 0;       ///< up to the end of the last complete line
  std::uint64_t torn_bytes = 0;  ///< bytes after that: a line that was being written when its writer ended
  std::optional<LedgerHead> written_head;  ///< content of the file HeadPath; behind `head` after a crash
  std::optional<std::uint64_t> noted_seq;  ///< number of the line that has the noted hash
};

struct ReadOptions {
  /// A head that was noted elsewhere. It must be the hash of some line. Then no line up to that one was
  /// altered or removed, and the file HeadPath may be missing.
  std::optional<std::string> noted_head;
};

/// Reads and verifies a ledger, also while someone is writing it, and calls `visit` for every charge in
/// order. It changes nothing.
///
/// - kNotFound: there is no such file, and no file HeadPath that belongs to it.
/// - kDataLoss: something does not verify; file and line are in InputErrorOf(status). It finds lines that
///   were altered, removed, inserted, repeated or reordered; lines missing at the end (by HeadPath); a
///   release charged twice; charges beyond a budget. If someone rewrites both files from the first changed
///   line on, only `noted_head` finds it.
/// - Any other error comes from `visit`.
absl::StatusOr<LedgerState> ReadLedger(
    const std::string& path, const ReadOptions& options,
    absl::FunctionRef<absl::Status(const Dated<LedgerEntry>&, std::string_view hash)> visit);

}  // namespace bandana
