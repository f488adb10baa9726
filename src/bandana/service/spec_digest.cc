#include "bandana/service/spec_digest.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "bandana/core/sha256.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::service {
namespace {

constexpr std::size_t kHashLength = 16;
constexpr std::size_t kMostKeys = 5;  // in a message

std::map<std::string, std::string> HashesOf(const std::string& digest) {
  std::map<std::string, std::string> hashes;
  for (const auto& entry : absl::StrSplit(digest, ' ', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(entry, '=');
    if (parts.size() == 2) hashes[parts[0]] = parts[1];
  }
  return hashes;
}

// Only keys of this process are named, because the text of the other one may be anything.
std::vector<std::string> KeysThatDiffer(const std::string& theirs, const std::string& ours) {
  const std::map<std::string, std::string> their_hashes = HashesOf(theirs);
  std::vector<std::string> keys;
  if (their_hashes.empty()) return keys;
  for (const auto& [key, hash] : HashesOf(ours)) {
    const auto it = their_hashes.find(key);
    if (it == their_hashes.end() || it->second != hash) keys.push_back(key);
  }
  return keys;
}

}  // namespace

std::string SpecDigest(const std::map<std::string, std::string>& values) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : values) {
    entries.push_back(fmt::format("{}={}", key, Sha256(value).substr(0, kHashLength)));
  }
  return fmt::format("{}", fmt::join(entries, " "));
}

absl::Status OtherSpec(const std::string& theirs, const std::string& ours, const std::string& process,
                       const std::string& host) {
  std::vector<std::string> keys = KeysThatDiffer(theirs, ours);
  if (keys.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("this {} runs another spec than the {}: compare the two files, and what --set adds to "
                    "them",
                    process, host));
  }
  const std::size_t more = keys.size() > kMostKeys ? keys.size() - kMostKeys : 0;
  keys.resize(keys.size() - more);
  return absl::FailedPreconditionError(fmt::format(
      "the spec of this {} differs from that of the {} in {}{}: both must run the same spec", process, host,
      fmt::join(keys, ", "), more > 0 ? fmt::format(" and {} more keys", more) : ""));
}

}  // namespace bandana::service
