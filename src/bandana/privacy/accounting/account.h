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

/// The guarantee of a list of releases that is fixed beforehand: the mechanisms, their parameters and their
/// number do not depend on what was released. (What they compute may. Where budgets are chosen along the way,
/// see accounting/filter.h.) Proof: docs/proofs/accounting.md.
namespace bandana {

/// A number that a mechanism is described by.
struct MechanismParameter {
  const char* name;
  const char* meaning;
  double least;
  double most;
  bool whole;  ///< an integer

  std::string accepted() const;
};

struct MechanismKind {
  const char* name;
  const char* meaning;
  std::vector<MechanismParameter> parameters;
};

/// Every mechanism that an event may name, with its parameters; all of them are required.
const std::vector<MechanismKind>& MechanismKinds();
const MechanismKind* FindMechanismKind(const std::string& name);

struct Event {
  std::string name;  ///< for people; may be empty
  std::string mechanism;
  std::map<std::string, double> parameters;
  std::string unit;        ///< what is protected: "client", "record", ...; the same in all events
  std::string neighbours;  ///< "replace-one" or "add-remove"; the same in all events
  double count = std::numeric_limits<double>::quiet_NaN();  ///< how many such releases
  bool disjoint = false;  ///< the `count` releases are over disjoint units: each unit is in one of them
  /// Events of different cohorts are over disjoint units: each unit is in one cohort at most, and which one
  /// does not depend on its data. Events without a cohort concern everyone.
  std::string cohort;
};

/// What is asked: the least epsilon at `delta`, or the least delta at `epsilon`. One of them.
struct AccountTarget {
  std::optional<double> epsilon;
  std::optional<double> delta;
};

/// One way to add the events up.
struct AccountProof {
  std::string name;                      ///< "gdp", "pld", "renyi", "zcdp" or "basic"
  std::string title;                     ///< for people
  std::optional<DpGuarantee> guarantee;  ///< nothing if it gives none
  std::string why_not;                   ///< if it gives none
};

struct AccountedEvent {
  std::string loss;  ///< one release's own figure: "mu = 0.25", "epsilon = 0.1"
  double releases;   ///< that one unit may be in
};

struct AccountReport {
  DpGuarantee guarantee;
  std::string proof;  ///< the one whose guarantee this is
  std::string unit;
  std::string neighbours;
  std::string worst_cohort;  ///< the cohort whose units have this guarantee; empty if there are none
  std::size_t cohorts = 0;
  std::vector<AccountedEvent> events;  ///< as they were given
  std::vector<AccountProof> proofs;    ///< every one, best first
};

/// Errors name the field as "events[3].sigma", counting from 1. That no proof gives a guarantee is an error
/// about the target.
absl::StatusOr<AccountReport> Account(std::span<const Event> events, const AccountTarget& target);

}  // namespace bandana
