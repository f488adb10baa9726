#pragma once

#include <cstdint>
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
  /// No charge names more.
  static constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 27;

  UnitRanges() = default;

  /// kInvalidArgument if a unit is named twice.
  static absl::StatusOr<UnitRanges> Of(std::vector<NodeId> units);

  /// Takes what ToText writes, and nothing else.
  static absl::StatusOr<UnitRanges> Parse(std::string_view text);
  std::string ToText() const;

  std::uint64_t count() const { return count_; }
  bool Contains(NodeId unit) const;
  void ForEach(absl::FunctionRef<void(NodeId)> visit) const;

  bool operator==(const UnitRanges&) const = default;

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
    bool operator==(const Range&) const = default;
  };

  std::vector<Range> ranges_;  // ascending, with a gap between any two
  std::uint64_t count_ = 0;
};

}  // namespace bandana
