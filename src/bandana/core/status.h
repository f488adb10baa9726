#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana {

/// Everything a person needs to mend a bad input. Empty fields are left out of the message.
struct InputError {
  std::string message;   ///< what is wrong, without the other fields
  std::string file;      ///< where the value was written
  int line = 0;          ///< 1-based; 0: unknown
  std::string key;       ///< dotted, as in TOML: "privacy.epsilon"
  std::string value;     ///< as given
  std::string accepted;  ///< range, list of names, or the nearest known key

  bool operator==(const InputError&) const = default;
};

/// kInvalidArgument with a one-line message made of all fields; InputErrorOf gives the fields back.
absl::Status InvalidInput(const InputError& error);

/// The fields behind a status made by InvalidInput, nothing for any other status.
std::optional<InputError> InputErrorOf(const absl::Status& status);

/// The same error with the file (and line) put to it, if it is an InvalidInput that names none.
absl::Status WithFile(const absl::Status& status, const std::string& file, int line = 0);

/// A bad value of an option: the common case of InvalidInput.
absl::Status InvalidOption(std::string key, std::string value, std::string accepted);
absl::Status InvalidOption(std::string key, double value, std::string accepted);

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
