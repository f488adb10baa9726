#pragma once

#include <compare>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/core/ids.h"
#include "bandana/core/options.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/claim.h"

namespace bandana {

/// A failure in a simulated network. It refers to a sync by its number, `round`; among peers that play rounds
/// it refers to a round.
struct Failure {
  enum class Kind {
    /// Agent a is lost after sync `round`: it falls silent with its first message of the next one.
    kAgent,
    /// No message passes between a and b after sync `round`. One of the two may be the server, 0.
    kLink,
    /// All messages of agent a in sync `round` are lost.
    kMiss,
  };
  Kind kind = Kind::kAgent;
  NodeId a;
  NodeId b;
  Epoch round = 0;
  auto operator<=>(const Failure&) const = default;
};

/// Parses "agent 3 @ 2", "link 4-5 @ 1" or "miss 7 @ 3". The error lists the accepted forms.
absl::StatusOr<Failure> ParseFailure(const std::string& text);

/// Parses "none", or several failures with commas between them.
absl::StatusOr<std::vector<Failure>> ParseFailures(const std::string& text);

/// Returns the text that ParseFailure reads.
std::string ToText(const Failure& failure);

/// Fails if a failure is about an agent or a link that the topology does not have.
absl::Status CheckFailures(const std::vector<Failure>& failures, const Topology& topology);

/// Which messages are lost in a simulation, with options in table "federation". A family whose agents talk
/// offers these options as its Family::simulation_options.
struct LossParams {
  double dropout = 0;             ///< probability that an agent misses a sync, independently
  std::vector<Failure> failures;  ///< beside the syncs that are missed by chance
};

OptionsFor<LossParams> LossOptions();

/// Returns the options for clients that are asked one by one: some of them never answer.
OptionsFor<LossParams> DropoutOptions();

/// Returns remarks on what such losses mean for the results of a run.
std::vector<Note> NotesOn(const LossParams& losses, const Facts& facts);

}  // namespace bandana
