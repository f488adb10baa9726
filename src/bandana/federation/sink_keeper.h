#pragma once

#include <vector>

#include "bandana/federation/sink_routes.h"

namespace bandana {

/// A server's sinks and the ways to them, while agents and links may be lost. It knows who was heard in a
/// round, and not why others were not:
///   - those who were not heard get sinks of their own for the next round, one each connected part of them;
///   - a sink that was not heard is asked for itself alone from then on, until it is;
///   - who was not heard and then was is put back, in case it was an accident; for the second time it stays
///   apart.
class SinkKeeper {
 public:
  /// `graph`: the components' links. It must outlive this.
  explicit SinkKeeper(const Graph& graph);

  const SinkRoutes& routes() const { return routes_; }
  Count changes() const { return changes_; }  ///< rounds after which ways were found anew

  /// After a round: who sent what they had by these ways (an agent's own id: it was not asked), and who was
  /// heard.
  void Note(const std::vector<NodeId>& upstream, const NodeSet& heard);

  template <class Archive>
  void State(Archive& a) {
    a(changes_, unheard_, silent_sinks_, missed_, apart_);
    bool fits = true;
    for (const auto* set : {&unheard_, &silent_sinks_, &missed_})
      fits = fits && set->nodes() == graph_->nodes();
    for (const NodeSet& set : apart_) fits = fits && set.nodes() == graph_->nodes();
    a.Check(fits, "sinks of another graph");
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
  NodeSet unheard_;             // in the last round, of those who were asked
  NodeSet silent_sinks_;        // that were asked and have not been heard since
  NodeSet missed_;              // unheard in some round
  std::vector<NodeSet> apart_;  // unheard together for a second time
};

}  // namespace bandana
