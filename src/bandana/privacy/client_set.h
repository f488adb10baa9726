#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/ledger/unit_ranges.h"
#include "bandana/privacy/range_map.h"

namespace bandana {

/// A set of clients, stored as ranges of ids: many consecutive ids take as much memory as one.
class ClientSet {
 public:
  /// Returns whether the ids `first`, `first` + 1, ..., `count` of them, exist and are all absent from the
  /// set.
  bool AreNew(NodeId first, Count count) const {
    if (!(count >= 1 && count <= (Count{1} << 32) - first.value)) return false;
    bool all_new = true;
    clients_.Visit(first.value, Last(first, count),
                   [&](std::uint32_t, std::uint32_t, const std::monostate* there) {
                     all_new = all_new && there == nullptr;
                   });
    return all_new;
  }

  /// Adds `count` ids from `first` on. AreNew must hold for them.
  void Add(NodeId first, Count count) {
    clients_.Change(first.value, Last(first, count), [](const std::monostate*) { return std::monostate(); });
  }

  template <class Archive>
  void State(Archive& a) {
    a(clients_);
  }

  UnitRanges Ranges() const {
    std::vector<UnitRanges::Range> ranges;
    clients_.VisitAll(
        [&](std::uint32_t first, std::uint32_t last, std::monostate) { ranges.push_back({first, last}); });
    return UnitRanges::FromRanges(ranges);
  }

 private:
  static std::uint32_t Last(NodeId first, Count count) {
    return static_cast<std::uint32_t>(first.value + count - 1);
  }

  RangeMap<std::monostate> clients_;
};

}  // namespace bandana
