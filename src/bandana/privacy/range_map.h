#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/inlined_vector.h"

namespace bandana {

/// A map from ids to values, stored as ranges of equal values: ten million clients who have spent the same
/// are one entry.
template <class Value>
class RangeMap {
 public:
  using Id = std::uint32_t;

  /// Calls visit(first, last, value) for the pieces of a range, ascending. `value` is null where there is no
  /// value.
  template <class Visitor>
  void Visit(Id first, Id last, Visitor visit) const {
    auto piece = pieces_.upper_bound(first);
    if (piece != pieces_.begin() && std::prev(piece)->second.last >= first) --piece;
    for (std::uint64_t at = first; at <= last; ++piece) {
      const bool seen = piece != pieces_.end() && piece->first <= last;
      if (!seen || piece->first > at) {
        visit(static_cast<Id>(at), seen ? piece->first - 1 : last, static_cast<const Value*>(nullptr));
        if (!seen) return;
        at = piece->first;
      }
      const Id end = std::min(piece->second.last, last);
      visit(static_cast<Id>(at), end, &piece->second.value);
      at = std::uint64_t{end} + 1;
    }
  }

  /// Calls visit(first, last, value) for all ranges, ascending.
  template <class Visitor>
  void VisitAll(Visitor visit) const {
    for (const auto& [first, piece] : pieces_) visit(first, piece.last, piece.value);
  }

  template <class Archive>
  void State(Archive& a) {
    std::vector<std::tuple<Id, Id, Value>> ranges;
    VisitAll([&](Id first, Id last, const Value& value) { ranges.emplace_back(first, last, value); });
    a(ranges);
    if constexpr (Archive::kReads) {
      pieces_.clear();
      std::uint64_t free = 0;
      for (const auto& [first, last, value] : ranges) {
        a.Check(first >= free && first <= last, "the ranges are not in order");
        if (!a.ok()) return;
        Put(first, last, value);
        free = std::uint64_t{last} + 1;
      }
    }
  }

  /// Replaces every value in a range by update(value). The argument is null where there is no value.
  template <class Update>
  void Change(Id first, Id last, Update update) {
    struct Changed {
      Id first;
      Id last;
      Value value;
    };
    absl::InlinedVector<Changed, 4> changed;
    Visit(first, last,
          [&](Id from, Id to, const Value* value) { changed.push_back({from, to, update(value)}); });
    CutOut(first, last);
    for (const Changed& each : changed) Put(each.first, each.last, each.value);
    JoinWithNext(last);
  }

 private:
  struct Piece {
    Id last;
    Value value;
  };

  void CutOut(Id first, Id last) {
    auto piece = pieces_.lower_bound(first);
    if (piece != pieces_.begin()) {
      auto& before = *std::prev(piece);
      if (before.second.last > last) {
        const Piece rest = before.second;
        before.second.last = first - 1;
        pieces_.emplace(last + 1, rest);
        return;
      }
      if (before.second.last >= first) before.second.last = first - 1;
    }
    while (piece != pieces_.end() && piece->first <= last) {
      const Piece rest = piece->second;
      piece = pieces_.erase(piece);
      if (rest.last > last) {
        pieces_.emplace(last + 1, rest);
        return;
      }
    }
  }

  // The range must be free.
  void Put(Id first, Id last, const Value& value) {
    const auto next = pieces_.upper_bound(first);
    if (next != pieces_.begin()) {
      auto& before = std::prev(next)->second;
      if (std::uint64_t{before.last} + 1 == first && before.value == value) {
        before.last = last;
        return;
      }
    }
    pieces_.emplace_hint(next, first, Piece{last, value});
  }

  void JoinWithNext(Id last) {
    const auto next = pieces_.upper_bound(last);
    if (next == pieces_.end() || next == pieces_.begin()) return;
    auto& before = std::prev(next)->second;
    if (std::uint64_t{before.last} + 1 != next->first || before.value != next->second.value) return;
    before.last = next->second.last;
    pieces_.erase(next);
  }

  absl::btree_map<Id, Piece> pieces_;  // by the first id
};

}  // namespace bandana
