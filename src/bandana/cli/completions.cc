#include "bandana/cli/completions.h"

#include <fstream>
#include <map>
#include <vector>

#include "CLI/CLI.hpp"
#include "bandana/cli/value_kind.h"
#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

// The commands and the flags that may follow each command ("bandana calibrate"), and how each value is
// completed, by command and flag ("bandana run --out") or number of the argument ("bandana run 1").
struct Tables {
  std::map<std::string, std::vector<std::string>> commands;
  std::map<std::string, std::vector<std::string>> flags;
  std::map<std::string, std::vector<std::string>> values;
};

// How the script completes a value: "file", "dir", "words" and the words, a list that the program prints, the
// "keys" of a spec, or "none".
std::vector<std::string> Completion(const CLI::Option& option) {
  static const auto& kinds = *new std::map<std::string, std::string>{
      {"FILE", "file"},      {"STORE", "file"},   {"COPY", "file"},     {"LEDGER", "file"},
      {"ANCHOR", "file"},    {"PEM", "file"},     {"DIR", "dir"},       {"EXHIBIT", "exhibits"},
      {"TARGET", "targets"}, {"NAME", "entries"}, {"KEY=VALUE", "keys"}};
  const ValueKind kind = KindOfValue(option);
  std::vector<std::string> words = kind.choices;
  if (!words.empty()) {
    words.insert(words.begin(), "words");
    return words;
  }
  const auto found = kinds.find(kind.name);
  return {found == kinds.end() ? "none" : found->second};
}

void Add(const CLI::App& command, const std::string& path, Tables& tables) {
  for (const CLI::App* below :
       command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    tables.commands[path].push_back(below->get_name());
    Add(*below, path + " " + below->get_name(), tables);
  }
  int argument = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      ++argument;
      const bool many = option->get_items_expected_max() > 1;
      tables.values[fmt::format("{} {}", path, many ? "*" : std::to_string(argument))] = Completion(*option);
      continue;
    }
    for (const std::string& name : option->get_lnames()) {
      tables.flags[path].push_back("--" + name);
      if (KindOfValue(*option).takes_value) tables.values[path + " --" + name] = Completion(*option);
    }
  }
}

// $_bandana_commands, $_bandana_flags and $_bandana_values are the tables, and $_bandana_keys has the keys of
// a spec. The loop finds the command, and how many arguments it has so far; bash makes "=" a word of its own.
constexpr const char* kScript = R"script(
_bandana() {
  local cur=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]}
  local path=bandana word value= before= i count=0
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    value=
    if [[ $word == -* ]]; then
      value=${_bandana_values["$path $word"]-${_bandana_values["bandana $word"]-}}
      if [[ -z $value ]]; then continue; fi
      if [[ ${COMP_WORDS[i + 1]} == "=" ]]; then ((++i)); fi
      ((++i))
      if [[ $value == keys && ${COMP_WORDS[i + 1]-} == "=" ]]; then  # key=value is three words
        ((i += 2))
        value=none
      fi
    elif [[ -n ${_bandana_flags["$path $word"]-} ]]; then
      path+=" $word"
    else
      ((++count))
      before=$word
    fi
  done
  if [[ $cur == "=" ]]; then cur=; fi
  if ((i == COMP_CWORD)); then  # no flag waits for its value
    if [[ $cur == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "${_bandana_flags["$path"]} ${_bandana_flags[everywhere]}" -- "$cur")
      return
    fi
    value=${_bandana_values["$path $((count + 1))"]-${_bandana_values["$path *"]-}}
    if [[ -z $value ]]; then value="words ${_bandana_commands["$path"]-}"; fi
  fi
  case $value in
    words\ *) mapfile -t COMPREPLY < <(compgen -W "${value#words }" -- "$cur") ;;
    entries) _bandana_names list "$before" ;;
    exhibits)
      _bandana_names list exhibits
      _bandana_files -f -X '!*.toml'
      ;;
    targets) _bandana_names audit --list ;;
    keys)
      compopt -o nospace 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -S = -W "$_bandana_keys" -- "$cur")
      ;;
    file) _bandana_files -f ;;
    dir) _bandana_files -d ;;
  esac
}

# Adds the first words of the lines that the program prints.
_bandana_names() {
  local names
  names=$("$program" "$@" 2>/dev/null </dev/null | awk '/^$/ { exit } /^[^ ]/ { print $1 }')
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$names" -- "$cur")
}

# Adds files, and folders in which there may be some.
_bandana_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <({ compgen "$@" -- "$cur"; compgen -d -- "$cur"; } | sort -u)
}

complete -F _bandana bandana
)script";

}  // namespace

std::string BashCompletions(const CLI::App& app) {
  Tables tables;
  Add(app, "bandana", tables);
  for (const std::string& flag : tables.flags["bandana"]) {
    if (flag != "--version") tables.flags["everywhere"].push_back(flag);
  }
  std::string script = "# Completions of bandana for bash. Made by `bandana completions`.\n\n";
  const auto add = [&](const char* name, const auto& rows) {
    script += fmt::format("declare -gA _bandana_{}=(\n", name);
    for (const auto& [key, words] : rows)
      script += fmt::format("  [\"{}\"]=\"{}\"\n", key, fmt::join(words, " "));
    script += ")\n";
  };
  add("commands", tables.commands);
  add("flags", tables.flags);
  add("values", tables.values);
  script += fmt::format("_bandana_keys=\"{}\"\n", fmt::join(lab::KnownKeys(), " "));
  return script + kScript;
}

int CompletionsCommand(const CLI::App& app, const std::string& out, const Global& global) {
  const std::string script = BashCompletions(app);
  if (out.empty()) {
    fmt::print("{}", script);
    return 0;
  }
  std::ofstream file(out);
  file << script << std::flush;
  if (file) return 0;
  return Fail(InvalidInput({.message = "cannot be written", .key = "--out", .value = out}), global);
}

}  // namespace bandana::cli
