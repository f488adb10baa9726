#pragma once

#include <any>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/world_kind.h"
#include "bandana/core/check.h"
#include "bandana/core/options.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/privacy_options.h"

/// The registry of algorithms and worlds. An entry is data: lists, error messages and the readers of options
/// are made from it. docs/your-first-algorithm.md shows how to add one.
namespace bandana {

/// An algorithm that a spec or a program can name.
struct Family {
  std::string name;
  std::string paper;     ///< where it was published
  std::string sentence;  ///< what it does
  std::string origin;    ///< the plugin that brought it; empty: the library or the program itself
  TimeModel time = TimeModel::kSlot;
  std::vector<TrustModel> trust;
  std::vector<std::string> worlds;        ///< kinds of worlds that it can be played in
  std::vector<std::string> privacy_keys;  ///< the options of Privacy that it takes, beside model
  bool one_client_per_round = false;      ///< slots: every round has a new client
  std::vector<Option> options;            ///< of its parameters
  std::any defaults;                      ///< its parameters
  /// The options of a LossParams, if messages of its agents can be lost in a simulation; else none.
  std::vector<Option> simulation_options;
  std::vector<std::string> metrics = {};  ///< the names of the numbers that its roles add to Observations
  std::function<absl::StatusOr<Federation>(const std::any& params, const Privacy&, const Facts&)> create = {};

  /// Sets those parameters of a world that depend on the algorithm. Null: there are none.
  std::function<absl::Status(const std::any& params, const Privacy&, const WorldDraw&, std::any& world)> aim =
      {};

  /// Returns the options to change, so that a round of a much shorter run takes about as long
  /// as a round of the whole run, which `facts` describes. Estimates of a run's time need it. Null: runs are
  /// short, and nobody estimates them.
  std::function<absl::StatusOr<Values>(const std::any& params, const Privacy&, const Facts& facts)>
      for_short_run = {};
};

/// Fills in a family's options, defaults and function from its parameter struct.
template <class P>
Family WithParams(Family family, const OptionsFor<P>& options,
                  absl::StatusOr<Federation> (*create)(const P&, const Privacy&, const Facts&)) {
  family.options = options.options();
  family.defaults = P{};
  family.create = [create](const std::any& params, const Privacy& privacy, const Facts& facts) {
    return create(std::any_cast<const P&>(params), privacy, facts);
  };
  return family;
}

class Registry {
 public:
  /// Fails if an entry of that name for the same worlds is there already.
  absl::Status Add(Family family);
  absl::Status Add(WorldKind kind);

  /// Adds an entry that ships. A name that is taken is a programmer's error.
  template <class Entry>
  void MustAdd(Entry entry) {
    BANDANA_CHECK(Add(std::move(entry)).ok());
  }

  const std::deque<Family>& families() const { return families_; }
  const std::deque<WorldKind>& worlds() const { return worlds_; }

  /// Returns the family of that name which is played in worlds of that kind; `world` empty: the first of that
  /// name. Fails if there is none. An unknown name is answered with the nearest.
  absl::StatusOr<const Family*> FindFamily(const std::string& name, const std::string& world = "") const;

  /// Returns the family of that name for that time model. Fails if there is none.
  absl::StatusOr<const Family*> FindFamily(const std::string& name, TimeModel time) const;

  /// Returns the kind of that name for that time model. Fails if there is none.
  absl::StatusOr<const WorldKind*> FindWorld(const std::string& name, TimeModel time) const;

 private:
  // Pointers to entries stay valid when others are added.
  std::deque<Family> families_;
  std::deque<WorldKind> worlds_;
};

}  // namespace bandana
