#include "bandana/federation/node_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace bandana {
namespace {

std::set<std::uint32_t> Of(const NodeSet& set) {
  std::set<std::uint32_t> nodes;
  set.ForEach([&](NodeId node) { nodes.insert(node.value); });
  return nodes;
}

NodeSet From(const std::set<std::uint32_t>& nodes, Count of) {
  NodeSet set(of);
  for (const std::uint32_t node : nodes) set.Insert(NodeId{node});
  return set;
}

RC_GTEST_PROP(NodeSetTest, IsASet, ()) {
  const auto nodes = *rc::gen::inRange<Count>(1, 200);
  const auto any = [&] {
    const auto list = *rc::gen::container<std::vector<std::uint32_t>>(
        rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(nodes) + 1));
    return std::set<std::uint32_t>(list.begin(), list.end());
  };
  const std::set<std::uint32_t> a = any();
  const std::set<std::uint32_t> b = any();
  RC_ASSERT(Of(From(a, nodes)) == a);
  RC_ASSERT(From(a, nodes).size() == static_cast<Count>(a.size()));
  RC_ASSERT(From(a, nodes).empty() == a.empty());
  NodeSet both = From(a, nodes);
  NodeSet rest = both;
  NodeSet common = both;
  both.Add(From(b, nodes));
  rest.Remove(From(b, nodes));
  common.Keep(From(b, nodes));
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    RC_ASSERT(both.Contains(NodeId{i}) == (a.contains(i) || b.contains(i)));
    RC_ASSERT(rest.Contains(NodeId{i}) == (a.contains(i) && !b.contains(i)));
    RC_ASSERT(common.Contains(NodeId{i}) == (a.contains(i) && b.contains(i)));
  }
  if (!a.empty()) {
    NodeSet less = From(a, nodes);
    less.Erase(NodeId{*a.begin()});
    RC_ASSERT(!less.Contains(NodeId{*a.begin()}));
    RC_ASSERT(less.size() == static_cast<Count>(a.size()) - 1);
  }
}

}  // namespace
}  // namespace bandana
