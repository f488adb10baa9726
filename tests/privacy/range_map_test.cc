#include "bandana/privacy/range_map.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bandana/privacy/client_set.h"

namespace bandana {
namespace {

constexpr std::uint32_t kLast = 0xffffffff;

struct Piece {
  std::uint32_t first;
  std::uint32_t last;
  int value;
  bool operator==(const Piece&) const = default;
};

std::vector<Piece> PiecesOf(const RangeMap<int>& map) {
  std::vector<Piece> pieces;
  map.VisitAll(
      [&](std::uint32_t first, std::uint32_t last, int value) { pieces.push_back({first, last, value}); });
  return pieces;
}

void Add(RangeMap<int>& map, std::uint32_t first, std::uint32_t last, int amount) {
  map.Change(first, last, [&](const int* before) { return (before == nullptr ? 0 : *before) + amount; });
}

TEST(RangeMapTest, NeighboursOfOneValueAreOnePiece) {
  RangeMap<int> map;
  for (std::uint32_t id = 1; id <= 1000; ++id) Add(map, id, id, 1);
  EXPECT_EQ(PiecesOf(map), (std::vector<Piece>{{1, 1000, 1}}));
  for (std::uint32_t id = 1000; id >= 1; --id) Add(map, id, id, 1);
  EXPECT_EQ(PiecesOf(map), (std::vector<Piece>{{1, 1000, 2}}));
  Add(map, 10, 20, 1);
  EXPECT_EQ(PiecesOf(map), (std::vector<Piece>{{1, 9, 2}, {10, 20, 3}, {21, 1000, 2}}));
}

TEST(RangeMapTest, GoesUpToTheLastId) {
  RangeMap<int> map;
  Add(map, 0, kLast, 1);
  Add(map, kLast, kLast, 1);
  Add(map, 0, 0, 1);
  EXPECT_EQ(PiecesOf(map), (std::vector<Piece>{{0, 0, 2}, {1, kLast - 1, 1}, {kLast, kLast, 2}}));
  Add(map, 1, kLast - 1, 1);
  EXPECT_EQ(PiecesOf(map), (std::vector<Piece>{{0, kLast, 2}}));
}

RC_GTEST_PROP(RangeMapTest, IsAMapOfSingleIds, ()) {
  RangeMap<int> map;
  std::map<std::uint32_t, int> plain;
  const int changes = *rc::gen::inRange(1, 30);
  for (int i = 0; i < changes; ++i) {
    const auto first = *rc::gen::inRange<std::uint32_t>(0, 40);
    const auto last = first + *rc::gen::inRange<std::uint32_t>(0, 12);
    const int amount = *rc::gen::inRange(0, 3);
    std::uint32_t next = first;
    map.Visit(first, last, [&](std::uint32_t from, std::uint32_t to, const int* value) {
      RC_ASSERT(from == next && to >= from);
      for (; next <= to; ++next) {
        const auto it = plain.find(next);
        RC_ASSERT((value == nullptr) == (it == plain.end()));
        if (value != nullptr) RC_ASSERT(*value == it->second);
      }
    });
    RC_ASSERT(next == last + 1);
    Add(map, first, last, amount);
    for (std::uint32_t id = first; id <= last; ++id) plain[id] += amount;
  }
  std::size_t ids = 0;
  std::optional<Piece> before;
  for (const Piece& piece : PiecesOf(map)) {
    for (std::uint32_t id = piece.first; id <= piece.last; ++id, ++ids)
      RC_ASSERT(plain.at(id) == piece.value);
    if (before) RC_ASSERT(piece.first > before->last + 1 || piece.value != before->value);
    before = piece;
  }
  RC_ASSERT(ids == plain.size());
}

TEST(ClientSetTest, KnowsWhoIsNew) {
  ClientSet set;
  EXPECT_TRUE(set.AreNew(NodeId{5}, 10'000'000));
  set.Add(NodeId{5}, 10'000'000);
  EXPECT_FALSE(set.AreNew(NodeId{5}, 1));
  EXPECT_FALSE(set.AreNew(NodeId{10'000'004}, 1));
  EXPECT_FALSE(set.AreNew(NodeId{1}, 5));
  EXPECT_TRUE(set.AreNew(NodeId{1}, 4));
  EXPECT_TRUE(set.AreNew(NodeId{10'000'005}, 7));
  EXPECT_TRUE(set.AreNew(NodeId{kLast}, 1));
  EXPECT_FALSE(set.AreNew(NodeId{kLast}, 2)) << "there are no such ids";
  for (const Count none : {Count{0}, Count{-1}, Count{1} << 33}) EXPECT_FALSE(set.AreNew(NodeId{1}, none));
  set.Add(NodeId{1}, 4);
  set.Add(NodeId{kLast}, 1);
  EXPECT_EQ(set.Ranges().ToText(), "1-10000004,4294967295");
}

}  // namespace
}  // namespace bandana
