#include "bandana/lab/catalog.h"

#include <algorithm>
#include <any>
#include <deque>
#include <utility>

#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bandana/federation/failure.h"
#include "bandana/lab/exhibit.h"
#include "bandana/lab/vocabulary.h"
#include "bandana/privacy/privacy_options.h"

namespace bandana::lab {
namespace {

void List(const std::vector<Option>& options, const std::any& defaults, Entry& entry) {
  for (const Option& option : options) {
    entry.options.push_back({option, option.required ? std::nullopt : std::optional(option.get(defaults))});
  }
}

// The lab begins with the fast sampler.
std::any PrivacyDefaults() { return Privacy{.sampler = Sampler::kFast}; }

bool Applies(const Option& option, TrustModel model) {
  return option.applies(Privacy{.model = model, .sampler = Sampler::kFast}, {});
}

bool TakesPrivacyKey(const Family& family, const std::string& key) {
  const std::vector<std::string>& keys = family.privacy_keys;
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Returns whether the option has an effect under one of the family's trust models.
bool HasPrivacyOption(const Family& family, const Option& option) {
  return TakesPrivacyKey(family, option.key) &&
         std::any_of(family.trust.begin(), family.trust.end(),
                     [&](TrustModel model) { return Applies(option, model); });
}

std::vector<Entry> Algorithms() {
  std::vector<Entry> entries;
  for (const Family& family : Families().families()) {
    Entry entry{.name = family.name,
                .paper = family.paper,
                .sentence = family.sentence,
                .origin = family.origin,
                .worlds = family.worlds};
    for (const TrustModel model : family.trust) entry.trust.push_back(NameOf(model));
    List(family.options, family.defaults, entry);
    if (!family.simulation_options.empty()) {
      List(family.simulation_options, LossParams{}, entry);
    }
    for (const Option& option : PrivacyOptions()) {
      if (HasPrivacyOption(family, option)) List({option}, PrivacyDefaults(), entry);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> Environments() {
  std::vector<Entry> entries;
  for (const WorldKind& kind : Families().worlds()) {
    Entry entry{.name = kind.name, .sentence = kind.sentence, .origin = kind.origin};
    for (const Family& family : Families().families()) {
      const bool plays =
          std::find(family.worlds.begin(), family.worlds.end(), kind.name) != family.worlds.end();
      if (plays && family.time == kind.time) entry.players.push_back(family.name);
    }
    List(kind.options, kind.defaults, entry);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Returns one entry per trust model, with the options of Privacy that some algorithm takes under it.
std::vector<Entry> Privatizers() {
  const std::vector<Option> options = PrivacyOptions();
  std::vector<Entry> entries;
  for (const Word& word : options.front().words) {
    std::any params = Privacy{};
    options.front().set(params, word.word);
    const TrustModel model = std::any_cast<const Privacy&>(params).model;
    Entry entry{.name = word.word, .sentence = word.sentence};
    for (const Option& option : options) {
      const auto takes = [&](const Family& family) {
        const bool trusts = std::find(family.trust.begin(), family.trust.end(), model) != family.trust.end();
        return trusts && TakesPrivacyKey(family, option.key);
      };
      const std::deque<Family>& families = Families().families();
      if (!Applies(option, model) || std::none_of(families.begin(), families.end(), takes)) continue;
      List({option}, PrivacyDefaults(), entry);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Returns the parts of a spec whose options belong to no algorithm, world or mechanism.
std::vector<Entry> Tables() {
  Entry run{.name = "run",
            .sentence =
                "The keys at the top of a spec, before its first table. They say how long and how often "
                "everything is run."};
  List(GeneralOptions(), RunParams{}, run);
  Entry service{.name = "service",
                .sentence =
                    "The table [service] of a deployment's file: where its processes find each other, and "
                    "what each of them keeps. bandana run ignores it."};
  for (const Option& option : ServiceOptions()) service.options.push_back({option, std::nullopt});
  return {run, service};
}

std::vector<Entry> ExhibitEntries() {
  std::vector<Entry> entries;
  for (const Exhibit& exhibit : Exhibits())
    entries.push_back({.name = exhibit.name, .sentence = exhibit.title});
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<Entry>> Catalog(const std::string& kind) {
  if (kind == "algorithms") return Algorithms();
  if (kind == "environments") return Environments();
  if (kind == "privatizers") return Privatizers();
  if (kind == "tables") return Tables();
  if (kind == "exhibits") return ExhibitEntries();
  return InvalidOption("list", kind, "algorithms, environments, privatizers, tables, exhibits");
}

Json ToJson(const Entry& entry) {
  Json options = Json::array();
  for (const ListedOption& listed : entry.options) {
    Json words = Json::object();
    for (const Word& each : listed.option.words) words[each.word] = each.sentence;
    options.push_back({{"key", listed.option.FullKey()},
                       {"default", listed.fallback ? ToJson(*listed.fallback) : Json(nullptr)},
                       {"accepted", listed.option.accepted},
                       {"help", listed.option.sentence},
                       {"applies", listed.option.condition},
                       {"words", words}});
  }
  return {{"name", entry.name},         {"paper", entry.paper},   {"summary", entry.sentence},
          {"origin", entry.origin},     {"worlds", entry.worlds}, {"trust", entry.trust},
          {"played_by", entry.players}, {"options", options}};
}

}  // namespace bandana::lab
