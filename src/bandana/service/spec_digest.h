#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"

/// A spec's digest, on which all processes of a run must agree. It is a list of "KEY=HASH", separated by
/// blanks, so that a process that is refused hears which keys differ; the values themselves are not sent.
namespace bandana::service {

/// Returns the digest of values by key.
std::string SpecDigest(const std::map<std::string, std::string>& values);

/// The error for a process ("agent") that runs another spec than the one it wants to join ("server"). It
/// names the first keys that differ, if both digests are such lists.
absl::Status OtherSpec(const std::string& theirs, const std::string& ours, const std::string& process,
                       const std::string& host);

}  // namespace bandana::service
