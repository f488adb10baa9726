#include "bandana/federation/sink_keeper.h"

#include <utility>

namespace bandana {

SinkKeeper::SinkKeeper(const Graph& graph)
    : graph_(&graph), unheard_(graph.nodes()), silent_sinks_(graph.nodes()), missed_(graph.nodes()) {
  FindWays();
}

void SinkKeeper::FindWays() {
  NodeSet together(graph_->nodes());
  for (std::uint32_t i = 1; i <= graph_->nodes(); ++i) together.Insert(NodeId{i});
  for (const NodeSet& group : apart_) together.Remove(group);
  std::vector<NodeSet> groups = apart_;
  groups.push_back(std::move(together));
  std::vector<NodeSet> sets;
  for (NodeSet& group : groups) {
    group.Remove(silent_sinks_);
    NodeSet unheard = group;
    unheard.Keep(unheard_);
    group.Remove(unheard_);
    sets.push_back(std::move(group));
    sets.push_back(std::move(unheard));
  }
  silent_sinks_.ForEach([&](NodeId sink) {
    NodeSet alone(graph_->nodes());
    alone.Insert(sink);
    sets.push_back(std::move(alone));
  });
  routes_ = FindRoutes(*graph_, sets);
}

void SinkKeeper::Note(const std::vector<NodeId>& upstream, const NodeSet& heard) {
  NodeSet unheard(graph_->nodes());
  NodeSet silent = silent_sinks_;
  silent.Remove(heard);
  for (std::uint32_t i = 1; i <= graph_->nodes(); ++i) {
    const NodeId node{i};
    const bool asked = upstream[i - 1] != node;
    if (!asked || heard.Contains(node)) continue;
    unheard.Insert(node);
    if (upstream[i - 1] == kServerNode) silent.Insert(node);
  }
  if (unheard == unheard_ && silent == silent_sinks_) return;
  NodeSet again = unheard;
  again.Keep(missed_);
  again.Remove(silent);
  KeepApart(std::move(again));
  missed_.Add(unheard);
  unheard_ = std::move(unheard);
  silent_sinks_ = std::move(silent);
  const std::vector<NodeId> before = routes_.upstream;
  FindWays();
  if (routes_.upstream != before) ++changes_;
}

void SinkKeeper::KeepApart(NodeSet again) {
  std::vector<NodeSet> split;
  for (NodeSet& group : apart_) {
    NodeSet gone = group;
    gone.Keep(again);
    again.Remove(gone);
    if (gone.empty() || gone == group) continue;
    group.Remove(gone);
    split.push_back(std::move(gone));
  }
  apart_.insert(apart_.end(), split.begin(), split.end());
  if (!again.empty()) apart_.push_back(std::move(again));
}

}  // namespace bandana
