#include "bandana/lab/exhibit.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "bandana/lab/embedded.h"
#include "bandana/lab/judge/claim_reader.h"
#include "bandana/lab/judge/judge.h"
#include "bandana/lab/results.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "toml++/toml.h"

namespace bandana::lab {
namespace {

absl::StatusOr<Exhibit> ReadExhibit(const std::string& file, const std::string& text) {
  Exhibit exhibit{.name = std::filesystem::path(file).stem().string(), .file = file, .text = text};
  BANDANA_ASSIGN_OR_RETURN(ExhibitClaims claims, ReadClaims(text, file));
  exhibit.claims = std::move(claims.claims);
  exhibit.bounds = std::move(claims.bounds);
  exhibit.not_runnable = std::move(claims.not_runnable);
  exhibit.stand_in = std::move(claims.stand_in);
  exhibit.title = toml::parse(text, file)["name"].value_or(exhibit.name);
  return exhibit;
}

// Returns whether a name comes before another one. Numbers in names are ordered by value: fig4, fig10.
bool ComesBefore(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t end_a = i;
      std::size_t end_b = j;
      while (end_a < a.size() && is_digit(a[end_a])) ++end_a;
      while (end_b < b.size() && is_digit(b[end_b])) ++end_b;
      if (end_a - i != end_b - j) return end_a - i < end_b - j;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

// Returns the keys in the order of the file. The order of a sweep's keys is the order of its points, but
// toml++ iterates over keys in alphabetical order.
std::vector<std::string> KeysAsWritten(const toml::table& table) {
  std::vector<std::tuple<toml::source_index, toml::source_index, std::string>> keys;
  for (const auto& [key, value] : table) {
    keys.emplace_back(key.source().begin.line, key.source().begin.column, std::string(key.str()));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::string> names;
  for (auto& [line, column, name] : keys) names.push_back(std::move(name));
  return names;
}

std::string TextOf(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& typed) { text << typed; });
  return text.str();
}

// Adds the values of a scale's table, with the values of the paper's scale beside them.
void AddScaled(const toml::table& scaled, const toml::table& paper, const std::string& within,
               std::vector<ScaledValue>& values) {
  for (const auto& [key, node] : scaled) {
    const toml::node* base = paper.get(key.str());
    const toml::table* inner = node.as_table();
    const std::string name(key.str());
    if (inner != nullptr) {
      static const auto& none = *new toml::table();
      const bool sweep = name == "sweep";  // its keys are whole
      AddScaled(*inner, base != nullptr && base->is_table() ? *base->as_table() : none,
                sweep ? "" : within + name + ".", values);
      continue;
    }
    values.push_back({within + name, TextOf(node), base == nullptr ? "" : TextOf(*base)});
  }
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
  static const auto& exhibits = *[] {
    auto* read = new std::vector<Exhibit>;
    for (const EmbeddedFile& embedded : EmbeddedFiles()) {
      if (!embedded.name.ends_with(".toml")) continue;
      absl::StatusOr<Exhibit> exhibit =
          ReadExhibit(std::string(embedded.name), std::string(embedded.content));
      BANDANA_CHECK(exhibit.ok());  // a test reads all of them
      read->push_back(*std::move(exhibit));
    }
    std::sort(read->begin(), read->end(),
              [](const Exhibit& a, const Exhibit& b) { return ComesBefore(a.name, b.name); });
    return read;
  }();
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

absl::StatusOr<Exhibit> LoadExhibit(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || std::filesystem::is_directory(path)) {
    return InvalidInput({.message = "cannot be read", .file = path, .accepted = "a readable TOML file"});
  }
  BANDANA_ASSIGN_OR_RETURN(Exhibit exhibit, ReadExhibit(path, text.str()));
  if (!exhibit.claims.empty()) return exhibit;
  return InvalidInput({.message = "missing",
                       .file = path,
                       .key = "claim",
                       .accepted = "at least one [[claim]] table; bandana run takes a spec without claims"});
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
  const std::string& name = ScaleNames()[static_cast<std::size_t>(scale)];
  toml::table table = toml::parse(exhibit.text, exhibit.file);
  const toml::node_view<toml::node> scaled = table["scale"][name];
  if (!scaled.is_table()) return ParseSpec(exhibit.text, exhibit.file, overrides);
  const toml::table smaller = *scaled.as_table();
  for (const std::string_view key : kExhibitKeys) table.erase(key);
  const std::vector<std::string> sweep_order =
      table["sweep"].is_table() ? KeysAsWritten(*table["sweep"].as_table()) : std::vector<std::string>();
  MergeOver(table, smaller);
  toml::table sweep = table["sweep"].is_table() ? *table["sweep"].as_table() : toml::table();
  table.erase("sweep");
  std::ostringstream text;
  text << table << "\n\n[sweep]\n";
  for (const std::string& key : sweep_order) text << "\"" << key << "\" = " << sweep[key] << "\n";
  absl::StatusOr<Spec> spec =
      ParseSpec(text.str(), fmt::format("{} at scale {}", exhibit.file, name), overrides);
  if (spec.ok()) return spec;
  // If the file has the error at full scale too, the message names a line of the file.
  BANDANA_RETURN_IF_ERROR(ParseSpec(exhibit.text, exhibit.file, overrides).status());
  return spec;
}

std::vector<ScaledValue> ScaledValues(const Exhibit& exhibit, Scale scale) {
  const toml::table table = toml::parse(exhibit.text, exhibit.file);
  const toml::table* scaled = table["scale"][ScaleNames()[static_cast<std::size_t>(scale)]].as_table();
  std::vector<ScaledValue> values;
  if (scaled != nullptr) AddScaled(*scaled, table, "", values);
  std::erase_if(values, [](const ScaledValue& value) { return value.here == value.paper; });
  std::sort(values.begin(), values.end(),
            [](const ScaledValue& a, const ScaledValue& b) { return a.key < b.key; });
  return values;
}

namespace {

Json ScaleJson(const Exhibit& exhibit, Scale scale) {
  Json json = {{"name", ScaleNames()[static_cast<std::size_t>(scale)]}, {"differs", Json::array()}};
  for (const ScaledValue& value : ScaledValues(exhibit, scale)) {
    json["differs"].push_back({{"key", value.key},
                               {"here", value.here},
                               {"paper", value.paper.empty() ? Json(nullptr) : Json(value.paper)}});
  }
  return json;
}

Json BoundsJson(const Exhibit& exhibit, const Findings& findings) {
  Json json = Json::array();
  for (const Bound& bound : exhibit.bounds) {
    const absl::StatusOr<BoundLine> line = Draw(bound, findings);
    Json one = {{"says", bound.claim.says}, {"paper", bound.claim.paper}, {"rate", bound.rate}};
    if (!line.ok()) {
      one["missing"] = std::string(line.status().message());
      json.push_back(std::move(one));
      continue;
    }
    Json measured = Json::array();
    Json se = Json::array();
    for (const Estimate& estimate : line->measured) {
      measured.push_back(estimate.value);
      se.push_back(estimate.se);
    }
    one.update({{"of", line->of},
                {"along", line->along},
                {"x", line->x},
                {"measured", measured},
                {"se", se},
                {"bound", line->bound}});
    json.push_back(std::move(one));
  }
  return json;
}

// Returns the content of verdict.json (docs/exhibits.md).
Json VerdictJson(const Exhibit& exhibit, Scale scale, const std::vector<Verdict>& verdicts,
                 const Findings& findings) {
  Json not_runnable = Json::array();
  for (const NotRunnable& one : exhibit.not_runnable) {
    not_runnable.push_back({{"what", one.what}, {"paper", one.paper}, {"reason", one.reason}});
  }
  return {{"exhibit", exhibit.name},
          {"title", exhibit.title},
          {"scale", ScaleJson(exhibit, scale)},
          {"stand_in", exhibit.stand_in.empty() ? Json(nullptr) : Json(exhibit.stand_in)},
          {"verdicts", ToJson(verdicts)},
          {"not_runnable", not_runnable},
          {"bounds", BoundsJson(exhibit, findings)}};
}

}  // namespace

absl::StatusOr<Reproduction> RunExhibit(const Exhibit& exhibit, Scale scale, const Spec& spec,
                                        const RunOptions& options, const std::atomic<bool>& stop) {
  Reproduction reproduction;
  RunOptions with_verdicts = options;
  with_verdicts.conclude = [&](Json& summary, const ResultsFile::Values& rows) {
    Findings findings(summary, spec);
    findings.AddRows(rows);
    for (const PaperClaim& claim : exhibit.claims) {
      const bool left = claim.at_paper_scale && scale == Scale::kQuick;
      reproduction.verdicts.push_back(left ? LeftToPaperScale(claim) : Judge(claim, findings));
    }
    reproduction.json = VerdictJson(exhibit, scale, reproduction.verdicts, findings);
    summary["scale"] = reproduction.json["scale"];
    return Json{{"verdict", reproduction.json}};
  };
  BANDANA_ASSIGN_OR_RETURN(reproduction.summary, RunExperiment(spec, with_verdicts, stop));
  BANDANA_RETURN_IF_ERROR(WriteFile(options.out + "/verdict.json", Dump(reproduction.json)));
  return reproduction;
}

}  // namespace bandana::lab
