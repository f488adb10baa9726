#include "bandana/audit/catalog.h"

#include <cmath>
#include <iterator>

#include "absl/strings/str_join.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::audit {
namespace {

std::vector<Entry>& Entries() {
  static std::vector<Entry>& entries = *new std::vector<Entry>([] {
    std::vector<Entry> all;
    for (auto make :
         {MeanEntries, ShuffleEntries, DealtEntries, PrefixSumEntries, RegressionEntries, ArmSumsEntries,
          L2BallEntries, LocalEntries, RerunEntries, DpDpeEntries, FedUcbEntries, FedUcbShuffleEntries}) {
      std::vector<Entry> some = make();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }());
  return entries;
}

}  // namespace

std::span<const Entry> Catalog() { return Entries(); }

void AddToCatalog(std::vector<Entry> entries) {
  std::move(entries.begin(), entries.end(), std::back_inserter(Entries()));
}

absl::StatusOr<const Entry*> FindEntry(std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& entry : Catalog()) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return InvalidInput({.message = "unknown",
                       .key = "target",
                       .value = std::string(name),
                       .accepted = absl::StrJoin(names, ", ")});
}

absl::StatusOr<Target> MakeTarget(const Entry& entry, std::optional<double> epsilon,
                                  std::optional<double> delta) {
  const DpGuarantee nominal{epsilon.value_or(entry.nominal.epsilon), delta.value_or(entry.nominal.delta)};
  if (!(nominal.epsilon > 0 && std::isfinite(nominal.epsilon))) {
    return InvalidOption("epsilon", nominal.epsilon, "a finite number > 0");
  }
  if (entry.nominal.delta == 0 && delta.has_value()) {
    return InvalidInput({.message = "not an option of this target",
                         .key = "delta",
                         .value = fmt::format("{}", *delta),
                         .accepted = fmt::format("no delta: {} claims delta = 0", entry.name)});
  }
  if (entry.nominal.delta != 0 && !(nominal.delta > 0 && nominal.delta < 1)) {
    return InvalidOption("delta", nominal.delta, "a number in (0, 1)");
  }
  return entry.make(entry.name, nominal);
}

}  // namespace bandana::audit
