#pragma once

#include <vector>

#include "bandana/federation/sink_routes.h"

namespace bandana {

/// Chooses a server's sinks and the routes to them, while agents and links may be lost. It knows which agents
/// were heard in a sync, but not why the others were not:
///   - Agents that were not heard get sinks of their own for the next sync, one per connected part of them.
///   - A sink that was not heard is asked only for its own sums, until it is heard again.
///   - An agent that was missed once and then heard returns to the others, because the loss may have been an
///     accident. After a second miss it stays apart.
class SinkKeeper {
 public:
  /// `graph` holds the components' links. It must outlive this object.
  explicit SinkKeeper(const Graph& graph);

  const SinkRoutes& routes() const { return routes_; }
  Count changes() const { return changes_; }  ///< the number of syncs after which the routes changed

  /// Records the outcome of a sync. `upstream` says where each agent sent its sums; an agent's own id means
  /// that it was not asked. `heard` holds the agents whose sums arrived.
  void Note(const std::vector<NodeId>& upstream, const NodeSet& heard);

  template <class Archive>
  void State(Archive& a) {
    a(changes_, unheard_, silent_sinks_, missed_, apart_);
    bool fits = true;
    for (const auto* set : {&unheard_, &silent_sinks_, &missed_})
      fits = fits && set->nodes() == graph_->nodes();
    for (const NodeSet& set : apart_) fits = fits && set.nodes() == graph_->nodes();
    a.Check(fits, "its sinks do not match the graph of this run");
    if constexpr (Archive::kReads) {
      if (a.ok()) FindWays();
    }
  }

 private:
  void FindWays();
  void KeepApart(NodeSet again);

  const Graph* graph_;
  SinkRoutes routes_;
  Count changes_ = 0;
  NodeSet unheard_;             // asked in the last sync, but not heard
  NodeSet silent_sinks_;        // sinks that were asked, and not heard since
  NodeSet missed_;              // not heard in at least one sync
  std::vector<NodeSet> apart_;  // groups that were missed together for a second time
};

}  // namespace bandana
