#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/lin_ucb.h"
#include "bandana/algorithms/phased_elimination.h"
#include "bandana/lab/settings.h"

/// The algorithms that a spec can name: the one place that lists them.
namespace bandana::lab {

struct Algorithm {
  std::string name;
  std::string summary;
  bool elimination = true;     ///< made of EliminationRules
  bool client_a_round = true;  ///< every round has a new client; otherwise clients watch whole phases
  bool federated = false;      ///< agents with decision sets of their own: lab/federated.h
  bool arms = false;           ///< agents with arms in common: lab/arms.h
  bool users = false;          ///< a new user every round, with a context of its own: lab/users.h
};

std::span<const Algorithm> Algorithms();
const Algorithm& AlgorithmOf(const Settings& settings);
std::vector<std::string> AlgorithmNames();

/// Whether every round has a new user with a context of its own. LinUCB is played with both.
bool HasUsers(const Settings& settings);

/// Clients there are: environment.population, or as many as the algorithm is sure to do with.
Count PopulationOf(const Settings& settings);

/// The rules of an elimination algorithm; an error for any other.
absl::StatusOr<EliminationRules> MakeRules(const Settings& settings, const ActionMatrix& actions);

LinUcbParams MakeLinUcbParams(const Settings& settings);

/// That environment.kind = "contextual-linear" goes with the algorithm, whose clients each meet one context,
/// and with the rewards: widths for normal ones take the mean of an arm for that of a reward.
absl::Status CheckContexts(const Settings& settings);

/// That the algorithm can run on these actions.
absl::Status CheckAlgorithm(const Settings& settings, const ActionMatrix& actions);

}  // namespace bandana::lab
