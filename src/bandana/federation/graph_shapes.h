#pragma once

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/federation/graph.h"

/// The graphs of federation.topology. Random ones are functions of their coins, need not be connected (see
/// CheckConnected), and are drawn from at most 2^14 nodes, as is a complete graph. Errors name
/// federation.agents, federation.degree or federation.edge_probability.
namespace bandana {

absl::StatusOr<Graph> CompleteGraph(Count nodes);

/// Node 1 is everybody's neighbour, and nobody else is anybody's.
absl::StatusOr<Graph> StarGraph(Count nodes);

/// Nodes 1 .. hubs are all neighbours, and each other node is a neighbour of one hub, dealt to them in turn;
/// 1 <= hubs <= nodes, 2^12 at most. federation.degree is the number of hubs.
absl::StatusOr<Graph> MultiStarGraph(Count nodes, Count hubs);

/// Three nodes and more.
absl::StatusOr<Graph> RingGraph(Count nodes);

absl::StatusOr<Graph> LineGraph(Count nodes);

/// As near to a square as it gets: ceil(sqrt(nodes)) columns, filled row by row; the last row may be short.
absl::StatusOr<Graph> GridGraph(Count nodes);

/// Everybody has `degree` neighbours; nodes * degree is even, degree < nodes. Nearly uniform among these
/// graphs: any one of them, whose edges then switch ends twenty times each. C. Cooper, M. Dyer and C.
/// Greenhill, "Sampling regular graphs and a peer-to-peer network", Combin. Probab. Comput. 16, 2007. Beyond
/// half of the nodes, the complement is drawn.
absl::StatusOr<Graph> RegularGraph(Count nodes, Count degree, CoinGen& coin);

/// Each pair is an edge with this probability, independently. E. N. Gilbert, "Random graphs", Ann. Math.
/// Statist. 30, 1959.
absl::StatusOr<Graph> ErdosRenyiGraph(Count nodes, double edge_probability, CoinGen& coin);

/// A ring in which everybody has degree / 2 neighbours on each side (degree even, 2 <= degree < nodes), of
/// which each edge is moved, with probability edge_probability, from its farther end to a node drawn
/// uniformly from those that are no neighbours yet. D. J. Watts and S. H. Strogatz, "Collective dynamics of
/// 'small-world' networks", Nature 393, 1998.
absl::StatusOr<Graph> WattsStrogatzGraph(Count nodes, Count degree, double edge_probability, CoinGen& coin);

/// A complete graph of degree + 1 nodes, 1 <= degree < nodes, to which the others come one by one, each with
/// edges to `degree` nodes of those before it, which are drawn in proportion to their degrees. Always
/// connected. A.-L. Barabasi and R. Albert, "Emergence of scaling in random networks", Science 286, 1999.
absl::StatusOr<Graph> BarabasiAlbertGraph(Count nodes, Count degree, CoinGen& coin);

}  // namespace bandana
