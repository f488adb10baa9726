#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/ledger/unit_ranges.h"

namespace bandana {

/// One promise: what one adversary can learn about one unit. A mechanism's claims are a list, one an
/// adversary.
struct Claim {
  std::string adversary;   ///< who, and what it sees
  DpGuarantee guarantee;   ///< what really holds, never the nominal figure
  std::string unit;        ///< what is protected
  std::string neighbours;  ///< "replace-one" or "add-remove"
  std::string proof;       ///< the note in docs/proofs/
};

/// The promise of the mean mechanisms, whose unit and neighbours are the same.
inline Claim ClientClaim(std::string adversary, DpGuarantee guarantee, std::string proof) {
  return {.adversary = std::move(adversary),
          .guarantee = guarantee,
          .unit = "one client's whole contribution",
          .neighbours = "replace-one",
          .proof = std::move(proof)};
}

/// The same promises for answers to dealt queries, of one reward a client (docs/proofs/dealt.md).
std::vector<Claim> AsDealt(std::vector<Claim> claims);

/// The same promises where a client's reward depends on its context, which stays with it: joint differential
/// privacy, against everyone but the client itself (docs/proofs/known-contexts.md).
std::vector<Claim> AsJoint(std::vector<Claim> claims);

/// What one release costs those whose data are in it.
struct Charge {
  DpGuarantee guarantee;
  UnitRanges units;
};

/// Names a release. Drawing the same one twice would give an adversary two noises for one value, so a context
/// hands out the first draw again. Another question in the same epoch is another release, and costs again.
struct ReleaseKey {
  NodeId node;
  Epoch epoch;
  std::string question = {};  ///< a digest of the query
  auto operator<=>(const ReleaseKey&) const = default;

  template <class Hash>
  friend Hash AbslHashValue(Hash hash, const ReleaseKey& key) {
    return Hash::combine(std::move(hash), key.node, key.epoch, key.question);
  }
};

}  // namespace bandana
