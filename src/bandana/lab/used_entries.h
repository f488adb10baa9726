#pragma once

#include <set>
#include <string>
#include <utility>

#include "bandana/lab/point.h"

namespace bandana::lab {

/// The algorithms and worlds of some points, the plugins that brought them, and the keys of their options.
struct UsedEntries {
  std::set<std::string> keys;
  std::set<std::string> origins;
  std::set<std::string> algorithms;
  std::set<std::string> worlds;

  void Add(const Experiment& experiment) {
    for (std::string& key : KeysOf(experiment)) keys.insert(std::move(key));
    algorithms.insert(experiment.family->name);
    worlds.insert(experiment.kind->name);
    for (const std::string& origin : {experiment.family->origin, experiment.kind->origin}) {
      if (!origin.empty()) origins.insert(origin);
    }
  }

  void Merge(const UsedEntries& other) {
    keys.insert(other.keys.begin(), other.keys.end());
    algorithms.insert(other.algorithms.begin(), other.algorithms.end());
    worlds.insert(other.worlds.begin(), other.worlds.end());
    origins.insert(other.origins.begin(), other.origins.end());
  }
};

}  // namespace bandana::lab
