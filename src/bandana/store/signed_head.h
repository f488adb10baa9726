#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/store/identity.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// The head of a store's ledger, as it is kept and shown outside of the store. With a signature it proves
/// that this store had this line.
struct SignedHead {
  std::string configuration;  ///< of the ledger's header
  std::string store;          ///< the identity of the store
  LedgerHead head;
  std::string time;       ///< RFC 3339, UTC
  std::string signature;  ///< 64 bytes; empty if the process has no key
};

/// Makes the head and signs it, unless `identity` is null.
SignedHead SignHead(std::string configuration, std::string store, LedgerHead head, absl::Time time,
                    const IdentityKey* identity);

/// Returns one line of JSON, with its line end.
std::string FormatSignedHead(const SignedHead& head);
/// Accepts exactly what FormatSignedHead writes.
std::optional<SignedHead> ParseSignedHead(std::string_view text);

/// Fails with kDataLoss if the head is not signed by this key. `file` is named in the error.
absl::Status CheckSignature(const SignedHead& head, const PublicKey& key, const std::string& file);

/// Reads a file with a head, such as an anchor. Fails with kNotFound if there is no such file, and with
/// kDataLoss if it holds something else.
absl::StatusOr<SignedHead> ReadSignedHead(const std::string& path);

/// Returns the number and the hash of the last line of a store's ledger, nothing if it has no line.
absl::StatusOr<std::optional<LedgerHead>> HeadOf(Store& store);
/// Returns the hash of line `seq`, nothing if the store has no such line.
absl::StatusOr<std::optional<std::string>> HashOfLine(Store& store, std::uint64_t seq);

/// The name under which a store keeps its last signed head (PutMeta).
inline constexpr char kHeadMeta[] = "head";

}  // namespace bandana::store
