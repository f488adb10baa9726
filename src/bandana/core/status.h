#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana {

/// Everything a person needs to correct a bad input. Empty fields are left out of the message.
struct InputError {
  std::string message;   ///< the problem, without the other fields
  std::string file;      ///< where the value was written
  int line = 0;          ///< from 1; 0: unknown
  std::string key;       ///< a field (epsilon) or, from the lab on, a dotted key (privacy.epsilon)
  std::string value;     ///< the value that was given
  std::string accepted;  ///< range, list of names, or the nearest known key

  bool operator==(const InputError&) const = default;
};

/// Makes a kInvalidArgument error with a one-line message composed of all fields. InputErrorOf returns the
/// fields.
absl::Status InvalidInput(const InputError& error);

/// Returns the fields of a status that InvalidInput made, and nothing for any other status.
std::optional<InputError> InputErrorOf(const absl::Status& status);

/// Adds the file and the line to an error that InvalidInput made, if it names no file. Any other status is
/// returned unchanged.
absl::Status WithFile(const absl::Status& status, const std::string& file, int line = 0);

/// Makes the error for a bad value of an option, which is the most common case of InvalidInput.
absl::Status InvalidOption(std::string key, std::string value, std::string accepted);
absl::Status InvalidOption(std::string key, double value, std::string accepted);

/// Which of a program's inputs a field belongs to: the parameters of an algorithm or world, its Privacy, the
/// Facts of a world, or the parameters of a service's process.
enum class Part { kParams, kPrivacy, kFacts, kService };

/// A bad value of a field, for programs that know structs and no TOML. The lab turns it into the dotted key
/// of the option that sets the field.
absl::Status InvalidField(Part part, std::string field, std::string value, std::string accepted);
absl::Status InvalidField(Part part, std::string field, double value, std::string accepted);

/// Makes such an error with another message than "not accepted". `error.key` is the field.
absl::Status InvalidField(Part part, const InputError& error);

/// Returns the part behind a status made by InvalidField, nothing for any other status.
std::optional<Part> PartOf(const absl::Status& status);

}  // namespace bandana

#define BANDANA_CONCAT_INNER(a, b) a##b
#define BANDANA_CONCAT(a, b) BANDANA_CONCAT_INNER(a, b)

/// Returns the status from the enclosing function unless it is OK.
#define BANDANA_RETURN_IF_ERROR(expression)                   \
  do {                                                        \
    if (absl::Status status_ = (expression); !status_.ok()) { \
      return status_;                                         \
    }                                                         \
  } while (false)

/// BANDANA_ASSIGN_OR_RETURN(auto x, F()): x is F's value, or the enclosing function returns F's status.
#define BANDANA_ASSIGN_OR_RETURN(declaration, expression) \
  BANDANA_ASSIGN_OR_RETURN_INNER(BANDANA_CONCAT(status_or_, __LINE__), declaration, expression)
#define BANDANA_ASSIGN_OR_RETURN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                                           \
  if (!temporary.ok()) return temporary.status();                          \
  declaration = std::move(temporary).value()
