#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bandana/core/check.h"

namespace bandana::lab {

/// A value as a user writes it. Whole numbers and others are kept apart: 1e6 is no horizon.
using Value =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

/// As TOML writes it: a text in quotes.
std::string ToToml(const Value& value);
/// As a person reads it: a text bare.
std::string ToText(const Value& value);

/// Options with their values, by dotted key. The getters are for resolved settings, where a missing key or
/// another type is a mistake of ours and not of the user's.
class Settings {
 public:
  void Set(const std::string& key, Value value) { values_[key] = std::move(value); }
  bool Has(const std::string& key) const { return values_.contains(key); }
  const Value* Find(const std::string& key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
  }

  const std::string& Text(const std::string& key) const { return Get<std::string>(key); }
  std::int64_t Integer(const std::string& key) const { return Get<std::int64_t>(key); }
  double Number(const std::string& key) const { return Get<double>(key); }
  bool Boolean(const std::string& key) const { return Get<bool>(key); }

  /// Nothing if the value is the word "auto".
  std::optional<double> NumberOrAuto(const std::string& key) const { return GetOrAuto<double>(key); }
  std::optional<std::int64_t> IntegerOrAuto(const std::string& key) const {
    return GetOrAuto<std::int64_t>(key);
  }

  const std::map<std::string, Value>& values() const { return values_; }
  bool operator==(const Settings&) const = default;

 private:
  template <class T>
  const T& Get(const std::string& key) const {
    const Value* value = Find(key);
    BANDANA_CHECK(value != nullptr && std::holds_alternative<T>(*value));
    return std::get<T>(*value);
  }

  template <class T>
  std::optional<T> GetOrAuto(const std::string& key) const {
    const Value* value = Find(key);
    BANDANA_CHECK(value != nullptr);
    if (std::holds_alternative<std::string>(*value)) return std::nullopt;
    return Get<T>(key);
  }

  std::map<std::string, Value> values_;
};

}  // namespace bandana::lab
