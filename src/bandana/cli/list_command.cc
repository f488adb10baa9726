#include <algorithm>
#include <string>
#include <vector>

#include "bandana/cli/commands.h"
#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "bandana/lab/catalog.h"
#include "bandana/lab/summary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

constexpr std::size_t kColumns = 100;

// Breaks a text into lines of at most kColumns, each behind `indent` blanks. The first line follows `first`.
std::string Wrapped(const std::string& first, std::size_t indent, const std::string& text) {
  std::string lines;
  std::string line = first;
  const std::string blanks(indent, ' ');
  if (line.size() < indent) line.resize(indent, ' ');
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    const bool begins = line.size() <= indent || line.back() == ' ';
    if (!begins && line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line = blanks;
    } else if (!begins) {
      line += ' ';
    }
    line += word;
    at = space + 1;
  }
  return lines + line + "\n";
}

std::string Describe(const lab::ListedOption& listed) {
  const Option& option = listed.option;
  const std::string value = listed.fallback.has_value() ? ToText(*listed.fallback) : "";
  std::string text =
      fmt::format("  {}{}\n", option.FullKey(),
                  listed.fallback.has_value() ? " = " + (value.empty() ? "\"\"" : value) : " (no default)");
  text += Wrapped("", 6,
                  option.sentence + (option.condition.empty() ? "" : " Applies " + option.condition + "."));
  std::size_t longest = 0;
  for (const Word& each : option.words) longest = std::max(longest, each.word.size());
  for (const Word& each : option.words) {
    text += Wrapped(fmt::format("      {:<{}}  ", each.word, longest), 8 + longest, each.sentence);
  }
  if (option.kind != Option::Kind::kChoice) text += Wrapped("", 6, "Accepted: " + option.accepted + ".");
  return text;
}

std::string Describe(const lab::Entry& entry) {
  std::string text = entry.name + (entry.paper.empty() ? "" : fmt::format(" ({})", entry.paper)) + "\n";
  text += Wrapped("", 2, entry.sentence);
  if (!entry.origin.empty()) text += Wrapped("", 2, "It comes from the " + entry.origin + ".");
  if (!entry.worlds.empty()) {
    text += Wrapped("", 2, fmt::format("Worlds (environment.kind): {}.", fmt::join(entry.worlds, ", ")));
  }
  if (!entry.trust.empty()) {
    text += Wrapped("", 2, fmt::format("Trust models (privacy.model): {}.", fmt::join(entry.trust, ", ")));
  }
  if (!entry.players.empty()) {
    text += Wrapped("", 2, fmt::format("Played by: {}.", fmt::join(entry.players, ", ")));
  }
  for (const lab::ListedOption& listed : entry.options) text += Describe(listed);
  return text;
}

// Returns the entries of that name, or all if it is empty. Fails if there is none.
absl::StatusOr<std::vector<lab::Entry>> Chosen(const std::string& what, const std::string& name) {
  BANDANA_ASSIGN_OR_RETURN(std::vector<lab::Entry> entries, lab::Catalog(what));
  if (name.empty()) return entries;
  std::vector<std::string> names;
  for (const lab::Entry& entry : entries) names.push_back(entry.name);
  std::erase_if(entries, [&](const lab::Entry& entry) { return entry.name != name; });
  if (!entries.empty()) return entries;
  return InvalidInput({.message = fmt::format("list {}: there is no \"{}\". Did you mean {}?", what, name,
                                              Nearest(name, names))});
}

}  // namespace

int ListCommand(const std::string& what, const std::string& name, const Global& global) {
  const absl::StatusOr<std::vector<lab::Entry>> entries = Chosen(what, name);
  if (!entries.ok()) return Fail(entries.status(), global);
  if (global.json) {
    lab::Json json = lab::Json::array();
    for (const lab::Entry& entry : *entries) json.push_back(lab::ToJson(entry));
    fmt::print("{}\n", json.dump(1));
    return 0;
  }
  if (!name.empty()) {
    for (const lab::Entry& entry : *entries) fmt::print("{}\n", Describe(entry));
    return 0;
  }
  std::size_t longest = 0;
  for (const lab::Entry& entry : *entries) longest = std::max(longest, entry.name.size());
  for (const lab::Entry& entry : *entries) {
    fmt::print("{}", Wrapped(fmt::format("{:<{}}  ", entry.name, longest), longest + 2, entry.sentence));
  }
  if (what != "exhibits") fmt::print("\nbandana list {} NAME prints the options of one.\n", what);
  return 0;
}

}  // namespace bandana::cli
