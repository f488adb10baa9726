#pragma once

#include <rapidcheck.h>

#include <utility>
#include <vector>

#include "bandana/federation/graph.h"

namespace bandana::test {

/// Generates any graph of up to `most` nodes; it shrinks towards small graphs.
inline Graph AnyGraph(Count most) {
  const Count nodes = *rc::gen::inRange<Count>(1, most + 1);
  const int density = *rc::gen::inRange(0, 101);
  std::vector<Edge> edges;
  for (std::uint32_t a = 1; a <= nodes; ++a) {
    for (std::uint32_t b = a + 1; b <= nodes; ++b) {
      if (*rc::gen::inRange(0, 100) < density) edges.push_back({{a}, {b}});
    }
  }
  return Graph::Create(nodes, edges).value();
}

}  // namespace bandana::test
