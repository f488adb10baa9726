#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/audit/target.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::audit {

/// A claim that can be attacked, and at what setting unless another is asked for: delta is large,
/// since an attack of a million draws sees little of what happens once in a million.
struct Entry {
  std::string name;
  std::string summary;
  DpGuarantee nominal;  ///< delta 0: a pure claim, which takes no delta
  std::int64_t draws;
  std::function<absl::StatusOr<Target>(const std::string& name, DpGuarantee nominal)> make;
  /// Why the claim is false: it is not ours, and is here to be refuted. Empty: it must hold.
  std::string known_to_fail = {};
};

/// Every privatizer, then the algorithms.
std::span<const Entry> Catalog();

/// An error that lists the names, or the nearest, if there is no such target.
absl::StatusOr<const Entry*> FindEntry(std::string_view name);

/// The entry's target at this setting; what is not given is the entry's own.
absl::StatusOr<Target> MakeTarget(const Entry& entry, std::optional<double> epsilon,
                                  std::optional<double> delta);

/// Entries of the catalog, a file a family. To add a target, add a line to one of them.
std::vector<Entry> MeanEntries();
std::vector<Entry> ShuffleEntries();
std::vector<Entry> DealtEntries();
std::vector<Entry> PrefixSumEntries();
std::vector<Entry> RegressionEntries();
std::vector<Entry> ArmSumsEntries();
std::vector<Entry> L2BallEntries();
std::vector<Entry> LocalEntries();
std::vector<Entry> DpDpeEntries();
std::vector<Entry> FedUcbEntries();

}  // namespace bandana::audit
