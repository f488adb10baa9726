#include "bandana/lab/catalog.h"

#include <algorithm>
#include <map>

#include "bandana/core/status.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/exhibit.h"

namespace bandana::lab {
namespace {

// What can be said beside this: options of the tables that apply once the deciding key has this value.
Entry EntryOf(const std::string& name, const std::string& summary, const std::string& key,
              const std::vector<std::string>& tables) {
  Entry entry{.name = name, .summary = summary};
  entry.settings.Set(key, Value(name));
  for (const Option& option : Vocabulary()) {
    // Whatever else decides, show it: choices are taken at each of their values, the rest at their defaults.
    bool applies = option.applies(entry.settings);
    for (const Option& decider : Vocabulary()) {
      if (decider.key == key || !decider.applies(entry.settings)) continue;
      std::vector<Value> values(decider.choices.begin(), decider.choices.end());
      if (const auto fallback = decider.FallbackFor(entry.settings)) values.push_back(*fallback);
      for (const Value& value : values) {
        Settings other = entry.settings;
        other.Set(decider.key, value);
        applies = applies || option.applies(other);
      }
    }
    const std::string table = option.key.substr(0, option.key.find('.'));
    const bool shown = option.key != key && std::find(tables.begin(), tables.end(), table) != tables.end();
    if (applies && shown) entry.options.push_back(&option);
  }
  return entry;
}

Entry Environment(const std::string& kind, const std::string& summary) {
  return EntryOf(kind, summary, "environment.kind", {"environment"});
}

Entry Privatizer(const std::string& model, const std::string& summary) {
  return EntryOf(model, summary, "privacy.model", {"privacy"});
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
        EntryOf(algorithm.name, algorithm.summary, "algorithm.name", {"algorithm", "federation"}));
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<Entry>> Catalog(const std::string& kind) {
  static const std::map<std::string, std::vector<Entry>> catalog = {
      {"algorithms", AlgorithmEntries()},
      {"environments",
       {Environment("linear",
                    "finitely many actions with mean reward <theta, x>; clients with theta_u = theta + xi"),
        Environment(
            "glm",
            "the same with mean reward mu(<theta, x>), mu logistic, rewards 1 or 0, clients all alike"),
        Environment(
            "contextual-linear",
            "a context of K actions a client, of a known distribution, played by policies (P2, Section "
            "III-A); or K arms an agent and round (P3: contexts gap, sphere)"),
        Environment("mab", "K arms with a mean each, which agents share or which differ between them (P4)"),
        Environment(
            "replay",
            "what a log has: rounds of the Open Bandit Pipeline's files, by rejection or judged doubly "
            "robustly; or applications for car loans, at K prices (P5)")}},
      {"privatizers",
       {Privatizer("none", "averages as they are: no privacy is claimed"),
        Privatizer(
            "central",
            "a trusted server adds noise to the clients' sum; (epsilon, delta) per client, replace-one"),
        Privatizer(
            "local",
            "every client adds noise to its own averages; (epsilon, delta) per client against the server; or "
            "every user to its own gradient or statistics (P5), per user against everyone else"),
        Privatizer(
            "shuffle",
            "a shuffler mixes the clients' noisy reports; (epsilon, delta) per client against the server"),
        Privatizer(
            "silo",
            "each agent adds noise to running sums of its own records; (epsilon, delta) per record against "
            "all others; with arms to sums of rewards, epsilon per reward"),
        Privatizer("peer", "the same among peers, without a controller")}},
      {"exhibits", ExhibitEntries()},
  };
  const auto it = catalog.find(kind);
  if (it != catalog.end()) return it->second;
  return InvalidOption("list", kind, "algorithms, environments, privatizers, exhibits");
}

}  // namespace bandana::lab
