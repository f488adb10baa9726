#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/ledger/record.h"

namespace bandana {

/// The file beside a ledger that says where it ends, so that a line removed there is missed. Of a symbolic
/// link, beside what it leads to.
std::string HeadPath(const std::string& ledger);

/// What HeadPath holds; nothing if there is no such file. kDataLoss if it is no head.
absl::StatusOr<std::optional<LedgerHead>> ReadHead(const std::string& ledger);

/// A whole ledger that verifies.
struct LedgerState {
  Dated<LedgerHeader> header;
  Accounts accounts;
  LedgerHead head;                         ///< of the last line
  std::string last_time;                   ///< of the last line
  std::uint64_t bytes = 0;                 ///< up to the end of the last whole line
  std::uint64_t torn_bytes = 0;            ///< after it: a line that was being written when its writer ended
  std::optional<LedgerHead> written_head;  ///< what HeadPath holds; behind `head` after a crash
  std::optional<std::uint64_t> noted_seq;  ///< which line has the noted hash
};

struct ReadOptions {
  /// A head that was noted elsewhere. It must be the hash of some line; then no line up to it was altered or
  /// removed, and HeadPath may be missing.
  std::optional<std::string> noted_head;
};

/// Reads and verifies a ledger, whether or not someone is writing it, and calls `visit` for every charge in
/// order. Nothing is changed.
///
/// - kNotFound: no such file, and no HeadPath that misses it.
/// - kDataLoss: something does not verify; file and line are in InputErrorOf(status). Found are lines
/// altered,
///   removed, inserted, repeated or reordered; lines missing at the end (by HeadPath); a release charged
///   twice; charges beyond a budget. Whoever rewrites both files from the first changed line on is found by
///   `noted_head` alone.
/// - Anything else: `visit`'s own error.
absl::StatusOr<LedgerState> ReadLedger(
    const std::string& path, const ReadOptions& options,
    absl::FunctionRef<absl::Status(const Dated<LedgerEntry>&, std::string_view hash)> visit);

}  // namespace bandana
