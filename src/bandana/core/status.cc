#include "bandana/core/status.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr char kPayload[] = "bandana/input-error";
constexpr char kSeparator = '\x1f';

}  // namespace

absl::Status InvalidInput(const InputError& error) {
  std::string text;
  if (!error.file.empty()) {
    text += error.line > 0 ? fmt::format("{}:{}: ", error.file, error.line) : fmt::format("{}: ", error.file);
  }
  if (!error.key.empty()) {
    text += error.value.empty() ? fmt::format("{}: ", error.key)
                                : fmt::format("{} = {}: ", error.key, error.value);
  }
  text += error.message;
  if (!error.accepted.empty()) text += fmt::format(" (accepted: {})", error.accepted);

  absl::Status status = absl::InvalidArgumentError(text);
  status.SetPayload(kPayload,
                    absl::Cord(fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}", kSeparator, error.message,
                                           error.file, error.line, error.key, error.value, error.accepted)));
  return status;
}

std::optional<InputError> InputErrorOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(std::string(*payload), kSeparator);
  if (fields.size() != 6) return std::nullopt;
  return InputError{fields[0], fields[1], std::stoi(fields[2]), fields[3], fields[4], fields[5]};
}

absl::Status WithFile(const absl::Status& status, const std::string& file, int line) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value() || !error->file.empty()) return status;
  error->file = file;
  error->line = line;
  return InvalidInput(*error);
}

absl::Status InvalidOption(std::string key, std::string value, std::string accepted) {
  return InvalidInput({.message = "not accepted",
                       .key = std::move(key),
                       .value = std::move(value),
                       .accepted = std::move(accepted)});
}

absl::Status InvalidOption(std::string key, double value, std::string accepted) {
  return InvalidOption(std::move(key), fmt::format("{}", value), std::move(accepted));
}

}  // namespace bandana
