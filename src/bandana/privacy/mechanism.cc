#include "bandana/privacy/mechanism.h"

#include "fmt/format.h"

namespace bandana {
namespace {

constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 62;  // two of them still add up in 64 bits

std::uint64_t Magnitude(std::int64_t units) {
  return units < 0 ? -static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
}

}  // namespace

absl::Status Mechanism::CheckSize(std::size_t size, const Units& units) {
  if (units.size() == size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a report has {} coordinates, the plan has {}", units.size(), size));
}

absl::Status Mechanism::CheckOrigin(NodeId origin, const absl::flat_hash_set<NodeId>& origins) {
  if (origin == kServerNode) return absl::InvalidArgumentError("a report of nobody");
  if (!origins.contains(origin)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("a second report of client {}", origin.value));
}

absl::Status Mechanism::CheckQuorum(Count reports, Count wanted) {
  if (reports > 0 && reports == wanted) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} of {} clients reported: nothing is released below the quorum", reports, wanted));
}

absl::Status Mechanism::CheckMixed(NodeId origin, Count quorum) {
  if (origin == kServerNode && quorum == 0) return absl::OkStatus();
  return absl::FailedPreconditionError("a report that no shuffler has mixed must not reach the analyzer");
}

absl::Status Mechanism::Unprotected() {
  return absl::FailedPreconditionError("a report that is to be protected by its collector is not let out");
}

absl::Status Mechanism::AddAll(const Units& units, Entry entry, Units& totals) {
  for (std::size_t i = 0; i < units.size(); ++i) {  // all are looked at before one is added
    if (!(Magnitude(entry(i, units[i])) < kMostUnits && Magnitude(totals[i]) < kMostUnits)) {
      return absl::OutOfRangeError(fmt::format("the sum of reports overflows in coordinate {}", i));
    }
  }
  for (std::size_t i = 0; i < units.size(); ++i) totals[i] += entry(i, units[i]);
  return absl::OkStatus();
}

}  // namespace bandana
