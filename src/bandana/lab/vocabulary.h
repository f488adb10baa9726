#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/settings.h"

namespace bandana::lab {

enum class OptionType {
  kBoolean,
  kInteger,
  kIntegerOrAuto,
  kNumber,
  kNumberOrAuto,
  kNumbersOrAuto,   ///< "auto" or a list
  kIntegersOrAuto,  ///< the same of whole numbers
  kNumberOrChoice,  ///< a number, or one of some words
  kChoice,
  kText,
  kCheckpoints
};

/// One word of the vocabulary: the same in TOML, as --set and in every list that is printed.
struct Option {
  std::string key;  ///< dotted
  OptionType type;
  std::optional<Value> fallback;     ///< none: it must be given where it applies
  std::vector<std::string> choices;  ///< of a kChoice
  std::string accepted;              ///< for messages; made from the choices where there are some
  std::function<bool(double)> in_range;
  std::string help;
  std::function<bool(const Settings&)> applies;  ///< looks at earlier options, and at algorithm.name, alone

  /// Another default, where the settings before it are such.
  struct Exception {
    std::function<bool(const Settings&)> when;
    Value fallback;
  };
  std::optional<Exception> exception = std::nullopt;

  std::optional<Value> FallbackFor(const Settings& settings) const;

  /// The value as this option keeps it (a whole number becomes a number where one is wanted), or what is
  /// wrong.
  absl::StatusOr<Value> Check(const Value& value) const;
};

/// All options, each after those that decide whether it applies.
std::span<const Option> Vocabulary();

/// The option of that key, or nothing.
const Option* FindOption(std::string_view key);

/// The known word nearest to a mistyped one, for messages. A key's last word counts as well as the whole:
/// "epsilon" means privacy.epsilon.
std::string Nearest(std::string_view word, std::span<const std::string> known);

/// The same, but nothing if it has little in common with the word.
std::string NearestIfNear(std::string_view word, std::span<const std::string> known);

/// The keys of the vocabulary.
std::vector<std::string> KnownKeys();

}  // namespace bandana::lab
