#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "bandana/core/ids.h"

namespace bandana {

/// A subset of the nodes 1 .. nodes(), as bits. Operations on two sets need equal nodes(). A
/// default-constructed set has nodes() == 0; Keep accepts it and then leaves an empty set.
class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(Count nodes) : nodes_(nodes), words_((static_cast<std::size_t>(nodes) + 63) / 64) {}

  Count nodes() const { return nodes_; }
  bool Contains(NodeId node) const { return (words_[Word(node)] >> Bit(node) & 1) != 0; }
  void Insert(NodeId node) { words_[Word(node)] |= std::uint64_t{1} << Bit(node); }
  void Erase(NodeId node) { words_[Word(node)] &= ~(std::uint64_t{1} << Bit(node)); }
  void Clear() { words_.assign(words_.size(), 0); }

  Count size() const {
    Count size = 0;
    for (const std::uint64_t word : words_) size += std::popcount(word);
    return size;
  }
  bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t word : words_) any |= word;
    return any == 0;
  }

  void Add(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void Remove(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }
  void Keep(const NodeSet& other) {
    if (other.words_.empty()) return Clear();
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }

  /// Calls `use` for each node, in increasing order.
  template <class Use>
  void ForEach(Use use) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        use(NodeId{static_cast<std::uint32_t>(64 * i + 1) +
                   static_cast<std::uint32_t>(std::countr_zero(word))});
      }
    }
  }

  /// Node 64 i + j + 1 is bit j of word i; bits beyond nodes() are 0.
  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words() { return words_; }

  bool operator==(const NodeSet&) const = default;

  template <class Archive>
  void State(Archive& a) {
    a(nodes_, words_);
    a.Check(nodes_ >= 0 && words_.size() == (static_cast<std::uint64_t>(nodes_) + 63) / 64,
            "a set of nodes does not have the right size");
    a.Check([&] { return nodes_ % 64 == 0 || words_.back() >> (nodes_ % 64) == 0; },
            "a set of nodes does not have the right size");
  }

 private:
  static std::size_t Word(NodeId node) { return (node.value - 1) / 64; }
  static unsigned Bit(NodeId node) { return (node.value - 1) % 64; }

  Count nodes_ = 0;
  absl::InlinedVector<std::uint64_t, 8> words_;  // inline up to 512 nodes
};

}  // namespace bandana
