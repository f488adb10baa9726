#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana {

/// A set of units in ascending order, each once. It is written as "1-500,502": most charges name a few long
/// ranges.
class UnitRanges {
 public:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
    bool operator==(const Range&) const = default;
  };

  /// The largest number of units in one charge of a ledger.
  static constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 27;

  UnitRanges() = default;
  UnitRanges(NodeId unit) : ranges_{{unit.value, unit.value}}, count_(1) {}  // NOLINT: a charge of one

  /// Makes the `count` units from `first` on; `count` is 1 to 2^32 - first.
  static UnitRanges From(NodeId first, Count count);

  /// The ranges must be in ascending order and must not overlap.
  static UnitRanges FromRanges(std::span<const Range> ranges);

  /// Fails with kInvalidArgument if a unit is named twice.
  static absl::StatusOr<UnitRanges> Of(std::vector<NodeId> units);

  /// Accepts exactly what ToText writes.
  static absl::StatusOr<UnitRanges> Parse(std::string_view text);
  std::string ToText() const;

  bool empty() const { return ranges_.empty(); }
  std::span<const Range> ranges() const { return ranges_; }
  std::uint64_t count() const { return count_; }
  bool Contains(NodeId unit) const;
  void ForEach(absl::FunctionRef<void(NodeId)> visit) const;

  bool operator==(const UnitRanges&) const = default;

 private:
  void Append(Range range);

  std::vector<Range> ranges_;  // ascending, with a gap between any two
  std::uint64_t count_ = 0;
};

}  // namespace bandana
