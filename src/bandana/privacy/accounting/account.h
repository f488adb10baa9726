#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/privacy/guarantee.h"

/// Computes the guarantee of a list of releases that is fixed in advance: the mechanisms, their parameters
/// and their number do not depend on what was released. What they compute may depend on it. Budgets
/// that are chosen along the way are not covered. Proof: docs/proofs/accounting.md.
namespace bandana {

/// A numeric parameter of a mechanism.
struct MechanismParameter {
  const char* name;
  const char* meaning;
  double least;
  double most;
  bool whole;  ///< whether the value must be an integer

  std::string accepted() const;
};

struct MechanismKind {
  const char* name;
  const char* meaning;
  std::vector<MechanismParameter> parameters;
};

/// Returns every mechanism that an event may name, with its parameters. All parameters are required.
const std::vector<MechanismKind>& MechanismKinds();
const MechanismKind* FindMechanismKind(const std::string& name);

struct Event {
  std::string name;  ///< for people; may be empty
  std::string mechanism;
  std::map<std::string, double> parameters;
  std::string unit;        ///< the protected unit: "client", "record", ...; the same in all events
  std::string neighbours;  ///< "replace-one" or "add-remove"; the same in all events
  double count = std::numeric_limits<double>::quiet_NaN();  ///< the number of such releases
  /// Whether the `count` releases are over disjoint units: each unit is in only one of them, and which one
  /// does not depend on its data. (Counts by age group are not disjoint: a record that changes its age moves
  /// from one count to another.)
  bool disjoint = false;
  /// Events of different cohorts are over disjoint units: each unit is in at most one cohort, and which one
  /// does not depend on its data. Events without a cohort concern every unit.
  std::string cohort;
};

/// The question: the least epsilon at `delta`, or the least delta at `epsilon`. Exactly one of them is set.
struct AccountTarget {
  std::optional<double> epsilon;
  std::optional<double> delta;
};

/// The result of one method to add the events up.
struct AccountProof {
  std::string name;                      ///< "gdp", "pld", "renyi", "zcdp" or "basic"
  std::string title;                     ///< for people
  std::optional<DpGuarantee> guarantee;  ///< empty if the method gives no guarantee
  std::string why_not;                   ///< the reason if it gives no guarantee
};

struct AccountedEvent {
  std::string loss;  ///< the loss of a single release: "mu = 0.25", "epsilon = 0.1"
  double releases;   ///< the number of releases that one unit may be in
};

struct AccountReport {
  DpGuarantee guarantee;
  std::string proof;  ///< the name of the proof that gives this guarantee
  std::string unit;
  std::string neighbours;
  std::string worst_cohort;  ///< the cohort whose units have this guarantee; empty if there are none
  std::size_t cohorts = 0;
  std::vector<AccountedEvent> events;  ///< in the order given
  std::vector<AccountProof> proofs;    ///< all of them, best first
};

/// Adds the events up by every proof and returns the best guarantee. Errors name the field as
/// "events[3].sigma", counting from 1. If no proof gives a guarantee, the error is about the target.
absl::StatusOr<AccountReport> Account(std::span<const Event> events, const AccountTarget& target);

}  // namespace bandana
