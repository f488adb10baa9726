#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/point.h"
#include "bandana/lab/vocabulary.h"

/// Enumerates the privacy claims of everything in the registry, for claims_table_test.cc.
namespace bandana::cli {

using Given = std::map<std::string, Value>;

inline constexpr char kContextsFile[] = "contexts.csv";
inline constexpr char kActionsFile[] = "actions.csv";

/// Settings of small worlds. They hold unless a case names another value. `log` is a file with the columns of
/// the Open Bandit Pipeline; beside it, kContextsFile has contexts of four actions in three dimensions, and
/// kActionsFile four actions with names.
inline Given SmallWorld(const std::string& log) {
  using Integer = std::int64_t;
  const std::string actions = (std::filesystem::path(log).parent_path() / kActionsFile).string();
  return {{"name", std::string("claims")},
          {"horizon", Integer{3000}},
          {"environment.dimension", Integer{3}},
          {"environment.actions", Integer{4}},
          {"environment.population", Integer{3000}},
          {"environment.actions_file", actions},
          {"environment.reward_window", std::string("1h")},
          {"environment.log", std::string("obp")},
          {"environment.file", log},
          {"federation.agents", Integer{4}},
          {"federation.file", log},
          {"algorithm.batch", Integer{100}},
          {"privacy.epsilon", 1.0},
          {"privacy.delta", 1e-6}};
}

/// An algorithm in one of its worlds, under one of its trust models.
struct Setting {
  const Family* family = nullptr;
  std::string world;
  TrustModel model = TrustModel::kUnset;
};

inline std::vector<Setting> AllSettings() {
  std::vector<Setting> all;
  for (const Family& family : Families().families()) {
    for (const std::string& world : family.worlds) {
      for (const TrustModel model : family.trust) all.push_back({&family, world, model});
    }
  }
  return all;
}

inline Given GivenFor(const Setting& setting, Given given) {
  given["algorithm.name"] = setting.family->name;
  given["environment.kind"] = setting.world;
  given["privacy.model"] = NameOf(setting.model);
  if (setting.world == "glm") given["environment.reward"] = std::string("bernoulli");  // as its link wants
  if (setting.world == "contextual-linear" && setting.family->time == TimeModel::kSlot) {
    const std::filesystem::path log = std::get<std::string>(given.at("environment.file"));
    given["environment.file"] = (log.parent_path() / kContextsFile).string();
  }
  return given;
}

/// Returns the options that a spec of this setting may have, by dotted key. Some keys have several options,
/// each under a condition of its own.
inline std::multimap<std::string, Option> OptionsOf(const Setting& setting) {
  std::multimap<std::string, Option> options;
  const auto add = [&](const std::vector<Option>& list) {
    for (const Option& option : list) options.emplace(option.FullKey(), option);
  };
  add(lab::GeneralOptions());
  add((*Families().FindWorld(setting.world, setting.family->time))->options);
  add(setting.family->options);
  add(setting.family->simulation_options);
  const std::vector<std::string>& keys = setting.family->privacy_keys;
  for (const Option& option : PrivacyOptions()) {
    if (std::find(keys.begin(), keys.end(), option.key) != keys.end()) add({option});
  }
  return options;
}

inline absl::StatusOr<lab::ResolvedPoint> Resolve(const Given& given) {
  return lab::ResolvePoint([&](const std::string& key) {
    const auto it = given.find(key);
    return it == given.end() ? nullptr : &it->second;
  });
}

inline absl::StatusOr<lab::Instance> InstanceOf(const Given& given) {
  BANDANA_ASSIGN_OR_RETURN(const lab::ResolvedPoint point, Resolve(given));
  return lab::MakeInstance(point.settings, 0);
}

/// Returns the values of an option that a test tries: all words, or some numbers that it accepts.
inline std::vector<Value> ProbesOf(const Option& option) {
  std::vector<Value> probes;
  const auto add = [&](const Value& value) {
    const absl::StatusOr<Value> checked = option.check(value);
    if (!checked.ok()) return;
    if (std::find(probes.begin(), probes.end(), *checked) == probes.end()) probes.push_back(*checked);
  };
  for (const Word& word : option.words) add(Value(word.word));
  if (option.kind == Option::Kind::kChoice) return probes;
  for (const bool flag : {false, true}) add(Value(flag));
  for (const std::int64_t whole : {2, 30}) add(Value(whole));
  if (probes.empty()) {
    for (const double number : {0.9, 0.2}) add(Value(number));
  }
  for (const std::int64_t whole : {1, 0}) add(Value(whole));
  if (option.key == "population") add(Value(std::int64_t{4000}));
  add(Value(std::vector<double>{0.25, 3.0}));
  add(Value(std::vector<std::int64_t>{2, 2}));
  add(Value(std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  return probes;
}

inline bool IsLending(const Given& given) {
  const auto log = given.find("environment.log");
  return given.at("environment.kind") == Value(std::string("replay")) && log != given.end() &&
         log->second == Value(std::string("auto-lending"));
}

inline bool HasWords(const Option& option) { return option.kind == Option::Kind::kChoice; }

/// One case: the values of the options that change claims, and what is claimed then.
struct Case {
  std::map<std::string, std::set<std::string>> where;
  std::string claims;
};

/// Numbers that are also varied together, because claims depend on both.
inline const std::vector<std::pair<std::string, std::string>>& Pairs() {
  static const std::vector<std::pair<std::string, std::string>> pairs = {
      {"privacy.budgets", "privacy.records_per_person"}, {"privacy.colluding", "privacy.honest_fraction"}};
  return pairs;
}

/// Calls `visit(given, where, unless)` for every combination of the words of options that change claims, and
/// for another value of each number that changes them. Numbers are varied under each calibration, where at
/// most one other word is not its default: one at a time, and in the pairs above. A lending log is taken with
/// a file and without one. `visit` returns the claims; empty: they cannot be made. `unless` has those of the
/// case without the number, which need not be repeated; empty: there is no such case.
class Combinations {
 public:
  using Where = std::map<std::string, std::string>;
  using Visit = std::function<std::string(const Given&, const Where&, const std::string& unless)>;

  Combinations(const Setting& setting, std::string lending, Visit visit)
      : setting_(setting),
        lending_(std::move(lending)),
        options_(OptionsOf(setting)),
        visit_(std::move(visit)) {
    for (const auto& [key, option] : options_) {
      if (option.claims == Claims::kChanged) (HasWords(option) ? words_ : numbers_).insert(key);
    }
  }

  void Run(const Given& base) { Choose(GivenFor(setting_, base), words_.begin(), {}); }

 private:
  // Chooses a word for this key and all keys after it. A key may apply only for some words of others, which
  // may come later; so it is asked of the whole point whether the key applies.
  void Choose(const Given& given, std::set<std::string>::const_iterator next, const Where& where) {
    if (next == words_.end()) return Take(given, where);
    const auto after = std::next(next);
    std::set<std::string> tried;
    for (auto [it, end] = options_.equal_range(*next); it != end; ++it) {
      for (const Value& word : ProbesOf(it->second)) {
        if (!tried.insert(ToText(word)).second) continue;
        Given chosen = given;
        chosen[*next] = word;
        Where named = where;
        named[*next] = ToText(word);
        Choose(chosen, after, named);
      }
    }
  }

  void Take(const Given& given, const Where& where) {
    if (!IsLending(given)) return TakeOne(given, where);
    for (const std::string& file : {std::string(), lending_}) {
      Given chosen = given;
      chosen["environment.file"] = file;
      Where named = where;
      named["environment.file"] = file.empty() ? "none" : "given";
      TakeOne(chosen, named);
    }
  }

  void TakeOne(const Given& given, const Where& where) {
    const absl::StatusOr<lab::ResolvedPoint> point = Resolve(given);
    if (!point.ok()) return;
    Where applying = {{"environment.kind", setting_.world}, {"privacy.model", NameOf(setting_.model)}};
    int unusual = 0;
    for (const auto& [key, word] : where) {
      const Value* value = point->settings.Find(key);
      if (value == nullptr) continue;
      applying[key] = word;
      const std::optional<Value>& fallback = point->defaults.at(key);
      const bool usual = key == "privacy.calibration" || !fallback.has_value() || *fallback == *value;
      if (!usual) ++unusual;
    }
    if (!seen_.insert(applying).second) return;
    const std::string claims = visit_(given, applying, "");
    if (unusual > 1 || claims.empty()) return;
    for (const std::string& key : numbers_) VaryNumber(given, applying, key, *point, claims);
    for (const auto& [first, second] : Pairs()) {
      const std::optional<Value> one = OtherValue(given, first, *point),
                                 two = OtherValue(given, second, *point);
      if (!one.has_value() || !two.has_value()) continue;
      Given varied = given;
      varied[first] = *one;
      varied[second] = *two;
      Where named = applying;
      named[first] = ToText(*one);
      named[second] = ToText(*two);
      visit_(varied, named, claims);
    }
  }

  // Visits the first other value that is accepted, and also 1, at which sentences often differ.
  void VaryNumber(const Given& given, const Where& where, const std::string& key,
                  const lab::ResolvedPoint& point, const std::string& claims) {
    const Value* before = point.settings.Find(key);
    if (before == nullptr) return;
    std::set<std::string> tried = {ToText(*before)};
    bool found = false;
    for (auto [it, end] = options_.equal_range(key); it != end; ++it) {
      for (const Value& value : ProbesOf(it->second)) {
        if ((found && ToText(value) != "1") || !tried.insert(ToText(value)).second) continue;
        Given varied = given;
        varied[key] = value;
        Where named = where;
        named[key] = ToText(value);
        found = !visit_(varied, named, claims).empty() || found;
      }
    }
  }

  // Returns another value of a number that is accepted; empty: there is none.
  std::optional<Value> OtherValue(const Given& given, const std::string& key,
                                  const lab::ResolvedPoint& point) {
    const Value* before = point.settings.Find(key);
    if (before == nullptr || !numbers_.contains(key)) return std::nullopt;
    for (const Value& value : ProbesOf(options_.find(key)->second)) {
      Given varied = given;
      varied[key] = value;
      if (value != *before && InstanceOf(varied).ok()) return value;
    }
    return std::nullopt;
  }

  Setting setting_;
  std::string lending_;
  std::multimap<std::string, Option> options_;
  Visit visit_;
  std::set<std::string> words_;
  std::set<std::string> numbers_;
  std::set<Where> seen_;
};

/// Merges cases that claim the same and differ in the values of one option only, until none are left.
inline std::vector<Case> Merged(std::vector<Case> cases) {
  const auto merge = [](Case& a, const Case& b) {
    if (a.claims != b.claims || a.where.size() != b.where.size()) return false;
    std::string differs;
    for (const auto& [key, values] : a.where) {
      const auto it = b.where.find(key);
      if (it == b.where.end()) return false;
      if (it->second == values) continue;
      if (!differs.empty()) return false;
      differs = key;
    }
    if (!differs.empty()) a.where[differs].insert(b.where.at(differs).begin(), b.where.at(differs).end());
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (std::size_t j = i + 1; j < cases.size();) {
        if (merge(cases[i], cases[j])) {
          cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(j));
          again = true;
        } else {
          ++j;
        }
      }
    }
  }
  return cases;
}

}  // namespace bandana::cli
