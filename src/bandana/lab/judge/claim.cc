#include "bandana/lab/judge/claim.h"

#include "fmt/format.h"

namespace bandana::lab {

const std::vector<std::string>& ClaimKindNames() {
  static const auto& names = *new std::vector<std::string>{
      "falls",    "rises",   "below", "above",  "not-above", "not-below",  "within",
      "at-least", "at-most", "grows", "equals", "delivers",  "inequality", "code"};
  return names;
}

std::string Filled(const std::string& text, const Bindings& bindings) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string::npos;
    const auto bound =
        end == std::string::npos ? bindings.end() : bindings.find(text.substr(at + 1, end - at - 1));
    if (bound == bindings.end()) {
      filled += text[at++];
      continue;
    }
    filled += TextOf(bound->second);
    at = end + 1;
  }
  return filled;
}

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

}  // namespace bandana::lab
