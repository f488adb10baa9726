#include "bandana/lab/judge/claim.h"

#include "fmt/format.h"

namespace bandana::lab {

const std::vector<std::string>& ClaimKindNames() {
  static const auto& names = *new std::vector<std::string>{
      "falls",   "rises", "below",  "above",  "not-above", "not-below",  "within", "at-least",
      "at-most", "grows", "equals", "prints", "delivers",  "inequality", "code"};
  return names;
}

const std::string& NameOf(Version version) {
  static const auto& names = *new std::vector<std::string>{"", "printed", "ours"};
  return names[static_cast<std::size_t>(version)];
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

const Json* BoundWhole(const std::string& text, const Bindings& bindings) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return nullptr;
  const auto bound = bindings.find(text.substr(1, text.size() - 2));
  return bound == bindings.end() ? nullptr : &bound->second;
}

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

const std::vector<std::string>& CommonClaimKeys() {
  static const auto& keys = *new std::vector<std::string>{"says", "paper", "version", "expected", "reason",
                                                          "is",   "for",   "each",    "not",      "scale"};
  return keys;
}

const std::vector<std::string>& ClaimKeysOf(ClaimKind kind) {
  static const auto& trend = *new std::vector<std::string>{"of", "let"};
  static const auto& order = *new std::vector<std::string>{"of", "than", "let", "by", "share", "place"};
  static const auto& ratio =
      *new std::vector<std::string>{"of", "than", "let", "by", "share", "place", "factor"};
  static const auto& growth =
      *new std::vector<std::string>{"of", "above", "let", "by", "at_most", "like", "tolerance"};
  static const auto& equality = *new std::vector<std::string>{"of", "than", "let", "place", "tolerance"};
  static const auto& printed = *new std::vector<std::string>{"of", "let", "value", "factor", "digit"};
  static const auto& delivery = *new std::vector<std::string>{"of"};
  static const auto& inequality = *new std::vector<std::string>{"let", "that", "by"};
  static const auto& code = *new std::vector<std::string>{"of", "than", "judge", "factor"};
  switch (kind) {
    case ClaimKind::kFalls:
    case ClaimKind::kRises:
      return trend;
    case ClaimKind::kGrows:
      return growth;
    case ClaimKind::kEquals:
      return equality;
    case ClaimKind::kPrints:
      return printed;
    case ClaimKind::kDelivers:
      return delivery;
    case ClaimKind::kInequality:
      return inequality;
    case ClaimKind::kCode:
      return code;
    case ClaimKind::kWithin:
    case ClaimKind::kAtLeast:
    case ClaimKind::kAtMost:
      return ratio;
    default:
      return order;
  }
}

}  // namespace bandana::lab
