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

/// Units, each named once, ascending. Written "1-500,502": most charges name a few long ranges.
class UnitRanges {
 public:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
    bool operator==(const Range&) const = default;
  };

  /// No ledger's charge names more.
  static constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 27;

  UnitRanges() = default;
  UnitRanges(NodeId unit) : ranges_{{unit.value, unit.value}}, count_(1) {}  // NOLINT: a charge of one

  /// `count` units from `first` on: 1 to 2^32 - first.
  static UnitRanges From(NodeId first, Count count);

  /// Ranges in ascending order that do not overlap.
  static UnitRanges Of(std::span<const Range> ranges);

  /// kInvalidArgument if a unit is named twice.
  static absl::StatusOr<UnitRanges> Of(std::vector<NodeId> units);

  /// Takes what ToText writes, and nothing else.
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
