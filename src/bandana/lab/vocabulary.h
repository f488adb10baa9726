#pragma once

#include <string>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/core/options.h"
#include "bandana/core/value.h"

/// All options that a spec may name, by dotted key: those of the run itself, of the service, and of the
/// algorithms and worlds in the registry.
namespace bandana::lab {

/// The options of a run that belong to no algorithm, world or mechanism.
struct RunParams {
  std::string name;
  Count horizon = 0;
  Count seed = 1;
  Count replicates = 1;
  Value checkpoints = std::string("log");
};

const std::vector<Option>& GeneralOptions();

/// The options of [service], which are no part of an experiment. A key that is not given is not set: no
/// option has a default.
const std::vector<Option>& ServiceOptions();

/// These return the options algorithm.name and environment.kind. Their accepted values are the names in the
/// registry.
Option AlgorithmOption();
Option KindOption();

/// Returns all options with that dotted key. Several algorithms or worlds may have an option of the same
/// name; those of the given algorithm and kind of world come first.
std::vector<Option> OptionsNamed(const std::string& key, const std::string& algorithm,
                                 const std::string& kind);

std::vector<std::string> KnownKeys();

}  // namespace bandana::lab
