#include "bandana/store/signed_head.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "bandana/core/byte_string.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

constexpr std::string_view kSignedText = "bandana head 1";

std::string SignedBytes(const SignedHead& head) {
  return ByteString()
      .Add(kSignedText)
      .Add(head.configuration)
      .Add(head.store)
      .Add(head.head.seq)
      .Add(head.head.hash)
      .Add(head.time)
      .Take();
}

// Reads `literal` and then everything before the next `last`.
bool TakeField(std::string_view& rest, std::string_view literal, std::string& value, char last = '"') {
  if (!rest.starts_with(literal)) return false;
  rest.remove_prefix(literal.size());
  const std::size_t end = rest.find(last);
  if (end == std::string_view::npos) return false;
  value = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}

// Returns nothing if the text is not the hexadecimal digits of some bytes.
std::optional<std::string> FromHexadecimal(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const begin = digits.data() + i;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  if (RunName(bytes) != digits) return std::nullopt;
  return bytes;
}

}  // namespace

SignedHead SignHead(std::string configuration, std::string store, LedgerHead head, absl::Time time,
                    const IdentityKey* identity) {
  BANDANA_CHECK(configuration.find_first_of("\"\\\n") == std::string::npos);  // it is a digest
  SignedHead signed_head{.configuration = std::move(configuration),
                         .store = std::move(store),
                         .head = std::move(head),
                         .time = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()),
                         .signature = {}};
  if (identity != nullptr) signed_head.signature = identity->Sign(SignedBytes(signed_head));
  return signed_head;
}

std::string FormatSignedHead(const SignedHead& head) {
  return fmt::format(
      R"({{"kind":"bandana-head","format":1,"configuration":"{}","store":"{}","seq":{},"hash":"{}","time":"{}",)"
      R"("signature":"{}"}})"
      "\n",
      head.configuration, head.store, head.head.seq, head.head.hash, head.time, RunName(head.signature));
}

std::optional<SignedHead> ParseSignedHead(std::string_view text) {
  SignedHead head;
  std::string seq;
  std::string signature;
  std::string_view rest = text;
  const bool complete =
      TakeField(rest, R"({"kind":"bandana-head","format":1,"configuration":")", head.configuration) &&
      TakeField(rest, R"(,"store":")", head.store) && TakeField(rest, R"(,"seq":)", seq, ',') &&
      TakeField(rest, R"("hash":")", head.head.hash) && TakeField(rest, R"(,"time":")", head.time) &&
      TakeField(rest, R"(,"signature":")", signature);
  if (!complete || !IsHash(head.head.hash)) return std::nullopt;
  std::from_chars(seq.data(), seq.data() + seq.size(), head.head.seq);
  std::optional<std::string> bytes = FromHexadecimal(signature);
  if (!bytes) return std::nullopt;
  head.signature = *std::move(bytes);
  if (FormatSignedHead(head) != text) return std::nullopt;
  return head;
}

absl::Status CheckSignature(const SignedHead& head, const PublicKey& key, const std::string& file) {
  if (key.HasSigned(SignedBytes(head), head.signature)) return absl::OkStatus();
  return FileError(
      absl::StatusCode::kDataLoss, file,
      head.signature.empty()
          ? "the head is not signed: whoever can write this file could have made it"
          : fmt::format("the head was not signed by the key {}: it was altered, or the key is another",
                        key.name()));
}

absl::StatusOr<SignedHead> ReadSignedHead(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError(absl::StatusCode::kNotFound, path, "no such file");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::optional<SignedHead> head = ParseSignedHead(text);
  if (!head)
    return FileError(absl::StatusCode::kDataLoss, path, "this is not the head of a store: it was altered");
  return *std::move(head);
}

absl::StatusOr<std::optional<LedgerHead>> HeadOf(Store& store) {
  std::optional<LedgerHead> head;
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, store.Lines());
  if (lines == 0) return head;
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> hash, HashOfLine(store, lines - 1));
  if (hash) head = {lines - 1, *hash};
  return head;
}

absl::StatusOr<std::optional<std::string>> HashOfLine(Store& store, std::uint64_t seq) {
  std::optional<std::string> hash;
  bool altered = false;
  const absl::Status enough = absl::CancelledError();
  const absl::Status visited = store.ForEachLine(seq, [&](const AddLine& line) {
    const std::optional<SplitLine> parts = Split(line.line);
    altered = !parts;
    if (parts) hash = std::string(parts->hash);
    return enough;
  });
  if (!visited.ok() && visited != enough) return visited;
  if (altered) return FileError(absl::StatusCode::kDataLoss, store.name(), "its ledger was altered");
  return hash;
}

}  // namespace bandana::store
