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
#include "bandana/privacy/ledger/release_book.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Charges releases against the budgets of a deployment and stores them, together with the draws, in an
/// append-only, hash-chained file (privacy/ledger/record.h). Charge and draw are one line, which is durable
/// before the draw leaves. So neither is ever stored without the other, and a retry, even after a crash, gets
/// the same draw and pays nothing. Only one thread and one process may use it at a time.
class Ledger final : public ReleaseBook {
 public:
  enum class Durability {
    kEach,     ///< a report may leave as soon as Once has returned it
    kGrouped,  ///< a report may leave after the next Commit: many releases share one wait for the disk
  };

  /// Opens a ledger, or creates one.
  /// - kInvalidArgument: a budget is invalid, or no file can be written at the path.
  /// - kFailedPrecondition: the file is the ledger of another deployment or configuration.
  /// - kDataLoss: the file does not verify (privacy/ledger/reader.h). Only an incomplete last line is
  ///   repaired: it was being written when its writer ended, so nothing of it had left; see torn_bytes().
  /// - kUnavailable: another process has it open, or the disk fails.
  static absl::StatusOr<std::unique_ptr<Ledger>> Open(const std::string& path, const LedgerHeader& header,
                                                      Durability durability);

  absl::StatusOr<Report> Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                              absl::FunctionRef<absl::StatusOr<Report>()> draw) override;

  /// Charges that are not committed are lost when the ledger closes.
  absl::Status Commit() override;

  const LedgerHeader& header() const { return header_; }
  const Accounts& accounts() const override { return accounts_; }
  const LedgerHead& head() const override { return head_; }
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
