#include "bandana/lab/catalog.h"

#include <algorithm>
#include <any>
#include <utility>

#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bandana/federation/failure.h"
#include "bandana/lab/exhibit.h"
#include "bandana/privacy/privacy_options.h"

namespace bandana::lab {
namespace {

void List(const std::vector<Option>& options, const std::any& defaults, Entry& entry) {
  for (const Option& option : options) {
    entry.options.push_back({option, option.required ? std::nullopt : std::optional(option.get(defaults))});
  }
}

std::vector<Entry> Algorithms() {
  std::vector<Entry> entries;
  for (const Family& family : Families().families()) {
    Entry entry{
        .name = family.name, .paper = family.paper, .sentence = family.sentence, .worlds = family.worlds};
    for (const TrustModel model : family.trust) entry.trust.push_back(NameOf(model));
    List(family.options, family.defaults, entry);
    if (!family.simulation_options.empty()) {
      List(family.simulation_options, LossParams{}, entry);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> Environments() {
  std::vector<Entry> entries;
  for (const WorldKind& kind : Families().worlds()) {
    Entry entry{.name = kind.name, .sentence = kind.sentence};
    List(kind.options, kind.defaults, entry);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Returns one entry per trust model, with the options of Privacy that have an effect under it.
std::vector<Entry> Privatizers() {
  const std::vector<Option> options = PrivacyOptions();
  const std::any defaults = Privacy{.sampler = Sampler::kFast};
  std::vector<Entry> entries;
  for (const Word& model : options.front().words) {
    std::any params = defaults;
    options.front().set(params, model.word);
    Entry entry{.name = model.word, .sentence = model.sentence};
    for (const Option& option : options) {
      if (option.key == "model" || !option.applies(params, {})) continue;
      List({option}, defaults, entry);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
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
  if (kind == "exhibits") return ExhibitEntries();
  return InvalidOption("list", kind, "algorithms, environments, privatizers, exhibits");
}

}  // namespace bandana::lab
