#include "bandana/federation/traffic.h"

#include <algorithm>

#include "bandana/core/check.h"
#include "bandana/federation/wire_size.h"

namespace bandana {

Traffic::Traffic(const Graph& graph) : graph_(&graph) {
  const auto nodes = static_cast<std::size_t>(graph.nodes());
  std::size_t places = 0;
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    first_.push_back(places);
    places += graph.neighbours(NodeId{i}).size();
  }
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    for (const NodeId neighbour : graph.neighbours(NodeId{i})) {
      smaller_.push_back(LinkIndex(std::min(NodeId{i}, neighbour), std::max(NodeId{i}, neighbour)));
    }
  }
  messages_.resize(places);
  last_used_.resize(places, -1);
  uplinks_.resize(nodes);
  uplink_last_used_.resize(nodes, -1);
}

std::size_t Traffic::LinkIndex(NodeId from, NodeId to) const {
  const auto neighbours = graph_->neighbours(from);
  const auto it = std::lower_bound(neighbours.begin(), neighbours.end(), to);
  BANDANA_CHECK(it != neighbours.end() && *it == to);
  return first_[from.value - 1] + static_cast<std::size_t>(it - neighbours.begin());
}

void Traffic::Send(NodeId from, NodeId to, Slot slot, Count clock, const Payload& payload) {
  if (log_.empty() || log_.back().first < clock) log_.emplace_back(clock, total_);
  ++total_.messages;
  total_.bytes += WireBytes(payload);
  total_.reals += RealsIn(payload);
  const bool plan = std::holds_alternative<std::shared_ptr<const ArmPlan>>(payload);
  if (from == kServerNode || to == kServerNode) {
    const std::size_t agent = (from == kServerNode ? to : from).value - 1;
    ++uplinks_[agent];
    if (!plan && std::exchange(uplink_last_used_[agent], slot) != slot) ++total_.links_server;
  } else {
    const std::size_t index = LinkIndex(from, to);
    ++messages_[index];
    if (std::exchange(last_used_[smaller_[index]], slot) != slot) ++total_.links_peer;
  }
  if (!plan) {
    if (std::exchange(last_slot_, slot) != slot) ++total_.slots;
    if (const Epoch epoch = EpochOf(payload); epoch > last_epoch_) {
      ++total_.rounds;
      last_epoch_ = epoch;
    }
  }
  log_.back().second = total_;
}

TrafficCounts Traffic::Until(Count clock) const {
  const auto it = std::upper_bound(log_.begin(), log_.end(), clock,
                                   [](Count until, const auto& entry) { return until < entry.first; });
  return it == log_.begin() ? TrafficCounts{} : std::prev(it)->second;
}

std::vector<Count> Traffic::over_edges() const {
  std::vector<Count> counts;
  for (const Edge& edge : graph_->Edges()) {
    counts.push_back(messages_[LinkIndex(edge.a, edge.b)] + messages_[LinkIndex(edge.b, edge.a)]);
  }
  return counts;
}

Epoch EpochOf(const Payload& payload) {
  if (const auto* advert = std::get_if<Advert>(&payload)) return advert->epoch;
  if (const auto* request = std::get_if<Request>(&payload)) return request->epoch;
  if (const auto* data = std::get_if<Tallies>(&payload)) return data->epoch;
  if (const auto* collected = std::get_if<Collected>(&payload)) return collected->epoch;
  if (const auto* plan = std::get_if<std::shared_ptr<const ArmPlan>>(&payload)) return (*plan)->epoch;
  return 0;
}

}  // namespace bandana
