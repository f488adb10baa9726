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

/// A claim that can be attacked, and its default setting. The default delta is large, because an attack of a
/// million draws sees little of what happens once in a million.
struct Entry {
  std::string name;
  std::string summary;
  /// The default setting. delta 0 means a pure claim, which accepts no delta.
  DpGuarantee nominal;
  std::int64_t draws;
  std::function<absl::StatusOr<Target>(const std::string& name, DpGuarantee nominal)> make;
  /// Why the claim is false. Such a claim is not ours; it is here to be refuted. Empty: the claim must hold.
  std::string known_to_fail = {};
};

/// Returns every privatizer, then the algorithms, then what was added.
std::span<const Entry> Catalog();

/// Adds targets that libbandana does not have, such as those of the service (audit/deployed). Call it before
/// anybody asks for the catalog from another thread. Entries that were returned before become invalid.
void AddToCatalog(std::vector<Entry> entries);

/// Fails if there is no such target; the error lists the names, or the nearest.
absl::StatusOr<const Entry*> FindEntry(std::string_view name);

/// Makes the entry's target at this setting. A parameter that is not given has the entry's default.
absl::StatusOr<Target> MakeTarget(const Entry& entry, std::optional<double> epsilon,
                                  std::optional<double> delta);

/// Most entries have one of these settings.
inline constexpr DpGuarantee kSharp{1, 0.01};
inline constexpr DpGuarantee kPure{1, 0};

/// The entries of the catalog, one file per family. To add a target, add a line to one of them.
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
std::vector<Entry> FedUcbShuffleEntries();
std::vector<Entry> RerunEntries();

}  // namespace bandana::audit
