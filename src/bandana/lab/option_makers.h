#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

/// What the table of options is written with: one function a type of option, and when one applies.
namespace bandana::lab::options {

using Condition = std::function<bool(const Settings&)>;

inline bool Always(const Settings&) { return true; }
inline bool Never(const Settings&) { return false; }  // of no experiment: a role's own

inline std::function<bool(const Settings&)> When(std::string key, std::vector<std::string> values) {
  return [key = std::move(key), values = std::move(values)](const Settings& settings) {
    const Value* value = settings.Find(key);
    return value != nullptr && std::find(values.begin(), values.end(), ToText(*value)) != values.end();
  };
}

inline Condition Both(Condition a, Condition b) {
  return
      [a = std::move(a), b = std::move(b)](const Settings& settings) { return a(settings) && b(settings); };
}
inline Condition Not(Condition a) {
  return [a = std::move(a)](const Settings& settings) { return !a(settings); };
}
inline Condition Either(Condition a, Condition b) {
  return
      [a = std::move(a), b = std::move(b)](const Settings& settings) { return a(settings) || b(settings); };
}

inline Option Choice(std::string key, std::vector<std::string> choices, std::optional<Value> fallback,
                     std::string help, std::function<bool(const Settings&)> applies = Always) {
  std::string accepted = fmt::format("{}", fmt::join(choices, ", "));
  return {std::move(key), OptionType::kChoice, std::move(fallback), std::move(choices), std::move(accepted),
          nullptr,        std::move(help),     std::move(applies)};
}

inline Option Number(std::string key, std::function<bool(double)> in_range, std::string accepted,
                     std::optional<Value> fallback, std::string help,
                     std::function<bool(const Settings&)> applies = Always) {
  return {std::move(key),      OptionType::kNumber, std::move(fallback), {},
          std::move(accepted), std::move(in_range), std::move(help),     std::move(applies)};
}

inline Option Integer(std::string key, double least, std::optional<Value> fallback, std::string help,
                      std::function<bool(const Settings&)> applies = Always) {
  return {std::move(key),
          OptionType::kInteger,
          std::move(fallback),
          {},
          fmt::format("a whole number >= {}", least),
          [least](double value) { return value >= least; },
          std::move(help),
          std::move(applies)};
}

inline Option Within(Option option, double least, double most) {
  option.accepted = fmt::format("a whole number from {} to {}", least, most);
  option.in_range = [least, most](double value) { return value >= least && value <= most; };
  return option;
}

inline Option IntegerOrAuto(std::string key, double least, std::string help,
                            std::function<bool(const Settings&)> applies = Always) {
  Option option =
      Integer(std::move(key), least, Value(std::string("auto")), std::move(help), std::move(applies));
  option.type = OptionType::kIntegerOrAuto;
  option.accepted = "\"auto\" or " + option.accepted;
  return option;
}

inline Option Boolean(std::string key, bool fallback, std::string help,
                      std::function<bool(const Settings&)> applies = Always) {
  return {std::move(key), OptionType::kBoolean, Value(fallback),   {}, "true, false",
          nullptr,        std::move(help),      std::move(applies)};
}

inline Option Text(std::string key, std::string accepted, std::string help,
                   std::function<bool(const Settings&)> applies) {
  return {std::move(key),      OptionType::kText, std::nullopt,    {},
          std::move(accepted), nullptr,           std::move(help), std::move(applies)};
}

inline Option ListOrAuto(std::string key, OptionType type, double least, std::string help,
                         std::function<bool(const Settings&)> applies) {
  const std::string each = type == OptionType::kIntegersOrAuto ? fmt::format("whole numbers >= {}", least)
                                                               : fmt::format("finite numbers > {}", least);
  return {std::move(key),
          type,
          Value(std::string("auto")),
          {},
          fmt::format("\"auto\" or a list of {}", each),
          [least, type](double value) {
            return std::isfinite(value) &&
                   (type == OptionType::kIntegersOrAuto ? value >= least : value > least);
          },
          std::move(help),
          std::move(applies)};
}
inline Option Except(Option option, Option::Exception exception) {
  option.exception = std::move(exception);
  return option;
}

inline bool Positive(double value) { return value > 0 && std::isnormal(value); }
inline bool NonNegative(double value) { return value >= 0 && std::isfinite(value); }
inline bool Probability(double value) { return value > 0 && value < 1 && std::isnormal(value); }

}  // namespace bandana::lab::options
