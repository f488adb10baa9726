#include "bandana/lab/catalog.h"

#include <map>

#include "bandana/core/status.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/exhibit.h"

namespace bandana::lab {
namespace {

// Options of a table that apply once its deciding key has this value.
std::vector<const Option*> OptionsUnder(const std::string& table, const std::string& key,
                                        const std::string& value) {
  Settings settings;
  settings.Set(key, Value(value));
  std::vector<const Option*> options;
  for (const Option& option : Vocabulary()) {
    // Whatever else decides, show it: a choice that has a default is taken at each of its values.
    bool applies = option.applies(settings);
    for (const Option& decider : Vocabulary()) {
      if (decider.type != OptionType::kChoice || decider.key == key || !decider.applies(settings)) continue;
      for (const std::string& choice : decider.choices) {
        Settings other = settings;
        other.Set(decider.key, Value(choice));
        applies = applies || option.applies(other);
      }
    }
    if (applies && option.key.starts_with(table + ".") && option.key != key) options.push_back(&option);
  }
  return options;
}

std::vector<Entry> ExhibitEntries() {
  std::vector<Entry> entries;
  for (const Exhibit& exhibit : Exhibits()) entries.push_back({exhibit.name, exhibit.title, {}});
  return entries;
}

std::vector<Entry> AlgorithmEntries() {
  std::vector<Entry> entries;
  for (const Algorithm& algorithm : Algorithms()) {
    entries.push_back(
        {algorithm.name, algorithm.summary, OptionsUnder("algorithm", "algorithm.name", algorithm.name)});
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<Entry>> Catalog(const std::string& kind) {
  static const std::map<std::string, std::vector<Entry>> catalog = {
      {"algorithms", AlgorithmEntries()},
      {"environments",
       {{"linear", "finitely many actions with mean reward <theta, x>; clients with theta_u = theta + xi",
         OptionsUnder("environment", "environment.kind", "linear")},
        {"glm", "the same with mean reward mu(<theta, x>), mu logistic, rewards 1 or 0, clients all alike",
         OptionsUnder("environment", "environment.kind", "glm")},
        {"contextual-linear",
         "a context of K actions a client, of a known distribution, played by policies (P2, Section III-A); "
         "or K arms "
         "an agent and round (P3: contexts gap, sphere)",
         OptionsUnder("environment", "environment.kind", "contextual-linear")}}},
      {"privatizers",
       {{"none", "averages as they are: no privacy is claimed",
         OptionsUnder("privacy", "privacy.model", "none")},
        {"central",
         "a trusted server adds noise to the clients' sum; (epsilon, delta) per client, replace-one",
         OptionsUnder("privacy", "privacy.model", "central")},
        {"local",
         "every client adds noise to its own averages; (epsilon, delta) per client against the server",
         OptionsUnder("privacy", "privacy.model", "local")},
        {"shuffle",
         "a shuffler mixes the clients' noisy reports; (epsilon, delta) per client against the server",
         OptionsUnder("privacy", "privacy.model", "shuffle")},
        {"silo",
         "each agent adds noise to running sums of its own records; (epsilon, delta) per record against all "
         "others",
         OptionsUnder("privacy", "privacy.model", "silo")},
        {"peer", "the same among peers, without a controller",
         OptionsUnder("privacy", "privacy.model", "peer")}}},
      {"exhibits", ExhibitEntries()},
  };
  const auto it = catalog.find(kind);
  if (it != catalog.end()) return it->second;
  return InvalidOption("list", kind, "algorithms, environments, privatizers, exhibits");
}

}  // namespace bandana::lab
