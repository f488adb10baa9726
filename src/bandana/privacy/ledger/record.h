#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/report.h"

/// The lines of a ledger file. Each line is one JSON object, in one spelling only, that ends with its hash:
///   CONTENT,"hash":"HASH"}   HASH = SHA-256 in hexadecimal of (the previous line's HASH, then CONTENT)
/// The hash before the first line is 64 zeros. docs/ledger.md describes the fields.
namespace bandana {

/// The owner of the ledger and its budgets. It never changes.
///
/// There are two formats. Format 2 is a file that a role writes in one run: a line has the draw. Format 3 is
/// the ledger of a store, and its copies in files: it has many runs, a line names its run, and no line has a
/// draw, because the store keeps the seeds of draws sealed.
struct LedgerHeader {
  std::string deployment;     ///< the name of the deployment
  std::string configuration;  ///< digest of the configuration that all roles agree on
  std::vector<Claim> claims;  ///< all claims of the deployment, as its report prints them
  std::string void_reason;    ///< why the claims do not hold; empty if they do
  Limits limits;
  bool of_store = false;  ///< whether the ledger has format 3
};

/// One release: its cost, the units that pay, and the draw. The draw is sealed: a reader of a ledger cannot
/// open it.
struct LedgerEntry {
  ReleaseKey key{.node = {}, .epoch = 0};
  DpGuarantee guarantee{0, 0};  ///< the guarantee of this release alone
  Loss loss;                    ///< its loss in the ledger's measure
  UnitRanges units;
  Report draw;                 ///< only in format 2
  std::string run = {};        ///< 32 hexadecimal digits; only in format 3
  std::string all_spent = {};  ///< Only in format 3. If it is not empty, the line is no release. From there
                               ///< on every budget counts as spent, for this reason.
};

/// Return a line without its hash.
std::string FormatHeader(const LedgerHeader& header, absl::Time time);
std::string FormatEntry(const LedgerEntry& entry, Measure measure, std::uint64_t seq, absl::Time time);

/// Splits a line without its '\n' into content and hash. Returns nothing if it is not such a line.
struct SplitLine {
  std::string_view content;
  std::string_view hash;
};
std::optional<SplitLine> Split(std::string_view line);
std::string Join(std::string_view content, std::string_view hash);

inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";
/// The texts that ledgers of format 2 and 3 begin with.
inline constexpr std::string_view kMagic = R"({"seq":0,"kind":"bandana-ledger","format":2,)";
inline constexpr std::string_view kStoreMagic = R"({"seq":0,"kind":"bandana-ledger","format":3,)";

std::string ChainHash(std::string_view previous, std::string_view content);
/// Returns whether the text is 64 lower-case hexadecimal digits.
bool IsHash(std::string_view text);

template <class T>
struct Dated {
  T record;
  std::uint64_t seq = 0;
  std::string time;  ///< RFC 3339, UTC
};

/// Accept exactly what the Format functions write: a content has one meaning, and a meaning has one content.
absl::StatusOr<Dated<LedgerHeader>> ParseHeader(std::string_view content);
absl::StatusOr<Dated<LedgerEntry>> ParseEntry(std::string_view content, Measure measure);

/// The beginning of a line of format 3: everything before the units. Reading it takes much less time than
/// reading millions of units.
struct LineBeginning {
  std::uint64_t seq = 0;
  bool all_spent = false;  ///< whether it is no charge, but says that all budgets are spent
  std::string run;
  ReleaseKey key{.node = {}, .epoch = 0};
};
/// Fails with kDataLoss if the content does not begin as a line of format 3, and with kInvalidArgument if its
/// loss is not a loss.
absl::StatusOr<LineBeginning> ParseBeginning(std::string_view content, Measure measure);

/// The last line that is known to be written. It is stored in the file FILE.head.
struct LedgerHead {
  std::uint64_t seq = 0;
  std::string hash;
};
std::string FormatHead(const LedgerHead& head);
std::optional<LedgerHead> ParseHead(std::string_view text);

}  // namespace bandana
