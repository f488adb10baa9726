#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace bandana::cli {

/// The kind of value that a flag or an argument wants, as its declaration says it.
struct ValueKind {
  bool takes_value = false;          ///< whether a value follows; a switch has none
  std::string name;                  ///< the placeholder: "DIR", "FILE", "N"
  std::vector<std::string> choices;  ///< the accepted words, if there are only a few
  std::string range;                 ///< "1 to 4096", or nothing
};

/// Reads the kind from the name of the type ("SCALE:{smoke,quick,paper}"), the checks (CLI::Range,
/// CLI::IsMember), and the words "One of a, b, c." of the description.
ValueKind KindOfValue(const CLI::Option& option);

}  // namespace bandana::cli
