#pragma once

#include <any>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/federation/family.h"
#include "bandana/lab/settings.h"
#include "bandana/lab/vocabulary.h"

/// Turns the options of one point into the parameters of its algorithm, its world and its mechanism.
namespace bandana::lab {

/// The parameters of everything that a point runs.
struct Experiment {
  RunParams run;
  const Family* family = nullptr;
  const WorldKind* kind = nullptr;
  std::any params;      ///< the parameters of the family, of its own type
  std::any world;       ///< the parameters of the kind of world, of its own type
  std::any simulation;  ///< a LossParams, if the family has such options
  Privacy privacy;
};

struct ResolvedPoint {
  Settings settings;               ///< the value of every option that applies, defaults included
  std::vector<std::string> order;  ///< the keys of `settings`, in the order of resolution
  std::map<std::string, std::optional<Value>> defaults;  ///< the default of each of these keys, if it has one
  Experiment experiment;
};

/// Returns the dotted keys of all options of the point's algorithm and world, also of those that do not apply
/// with the values that were given.
std::vector<std::string> KeysOf(const Experiment& experiment);

/// Returns the value that the user gave for a dotted key, or null.
using GivenValue = std::function<const Value*(const std::string& key)>;

/// Chooses the algorithm and the world by their names. Each of their options that applies gets the value that
/// was given, or its default. An error names the dotted key.
absl::StatusOr<ResolvedPoint> ResolvePoint(const GivenValue& given);

/// Reads settings that were resolved before.
absl::StatusOr<Experiment> ReadExperiment(const Settings& settings);

/// Returns the error with the dotted key of the option that sets the field it names. `of_world` says whether
/// the field belongs to the world's parameters.
absl::Status WithKey(const absl::Status& status, const Experiment& experiment, bool of_world);

}  // namespace bandana::lab
