#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/client_set.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Records which client was assigned which part of a query, and which clients have answered. It needs memory
/// only for the clients that have answered.
class AssignedParts {
 public:
  AssignedParts() = default;

  /// Assigns the parts in order to clients first, first + 1, ...: part i goes to dealt[i] clients.
  AssignedParts(std::span<const Count> dealt, NodeId first) : first_(first) {
    Count end = 0;
    for (const Count clients : dealt) ends_.push_back(end += clients);
  }

  /// Gives client first + order[j] the part of place j; Context::DealOut defines the places.
  void Permute(std::span<const std::uint32_t> order) {
    place_of_.resize(order.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) place_of_[order[place]] = place;
  }

  /// Records an answer. Returns false, and records nothing, if the answer is a repeat, if `origin` was not
  /// asked, or if the client was assigned another part.
  bool Take(NodeId origin, const Report& report) {
    if (ends_.empty() || origin < first_ || origin.value - first_.value >= ends_.back()) return false;
    const std::uint32_t offset = origin.value - first_.value;
    const Count place = place_of_.empty() ? offset : place_of_[offset];
    const auto part = std::upper_bound(ends_.begin(), ends_.end(), place);
    // The clients of one joint report hold consecutive places.
    const Count room = place_of_.empty() ? *part - place : 1;
    if (report.part() != part - ends_.begin() || report.clients() > room) return false;
    if (!answered_.AreNew(origin, report.clients())) return false;
    answered_.Add(origin, report.clients());
    return true;
  }

  template <class Archive>
  void State(Archive& a) {
    a(first_, ends_, place_of_, answered_);
    a.Check(std::is_sorted(ends_.begin(), ends_.end()) && (ends_.empty() || ends_.front() >= 0),
            "the ends of its parts are not in order");
    const Count places = ends_.empty() ? 0 : ends_.back();
    a.Check(place_of_.empty() || static_cast<Count>(place_of_.size()) == places,
            "it has the wrong number of places");
    for (const std::uint32_t place : place_of_)
      a.Check(place < places, "a client has a place that does not exist");
  }

 private:
  NodeId first_;
  std::vector<Count> ends_;  // the end of each part's places
  std::vector<std::uint32_t> place_of_;
  ClientSet answered_;
};

}  // namespace bandana
