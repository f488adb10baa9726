#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/client_set.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Who was dealt which part of a query, and who of them has answered. Memory goes with the answers.
class DealtParts {
 public:
  DealtParts() = default;

  /// Clients first, first + 1, ... have the parts in their order, as many of each as `dealt` says.
  DealtParts(std::span<const Count> dealt, NodeId first) : first_(first) {
    Count end = 0;
    for (const Count clients : dealt) ends_.push_back(end += clients);
  }

  /// Client first + order[j] has the part of place j, as Context::DealOut has it.
  void Permute(std::span<const std::uint32_t> order) {
    place_of_.resize(order.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) place_of_[order[place]] = place;
  }

  /// Notes an answer. False, and nothing is noted, if it is a repeat, a stranger's, or to a part that this
  /// client was not dealt.
  bool Take(NodeId origin, const Report& report) {
    if (ends_.empty() || origin < first_ || origin.value - first_.value >= ends_.back()) return false;
    const std::uint32_t offset = origin.value - first_.value;
    const Count place = place_of_.empty() ? offset : place_of_[offset];
    const auto part = std::upper_bound(ends_.begin(), ends_.end(), place);
    const Count room = place_of_.empty() ? *part - place : 1;  // a crowd is in places that follow each other
    if (report.part() != part - ends_.begin() || report.clients() > room) return false;
    if (!answered_.AreNew(origin, report.clients())) return false;
    answered_.Add(origin, report.clients());
    return true;
  }

  template <class Archive>
  void State(Archive& a) {
    a(first_, ends_, place_of_, answered_);
    a.Check(std::is_sorted(ends_.begin(), ends_.end()) && (ends_.empty() || ends_.front() >= 0),
            "parts that end before they begin");
    const Count places = ends_.empty() ? 0 : ends_.back();
    a.Check(place_of_.empty() || static_cast<Count>(place_of_.size()) == places, "places of other clients");
    for (const std::uint32_t place : place_of_) a.Check(place < places, "a place that there is not");
  }

 private:
  NodeId first_;
  std::vector<Count> ends_;  // of each part's places
  std::vector<std::uint32_t> place_of_;
  ClientSet answered_;
};

}  // namespace bandana
