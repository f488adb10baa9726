#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/report.h"

/// The lines of a ledger file. Each is one JSON object, in one spelling only, that ends with its hash:
///   CONTENT,"hash":"HASH"}   HASH = SHA-256 in hexadecimal of (the previous line's HASH, then CONTENT)
/// The line before the first has 64 zeros for a hash. docs/ledger.md describes the fields.
namespace bandana {

/// Whose ledger it is, and its budgets. Nothing of it ever changes.
struct LedgerHeader {
  std::string deployment;     ///< its name
  std::string configuration;  ///< digest of what all roles agree on
  std::string unit;           ///< what is protected
  std::string neighbours;     ///< "replace-one" or "add-remove"
  std::string proof;          ///< the note in docs/proofs/ that every charge rests on
  Limits limits;
};

/// One release: what it cost, whom, and what was drawn (sealed: whoever reads a ledger does not open it).
struct LedgerEntry {
  ReleaseKey key;
  DpGuarantee guarantee{0, 0};  ///< of this release alone
  Loss loss;                    ///< the same in the ledger's measure
  UnitRanges units;
  Report draw;
};

/// A line without its hash.
std::string FormatHeader(const LedgerHeader& header, absl::Time time);
std::string FormatEntry(const LedgerEntry& entry, Measure measure, std::uint64_t seq, absl::Time time);

/// Content and hash of a line without its '\n'; nothing if it is no such line.
struct SplitLine {
  std::string_view content;
  std::string_view hash;
};
std::optional<SplitLine> Split(std::string_view line);
std::string Join(std::string_view content, std::string_view hash);

inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";
/// How every ledger begins.
inline constexpr std::string_view kMagic = R"({"seq":0,"kind":"bandana-ledger","format":1,)";

std::string ChainHash(std::string_view previous, std::string_view content);
/// 64 lower-case hexadecimal digits.
bool IsHash(std::string_view text);

template <class T>
struct Dated {
  T record;
  std::uint64_t seq = 0;
  std::string time;  ///< RFC 3339, UTC
};

/// Takes what Format writes, and nothing else: a content has one meaning, and a meaning one content.
absl::StatusOr<Dated<LedgerHeader>> ParseHeader(std::string_view content);
absl::StatusOr<Dated<LedgerEntry>> ParseEntry(std::string_view content, Measure measure);

/// The last line that is known to be written: the file FILE.head.
struct LedgerHead {
  std::uint64_t seq = 0;
  std::string hash;
};
std::string FormatHead(const LedgerHead& head);
std::optional<LedgerHead> ParseHead(std::string_view text);

}  // namespace bandana
