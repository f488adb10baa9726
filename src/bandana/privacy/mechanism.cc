#include "bandana/privacy/mechanism.h"

#include "fmt/format.h"

namespace bandana {
namespace {

constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 62;  // a sum of two of them fits 64 bits

std::uint64_t Magnitude(std::int64_t units) {
  return units < 0 ? -static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
}

}  // namespace

absl::Status Mechanism::CheckSize(std::size_t size, const Units& units) {
  if (units.size() == size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a report has {} coordinates, but the plan has {}", units.size(), size));
}

absl::Status Mechanism::CheckShape(std::size_t size, std::span<const Count> dealt, const Report& report) {
  const bool whole = report.part() == Report::kWhole;
  if (whole != dealt.empty()) {
    return absl::InvalidArgumentError(whole
                                          ? "the report answers all coordinates, but the query deals them out"
                                          : "the report answers one coordinate, but the query asks for all");
  }
  if (whole) {
    if (report.clients() == 1) return CheckSize(size, Access::Open(report));
    return absl::InvalidArgumentError("a group can answer only a dealt query");
  }
  if (dealt.size() == size && report.part() >= 0 && static_cast<std::size_t>(report.part()) < size) {
    return CheckSize(1, Access::Open(report));
  }
  return absl::InvalidArgumentError(
      fmt::format("the report answers coordinate {}, but the query has {} coordinates", report.part(), size));
}

absl::Status Mechanism::CheckRoom(const Report& report, Count left) {
  if (report.clients() <= left) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} clients answered coordinate {}, but only {} answers are missing there",
                  report.clients(), report.part(), left));
}

absl::Status Mechanism::CheckOrigin(NodeId first, Count clients, const ClientSet& origins) {
  if (first == kServerNode)
    return absl::InvalidArgumentError("a report must name its client; this one names node 0");
  if (origins.AreNew(first, clients)) return absl::OkStatus();
  if (clients == 1)
    return absl::InvalidArgumentError(fmt::format("client {} has reported already", first.value));
  return absl::InvalidArgumentError(
      fmt::format("some of the {} clients from client {} on have reported already or do not exist", clients,
                  first.value));
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
  return absl::FailedPreconditionError("this report has no noise yet: only its collector may read it");
}

absl::Status Mechanism::AddAll(const Units& units, std::size_t first, Entry entry, Units& totals) {
  for (std::size_t i = 0; i < units.size(); ++i) {  // checks all entries before it adds one
    if (!(Magnitude(entry(first + i, units[i])) < kMostUnits && Magnitude(totals[first + i]) < kMostUnits)) {
      return absl::OutOfRangeError(fmt::format("the sum of reports overflows in coordinate {}", first + i));
    }
  }
  for (std::size_t i = 0; i < units.size(); ++i) totals[first + i] += entry(first + i, units[i]);
  return absl::OkStatus();
}

}  // namespace bandana
