#include "bandana/lab/typed_flags.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

// Returns the value if the whole text is one T.
template <class T>
std::optional<T> Parsed(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool TypedFlags::Has(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found != values_.end() && found->second.has_value();
}

absl::StatusOr<double> TypedFlags::Number(const std::string& flag, const std::string& accepted) const {
  if (!Has(flag)) return Missing(flag, accepted);
  const std::string& text = *values_.at(flag);
  const std::optional<double> value = Parsed<double>(text);
  if (value.has_value() && std::isnormal(*value) && *value > 0) return *value;
  return InvalidOption(flag, text, accepted);
}

absl::StatusOr<double> TypedFlags::Probability(const std::string& flag) const {
  static constexpr char kAccepted[] = "a number in (0, 1)";
  BANDANA_ASSIGN_OR_RETURN(const double value, Number(flag, kAccepted));
  if (value < 1) return value;
  return InvalidOption(flag, *values_.at(flag), kAccepted);
}

absl::StatusOr<std::int64_t> TypedFlags::Whole(const std::string& flag) const {
  static constexpr char kAccepted[] = "a whole number >= 1, without point or exponent";
  if (!Has(flag)) return Missing(flag, kAccepted);
  const std::string& text = *values_.at(flag);
  const std::optional<std::int64_t> value = Parsed<std::int64_t>(text);
  if (value.has_value() && *value >= 1) return *value;
  return InvalidOption(flag, text, kAccepted);
}

absl::StatusOr<std::string> TypedFlags::Choice(const std::string& flag,
                                               const std::vector<std::string>& choices, Absent absent) const {
  const std::string accepted = fmt::format("{}", fmt::join(choices, ", "));
  if (!Has(flag)) {
    if (absent == Absent::kFirst) return choices.front();
    return Missing(flag, accepted);
  }
  for (const std::string& choice : choices) {
    if (choice == *values_.at(flag)) return choice;
  }
  return InvalidOption(flag, *values_.at(flag), accepted);
}

absl::StatusOr<DpGuarantee> TypedFlags::Guarantee() const {
  BANDANA_ASSIGN_OR_RETURN(const double epsilon, Number("--epsilon"));
  BANDANA_ASSIGN_OR_RETURN(const double delta, Probability("--delta"));
  return DpGuarantee{epsilon, delta};
}

absl::Status TypedFlags::Missing(const std::string& flag, const std::string& accepted) {
  return InvalidInput({.message = "missing", .key = flag, .accepted = accepted});
}

absl::Status TypedFlags::Clash(const std::string& flag, const std::string& message) const {
  return InvalidInput({.message = message, .key = flag, .value = *values_.at(flag)});
}

absl::Status NamedAsFlag(const absl::Status& status, const std::map<std::string, std::string>& renamed) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value() || error->key.starts_with("--")) return status;
  std::string name = error->key.substr(error->key.find('.') + 1);
  if (renamed.contains(name)) name = renamed.at(name);
  for (char& c : name) c = c == '_' ? '-' : c;
  error->key = "--" + name;
  return InvalidInput(*error);
}

}  // namespace bandana::lab
