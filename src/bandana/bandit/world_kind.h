#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/core/options.h"

namespace bandana {

/// A kind of world that a spec or a program can name.
struct WorldKind {
  std::string name;
  std::string sentence;
  std::string origin;  ///< the plugin that brought it; empty: the library or the program itself
  TimeModel time = TimeModel::kSlot;
  std::vector<Option> options;
  std::any defaults;
  std::vector<std::string> metrics;  ///< the names of the series that UserWorld::Measure adds
  std::function<absl::StatusOr<std::unique_ptr<World>>(const std::any& params, const WorldDraw&)> make;
  /// Tells about the world that these parameters make for a horizon; null: there is nothing to tell.
  std::function<absl::StatusOr<std::vector<Statement>>(const std::any& params, Count horizon)> describe;
};

/// Fills in a kind's options, defaults and function from its parameter struct.
template <class P>
WorldKind WithParams(WorldKind kind, const OptionsFor<P>& options,
                     absl::StatusOr<std::unique_ptr<World>> (*make)(const P&, const WorldDraw&)) {
  kind.options = options.options();
  kind.defaults = P{};
  kind.make = [make](const std::any& params, const WorldDraw& draw) {
    return make(std::any_cast<const P&>(params), draw);
  };
  return kind;
}

}  // namespace bandana
