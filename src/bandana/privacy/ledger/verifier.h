#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/ledger/record.h"

namespace bandana {

/// A set of releases. It keeps a digest of 16 bytes for each, because a deployment can have millions.
class ReleaseSet {
 public:
  /// Returns whether the release was not in the set. `run` is empty in format 2.
  bool Insert(std::string_view run, const ReleaseKey& key) {
    return digests_.insert(DigestOf(run, key)).second;
  }
  bool Contains(std::string_view run, const ReleaseKey& key) const {
    return digests_.contains(DigestOf(run, key));
  }
  void Clear() { digests_.clear(); }

 private:
  using Digest = std::array<std::uint64_t, 2>;
  static Digest DigestOf(std::string_view run, const ReleaseKey& key);

  absl::flat_hash_set<Digest> digests_;
};

/// Verifies a ledger line by line, each against the lines before it: the chain of hashes, the numbers, that
/// no release is charged twice, and that nobody is charged beyond a budget.
class LedgerVerifier {
 public:
  using Visit = absl::FunctionRef<absl::Status(const Dated<LedgerEntry>&, std::string_view hash)>;

  /// `name` is the file or the store that errors name.
  explicit LedgerVerifier(std::string name) : name_(std::move(name)) {}

  /// Takes the next line, without its '\n', and calls `visit` if it is not the header. Fails with kDataLoss
  /// if the line does not verify.
  absl::Status Take(std::string_view line, Visit visit);

  std::uint64_t lines() const { return lines_; }
  /// Number and hash of the last line. There must be one.
  LedgerHead head() const { return {lines_ - 1, hash_}; }
  /// The functions below need a header that was taken.
  const Dated<LedgerHeader>& header() const { return *header_; }
  const Accounts& accounts() const { return *accounts_; }
  const std::string& last_time() const { return time_; }
  Accounts TakeAccounts() { return *std::move(accounts_); }

  /// Returns an error that names the last line that was taken.
  absl::Status Fault(std::string message) const;

 private:
  absl::Status TakeHeader(std::string_view content);
  absl::Status TakeEntry(std::string_view content, Visit visit);

  std::string name_;
  std::optional<Dated<LedgerHeader>> header_;
  std::optional<Accounts> accounts_;
  ReleaseSet charged_;
  std::string hash_{kNoHash};
  std::string time_;
  std::uint64_t lines_ = 0;
};

/// Fails with kInvalidArgument if a budget of the header is invalid.
absl::Status CheckBudgets(const LedgerHeader& header);

/// Fails with kInvalidArgument if the entry names no unit or too many, or if its guarantee is none. Its loss
/// is checked by Accounts.
absl::Status CheckCharge(const LedgerEntry& entry);

/// Fails with kFailedPrecondition, and says what differs, if `there`, the header of the ledger `name`, is not
/// `here`.
absl::Status CheckSameHeader(const std::string& name, const LedgerHeader& there, const LedgerHeader& here);

}  // namespace bandana
