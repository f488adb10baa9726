#pragma once

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/federation/graph.h"

/// The graphs that NetworkParams offer. Random graphs are functions of their coins, and need not be
/// connected (see CheckConnected). Random and complete graphs have at most 2^14 nodes. Errors name
/// `people`, `degree` or `edge_probability`.
namespace bandana {

absl::StatusOr<Graph> CompleteGraph(Count nodes);

/// Node 1 is a neighbour of every other node. There are no other edges.
absl::StatusOr<Graph> StarGraph(Count nodes);

/// Nodes 1 .. hubs are neighbours of each other. Each other node is a neighbour of one hub; the hubs take
/// turns. 1 <= hubs <= nodes, at most 2^12. `degree` is the number of hubs.
absl::StatusOr<Graph> MultiStarGraph(Count nodes, Count hubs);

/// Needs at least three nodes.
absl::StatusOr<Graph> RingGraph(Count nodes);

absl::StatusOr<Graph> LineGraph(Count nodes);

/// A grid with ceil(sqrt(nodes)) columns, filled row by row. The last row may be shorter.
absl::StatusOr<Graph> GridGraph(Count nodes);

/// Every node has `degree` neighbours; nodes * degree is even, degree < nodes. The draw is nearly uniform
/// among these graphs: it starts with any of them and then switches the ends of its edges, twenty times per
/// edge. C. Cooper, M. Dyer and C. Greenhill, "Sampling regular graphs and a peer-to-peer network", Combin.
/// Probab. Comput. 16, 2007. If the degree exceeds half of the nodes, the complement is drawn instead.
absl::StatusOr<Graph> RegularGraph(Count nodes, Count degree, CoinGen& coin);

/// Each pair of nodes is an edge with this probability, independently. E. N. Gilbert, "Random graphs", Ann.
/// Math. Statist. 30, 1959.
absl::StatusOr<Graph> ErdosRenyiGraph(Count nodes, double edge_probability, CoinGen& coin);

/// Starts with a ring in which every node has degree / 2 neighbours on each side (degree even, 2 <= degree <
/// nodes). Each edge is then moved with probability edge_probability: its farther end becomes a node that is
/// drawn uniformly from those that are not neighbours yet. D. J. Watts and S. H. Strogatz, "Collective
/// dynamics of 'small-world' networks", Nature 393, 1998.
absl::StatusOr<Graph> WattsStrogatzGraph(Count nodes, Count degree, double edge_probability, CoinGen& coin);

/// Starts with a complete graph of degree + 1 nodes, 1 <= degree < nodes. The other nodes join one by one,
/// each with edges to `degree` earlier nodes, which are drawn in proportion to their degrees. The graph is
/// always connected. A.-L. Barabasi and R. Albert, "Emergence of scaling in random networks", Science 286,
/// 1999.
absl::StatusOr<Graph> BarabasiAlbertGraph(Count nodes, Count degree, CoinGen& coin);

}  // namespace bandana
