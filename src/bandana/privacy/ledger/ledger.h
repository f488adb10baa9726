#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Charges releases against the budgets of a deployment and keeps them, with what was drawn, in an
/// append-only, hash-chained file (privacy/ledger/record.h). Charge and draw are one line, durable before the
/// draw leaves: there is no moment at which one is kept without the other, and a retry, also after a crash,
/// gets the same draw and pays nothing. One thread at a time; one process at a time.
class Ledger {
 public:
  enum class Durability {
    kEach,     ///< what Once returns may leave
    kGrouped,  ///< it may leave after the next Commit: one wait for the disk pays for many releases
  };

  /// Opens a ledger, or begins one.
  /// - kInvalidArgument: a budget that is none; a path at which no file can be written.
  /// - kFailedPrecondition: the file is the ledger of another deployment or configuration.
  /// - kDataLoss: it does not verify (privacy/ledger/reader.h). Only an incomplete last line is mended: it
  ///   was being written when its writer ended, so nothing of it had left; see torn_bytes().
  /// - kUnavailable: another process has it, or the disk fails.
  static absl::StatusOr<std::unique_ptr<Ledger>> Open(const std::string& path, const LedgerHeader& header,
                                                      Durability durability);

  /// What a release costs each of those whose data are in it.
  struct Cost {
    DpGuarantee guarantee;
    Loss loss;  ///< in the ledger's measure
  };

  /// The draw of an earlier call with this key, or a new one that is paid for. kResourceExhausted if a budget
  /// cannot pay: nothing is drawn and nothing is written. A draw that fails costs nothing, since nothing of
  /// it leaves. Once the file could not be written, every call is that error.
  absl::StatusOr<Report> Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                              absl::FunctionRef<absl::StatusOr<Report>()> draw);

  /// Makes durable what was charged since the last time. What was not is forgotten when the ledger closes.
  absl::Status Commit();

  const LedgerHeader& header() const { return header_; }
  const Accounts& accounts() const { return accounts_; }
  const LedgerHead& head() const { return head_; }
  std::uint64_t torn_bytes() const { return torn_bytes_; }

 private:
  Ledger(std::string path, LedgerHeader header, Durability durability, DurableFile file)
      : path_(std::move(path)),
        header_(std::move(header)),
        durability_(durability),
        file_(std::move(file)),
        accounts_(header_.limits) {}

  absl::Status Begin();
  absl::Status Resume();
  void AddLine(const std::string& content, std::uint64_t seq);

  std::string path_;
  LedgerHeader header_;
  Durability durability_;
  DurableFile file_;
  Accounts accounts_;
  absl::flat_hash_map<ReleaseKey, Report> journal_;
  LedgerHead head_;
  std::string pending_;
  std::uint64_t torn_bytes_ = 0;
  absl::Status failed_;
};

}  // namespace bandana
