#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bandana {

/// The value of an option as a user writes it. Whole numbers and other numbers are different types: 1e6 is
/// not accepted as a horizon.
using Value =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

/// Values by the name of their option.
using Values = std::map<std::string, Value>;

/// Something that an algorithm or a world tells about a run beside its metrics. The values are written in
/// this order; an empty one is not known.
struct Statement {
  std::string name;
  std::vector<std::pair<std::string, std::optional<Value>>> values;
};

/// Returns the value as TOML writes it: a text stands in quotes.
std::string ToToml(const Value& value);

/// Returns the value as a person reads it: a text stands bare.
std::string ToText(const Value& value);

/// Returns whether the value is this word.
bool IsWord(const Value& value, const std::string& word);

}  // namespace bandana
