#include "bandana/core/options.h"

#include <algorithm>

#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {
namespace internal {
namespace {

absl::Status Refuse(const std::string& key, const Value& value, const std::string& accepted) {
  return InvalidOption(key, ToText(value), accepted);
}

// Returns NaN, which no range accepts, for what is not a number.
double AsNumber(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

absl::StatusOr<Value> CheckNumber(const std::string& key, const Value& value, const Range& range,
                                  const std::vector<std::string>& words, const std::string& accepted) {
  for (const std::string& word : words) {
    if (IsWord(value, word)) return value;
  }
  const double number = AsNumber(value);
  if (!range(number)) return Refuse(key, value, accepted);
  return Value(number);
}

absl::StatusOr<Value> CheckInteger(const std::string& key, const Value& value, double least, double most,
                                   bool or_auto, const std::string& accepted) {
  if (or_auto && IsWord(value, "auto")) return value;
  const double number = AsNumber(value);
  const bool in_range = number >= least && number <= most;
  if (std::holds_alternative<std::int64_t>(value) && in_range) return value;
  if (std::holds_alternative<double>(value) && in_range && number == std::floor(number) && number < 0x1p63) {
    return Refuse(key, value,
                  fmt::format("{}, written without point or exponent: {}", accepted,
                              static_cast<std::int64_t>(number)));
  }
  return Refuse(key, value, accepted);
}

absl::StatusOr<Value> CheckNumbers(const std::string& key, const Value& value, const Range& range,
                                   const std::string& accepted) {
  if (IsWord(value, "auto")) return value;
  std::vector<double> numbers;
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) numbers = *reals;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    numbers.assign(list->begin(), list->end());
  }
  if (numbers.empty() || !std::all_of(numbers.begin(), numbers.end(), range)) {
    return Refuse(key, value, accepted);
  }
  return Value(std::move(numbers));
}

absl::StatusOr<Value> CheckIntegers(const std::string& key, const Value& value, double least,
                                    const std::string& accepted) {
  if (IsWord(value, "auto")) return value;
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  const auto in_range = [least](std::int64_t each) { return static_cast<double>(each) >= least; };
  if (list == nullptr || list->empty() || !std::all_of(list->begin(), list->end(), in_range)) {
    return Refuse(key, value, accepted);
  }
  return value;
}

absl::StatusOr<Value> CheckWord(const std::string& key, const Value& value, const std::vector<Word>& words,
                                const std::string& accepted) {
  for (const Word& each : words) {
    if (IsWord(value, each.word)) return value;
  }
  return Refuse(key, value, accepted);
}

absl::StatusOr<Value> CheckFlag(const std::string& key, const Value& value) {
  if (std::holds_alternative<bool>(value)) return value;
  return Refuse(key, value, "true, false");
}

absl::StatusOr<Value> CheckText(const std::string& key, const Value& value, const std::string& accepted) {
  if (std::holds_alternative<std::string>(value)) return value;
  return Refuse(key, value, accepted);
}

std::string WholeFrom(Count least, Count most) {
  if (most == std::numeric_limits<Count>::max()) return fmt::format("a whole number >= {}", least);
  return fmt::format("a whole number from {} to {}", least, most);
}

std::string OneOf(const std::vector<Word>& words) {
  std::vector<std::string> all;
  for (const Word& each : words) all.push_back(each.word);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace internal

absl::StatusOr<Resolved> Resolve(const std::vector<Option>& options, std::any defaults, const Values& given,
                                 const Values& world) {
  Resolved resolved{.params = std::move(defaults)};
  std::vector<std::string> keys;
  for (const Option& option : options) {
    keys.push_back(option.key);
    if (!option.applies(resolved.params, world)) continue;
    const auto it = given.find(option.key);
    if (it == given.end() && option.required) {
      return InvalidInput({.message = "missing", .key = option.key, .accepted = option.accepted});
    }
    if (it == given.end()) {
      resolved.values[option.key] = option.get(resolved.params);
      continue;
    }
    BANDANA_ASSIGN_OR_RETURN(const Value value, option.check(it->second));
    option.set(resolved.params, value);
    resolved.values[option.key] = value;
  }
  for (const auto& [key, value] : given) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    return InvalidInput(
        {.message = "unknown option", .key = key, .accepted = "nearest known option: " + Nearest(key, keys)});
  }
  return resolved;
}

absl::Status CheckFields(const std::vector<Option>& options, const std::any& params) {
  for (const Option& option : options) {
    if (!option.applies(params, {})) continue;
    const absl::Status status = option.check(option.get(params)).status();
    if (status.ok()) continue;
    const std::optional<InputError> error = InputErrorOf(status);
    return error.has_value() ? InvalidField(Part::kParams, *error) : status;
  }
  return absl::OkStatus();
}

}  // namespace bandana
