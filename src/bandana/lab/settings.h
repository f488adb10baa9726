#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/value.h"

namespace bandana::lab {

/// The values of options, by dotted key. The getters are for resolved settings: a missing key or another type
/// is a programming error there.
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
  bool Flag(const std::string& key) const { return Get<bool>(key); }

  const std::map<std::string, Value>& values() const { return values_; }
  bool operator==(const Settings&) const = default;

 private:
  template <class T>
  const T& Get(const std::string& key) const {
    const Value* value = Find(key);
    BANDANA_CHECK(value != nullptr && std::holds_alternative<T>(*value));
    return std::get<T>(*value);
  }

  std::map<std::string, Value> values_;
};

}  // namespace bandana::lab
