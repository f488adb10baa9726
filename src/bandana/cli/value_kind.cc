#include "bandana/cli/value_kind.h"

#include <algorithm>
#include <regex>

#include "CLI/CLI.hpp"
#include "absl/strings/str_split.h"

namespace bandana::cli {

ValueKind KindOfValue(const CLI::Option& option) {
  ValueKind kind;
  kind.takes_value = option.get_positional() || option.get_items_expected_max() > 0;
  if (!kind.takes_value) return kind;
  const std::string type = option.get_type_name();
  kind.name = type.substr(0, type.find(':'));
  if (kind.name.empty()) kind.name = "VALUE";
  std::smatch found;
  static const auto& set = *new std::regex(R"(\{([^{}]+)\})");
  static const auto& range = *new std::regex(R"(in \[(\S+) - (\S+)\])");
  static const auto& words = *new std::regex(R"(One of ([\w-]+(?:, [\w-]+)+)\.)");
  const std::string& help = option.get_description();
  if (std::regex_search(type, found, set)) {
    kind.choices = absl::StrSplit(found.str(1), ',');
  } else if (std::regex_search(help, found, words)) {
    kind.choices = absl::StrSplit(found.str(1), ", ");
  }
  if (std::regex_search(type, found, range)) kind.range = found.str(1) + " to " + found.str(2);
  return kind;
}

}  // namespace bandana::cli
