#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/ledger/unit_ranges.h"

namespace bandana {

/// A privacy claim: a bound on what one adversary can learn about one unit. A mechanism has a list of claims,
/// one per adversary.
struct Claim {
  std::string adversary;   ///< the adversary, and what it sees
  DpGuarantee guarantee;   ///< the proved guarantee, which may differ from the nominal one
  std::string unit;        ///< the protected unit
  std::string neighbours;  ///< "replace-one" or "add-remove"
  std::string proof;       ///< the note in docs/proofs/
  /// A condition on the data, or on what others see, without which the claim says nothing. Empty: none.
  std::string only_if = {};
  /// Whether epsilon was asked for against this adversary and for this unit. Other claims follow from
  /// the mechanism, for example those for a person with many records.
  bool asked = true;
  /// The epsilon that was asked for, where it is not privacy.epsilon but a budget of the unit's agents.
  std::optional<double> asked_epsilon = {};
};

/// Returns the claim as a sentence for people, with figures rounded up.
std::string ToText(const Claim& claim);

/// Returns the largest epsilon, and the largest delta, of the claims that were asked for. Empty: there are
/// none.
std::optional<DpGuarantee> Weakest(const std::vector<Claim>& claims);

/// A sentence that a reader of results or claims must know.
struct Note {
  enum class Weight {
    kRemark,
    kNarrowsClaim,  ///< the claims hold in fewer cases than one might think
    kVoidsClaim,    ///< the claims do not hold, and reports say so
  };
  Weight weight = Weight::kRemark;
  std::string text;
  std::string only_if = {};  ///< kNarrowsClaim: the condition as the claims have it (Claim::only_if)
};

/// Adds the conditions of the notes to all claims.
std::vector<Claim> Narrowed(std::vector<Claim> claims, const std::vector<Note>& notes);

/// Makes a claim of a mean mechanism. All of them have the same unit and the same neighbours.
inline Claim ClientClaim(std::string adversary, DpGuarantee guarantee, std::string proof) {
  return {.adversary = std::move(adversary),
          .guarantee = guarantee,
          .unit = "one client's whole contribution",
          .neighbours = "replace-one",
          .proof = std::move(proof)};
}

/// Returns the unit of a claim about records: one record, with the remark that nobody knows how many a person
/// has; or, where that is known, the person.
std::string RecordUnit(const std::string& record, const std::string& records,
                       std::optional<Count> records_per_person);

/// Restates claims for the case that a client's reward depends on its context, which stays with the client.
/// They become joint differential privacy: against everyone but the client itself
/// (docs/proofs/known-contexts.md).
std::vector<Claim> AsJoint(std::vector<Claim> claims);

/// The cost of one release for each unit whose data are in it.
struct Charge {
  DpGuarantee guarantee;
  UnitRanges units;
};

/// Identifies a release. Two draws of the same release would give an adversary two noises for one value, so a
/// context returns the first draw again. Another question in the same epoch is another release, and costs
/// again.
struct ReleaseKey {
  NodeId node;
  Epoch epoch;
  std::string question = {};  ///< a digest of the query, and of the part if the query is dealt
  auto operator<=>(const ReleaseKey&) const = default;

  template <class Hash>
  friend Hash AbslHashValue(Hash hash, const ReleaseKey& key) {
    return Hash::combine(std::move(hash), key.node, key.epoch, key.question);
  }
};

}  // namespace bandana
