#include "bandana/lab/exhibit.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "bandana/lab/embedded.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/results.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "toml++/toml.h"

namespace bandana::lab {
namespace {

toml::table Written(const std::string& name) {
  const std::string file = name + ".toml";
  for (const EmbeddedFile& embedded : EmbeddedFiles()) {
    if (embedded.name == file) return toml::parse(embedded.content, file);
  }
  BANDANA_CHECK(false);
  return {};
}

Exhibit Make(const std::string& name, std::vector<PaperClaim> claims) {
  const auto title = Written(name)["name"].value<std::string>();
  BANDANA_CHECK(title.has_value());
  return {name, *title, std::move(claims)};
}

// Returns the keys in the order of the file. The order of a sweep's keys is the order of its points, but
// toml++ iterates over keys in alphabetical order.
std::vector<std::string> KeysAsWritten(const toml::table& table) {
  std::vector<std::pair<toml::source_index, std::string>> keys;
  for (const auto& [key, value] : table) keys.emplace_back(key.source().begin.line, std::string(key.str()));
  std::sort(keys.begin(), keys.end());
  std::vector<std::string> names;
  for (auto& [line, name] : keys) names.push_back(std::move(name));
  return names;
}

// Merges the tables of `over` into `base` and replaces all other values. A scale sweeps no key that the
// paper's scale does not sweep.
void MergeOver(toml::table& base, const toml::table& over) {
  for (const auto& [key, value] : over) {
    toml::table* inner = base[key].as_table();
    if (inner != nullptr && value.is_table()) {
      MergeOver(*inner, *value.as_table());
    } else {
      base.insert_or_assign(key, value);
    }
  }
}

}  // namespace

const std::vector<Exhibit>& Exhibits() {
  static const auto& exhibits = *new std::vector<Exhibit>{
      Make("p1-fig2a", P1Fig2aClaims()),   Make("p1-fig2b", P1Fig2bClaims()),
      Make("p1-fig2c", P1Fig2cClaims()),   Make("p1-fig3", P1Fig3Claims()),
      Make("p1-table1", P1Table1Claims()), Make("p1-table2", P1Table2Claims()),
      Make("p2-fig2a", P2Fig2aClaims()),   Make("p2-fig2b", P2Fig2bClaims()),
      Make("p2-table1", P2Table1Claims()), Make("p2-context", P2ContextClaims()),
      Make("p3-fig1a", P3Fig1aClaims()),   Make("p3-fig1b", P3Fig1bClaims()),
      Make("p3-fig1c", P3Fig1cClaims()),   Make("p3-fig2", P3Fig2Claims()),
      Make("p3-p2p", P3P2pClaims()),       Make("p3-leak", P3LeakClaims()),
      Make("p4-fig4", P4Fig4Claims()),     Make("p4-fig5", P4Fig5Claims()),
      Make("p4-fig6", P4Fig6Claims()),     Make("p4-fig7", P4Fig7Claims()),
      Make("p4-fig8", P4Fig8Claims()),     Make("p4-fig10", P4Fig10Claims()),
      Make("p4-fig11", P4Fig11Claims()),   Make("p4-fig12", P4Fig12Claims()),
      Make("p4-table1", P4Table1Claims()), Make("p5-fig2", P5Fig2Claims()),
      Make("p5-margin", P5MarginClaims()), Make("p5-replay", P5ReplayClaims()),
      Make("p5-tuning", P5TuningClaims()),
  };
  return exhibits;
}

absl::StatusOr<const Exhibit*> FindExhibit(std::string_view name) {
  std::vector<std::string> names;
  for (const Exhibit& exhibit : Exhibits()) {
    if (exhibit.name == name) return &exhibit;
    names.push_back(exhibit.name);
  }
  const std::string nearest = NearestIfNear(name, names);
  return InvalidOption("exhibit", std::string(name),
                       fmt::format("{}{}", nearest.empty() ? "" : "nearest: " + nearest + "; one of ",
                                   fmt::join(names, ", ")));
}

const std::vector<std::string>& ScaleNames() {
  static const auto& names = *new std::vector<std::string>{"smoke", "quick", "paper"};
  return names;
}

absl::StatusOr<Scale> ScaleOf(std::string_view name) {
  const auto it = std::find(ScaleNames().begin(), ScaleNames().end(), name);
  if (it != ScaleNames().end()) return static_cast<Scale>(it - ScaleNames().begin());
  return InvalidOption("--scale", std::string(name), fmt::format("{}", fmt::join(ScaleNames(), ", ")));
}

absl::StatusOr<Spec> ExhibitSpec(const Exhibit& exhibit, Scale scale, const Overrides& overrides) {
  toml::table table = Written(exhibit.name);
  const toml::table scales = table["scale"].is_table() ? *table["scale"].as_table() : toml::table();
  table.erase("scale");
  const std::vector<std::string> sweep_order =
      table["sweep"].is_table() ? KeysAsWritten(*table["sweep"].as_table()) : std::vector<std::string>();
  const std::string& name = ScaleNames()[static_cast<std::size_t>(scale)];
  if (const toml::table* smaller = scales[name].as_table()) MergeOver(table, *smaller);
  toml::table sweep = table["sweep"].is_table() ? *table["sweep"].as_table() : toml::table();
  table.erase("sweep");
  std::ostringstream text;
  text << table << "\n\n[sweep]\n";
  for (const std::string& key : sweep_order) text << "\"" << key << "\" = " << sweep[key] << "\n";
  return ParseSpec(text.str(), fmt::format("{}.toml at scale {}", exhibit.name, name), overrides);
}

absl::StatusOr<Reproduction> RunExhibit(const Exhibit& exhibit, Scale scale, const Spec& spec,
                                        const RunOptions& options, const std::atomic<bool>& stop) {
  Reproduction reproduction;
  RunOptions with_verdicts = options;
  with_verdicts.conclude = [&](const Json& summary) {
    const Findings findings(summary);
    for (const PaperClaim& claim : exhibit.claims) reproduction.verdicts.push_back(Judge(claim, findings));
    Json added = {{"verdicts", ToJson(reproduction.verdicts)}};
    if (scale == Scale::kSmoke) added["verdicts_note"] = "Scale smoke has too few runs to settle a claim.";
    return added;
  };
  BANDANA_ASSIGN_OR_RETURN(reproduction.summary, RunExperiment(spec, with_verdicts, stop));
  BANDANA_RETURN_IF_ERROR(WriteFile(options.out + "/verdict.json", Dump(ToJson(reproduction.verdicts))));
  return reproduction;
}

}  // namespace bandana::lab
