#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

bool IsAuto(const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  return word != nullptr && *word == "auto";
}

absl::StatusOr<Value> CheckCheckpoints(const Option& option, const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value); word != nullptr && *word == "log") return value;
  if (const auto* count = std::get_if<std::int64_t>(&value); count != nullptr && *count >= 1) return value;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    const bool ascending =
        std::adjacent_find(list->begin(), list->end(), std::greater_equal<>()) == list->end();
    if (!list->empty() && list->front() >= 1 && ascending) return value;
  }
  return InvalidOption(option.key, ToText(value), option.accepted);
}

}  // namespace

std::optional<Value> Option::FallbackFor(const Settings& settings) const {
  return exception.has_value() && exception->when(settings) ? exception->fallback : fallback;
}

absl::StatusOr<Value> Option::Check(const Value& value) const {
  const auto refuse = [&] { return InvalidOption(key, ToText(value), accepted); };
  switch (type) {
    case OptionType::kText:
      return std::holds_alternative<std::string>(value) ? absl::StatusOr<Value>(value) : refuse();
    case OptionType::kCheckpoints:
      return CheckCheckpoints(*this, value);
    case OptionType::kChoice: {
      const auto* word = std::get_if<std::string>(&value);
      if (word == nullptr || std::find(choices.begin(), choices.end(), *word) == choices.end())
        return refuse();
      return value;
    }
    case OptionType::kNumberOrChoice: {
      if (const auto* word = std::get_if<std::string>(&value)) {
        return std::find(choices.begin(), choices.end(), *word) != choices.end()
                   ? absl::StatusOr<Value>(value)
                   : refuse();
      }
      double number = std::numeric_limits<double>::quiet_NaN();
      if (const auto* integer = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*integer);
      if (const auto* real = std::get_if<double>(&value)) number = *real;
      return in_range(number) ? absl::StatusOr<Value>(number) : refuse();
    }
    case OptionType::kBoolean:
      return std::holds_alternative<bool>(value) ? absl::StatusOr<Value>(value) : refuse();
    case OptionType::kIntegerOrAuto:
      if (IsAuto(value)) return value;
      [[fallthrough]];
    case OptionType::kInteger: {
      const auto* integer = std::get_if<std::int64_t>(&value);
      if (integer != nullptr && in_range(static_cast<double>(*integer))) return value;
      const auto* number = std::get_if<double>(&value);
      if (number != nullptr && in_range(*number) && *number == std::floor(*number) && *number < 0x1p63) {
        return InvalidOption(key, ToText(value),
                             fmt::format("{}, written without point or exponent: {}", accepted,
                                         static_cast<std::int64_t>(*number)));
      }
      return refuse();
    }
    case OptionType::kIntegersOrAuto: {
      if (IsAuto(value)) return value;
      const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
      if (list == nullptr || list->empty()) return refuse();
      for (const std::int64_t each : *list) {
        if (!in_range(static_cast<double>(each))) return refuse();
      }
      return value;
    }
    case OptionType::kNumbersOrAuto: {
      if (IsAuto(value)) return value;
      std::vector<double> numbers;
      if (const auto* reals = std::get_if<std::vector<double>>(&value)) numbers = *reals;
      if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        numbers.assign(list->begin(), list->end());
      if (numbers.empty()) return refuse();
      for (const double each : numbers) {
        if (!in_range(each)) return refuse();
      }
      return Value(std::move(numbers));
    }
    case OptionType::kNumberOrAuto:
      if (IsAuto(value)) return value;
      [[fallthrough]];
    case OptionType::kNumber: {
      double number = std::numeric_limits<double>::quiet_NaN();
      if (const auto* integer = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*integer);
      if (const auto* real = std::get_if<double>(&value)) number = *real;
      return in_range(number) ? absl::StatusOr<Value>(number) : refuse();
    }
  }
  return refuse();
}

}  // namespace bandana::lab
