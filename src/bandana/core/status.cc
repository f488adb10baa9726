#include "bandana/core/status.h"

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr char kPayload[] = "bandana/input-error";
constexpr char kPartPayload[] = "bandana/part";

// Writes "LENGTH:TEXT" for each field, one after another, so that a field may hold any text.
std::string Pack(std::initializer_list<std::string> fields) {
  std::string packed;
  for (const std::string& field : fields) packed += fmt::format("{}:{}", field.size(), field);
  return packed;
}

std::vector<std::string> Unpack(const std::string& packed) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t colon = packed.find(':', at);
    const std::size_t length = std::stoul(packed.substr(at, colon - at));
    fields.push_back(packed.substr(colon + 1, length));
    at = colon + 1 + length;
  }
  return fields;
}

// A Cord of a std::string would need a template that clang and the compiler of the library name differently.
absl::Status WithPayload(absl::Status status, const char* type, absl::string_view payload) {
  status.SetPayload(type, absl::Cord(payload));
  return status;
}

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
  return WithPayload(
      std::move(status), kPayload,
      Pack({error.message, error.file, std::to_string(error.line), error.key, error.value, error.accepted}));
}

std::optional<InputError> InputErrorOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> fields = Unpack(std::string(*payload));
  if (fields.size() != 6) return std::nullopt;
  return InputError{fields[0], fields[1], std::stoi(fields[2]), fields[3], fields[4], fields[5]};
}

absl::Status WithFile(const absl::Status& status, const std::string& file, int line) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value() || !error->file.empty()) return status;
  error->file = file;
  error->line = line;
  const std::optional<Part> part = PartOf(status);
  return part.has_value() ? InvalidField(*part, *error) : InvalidInput(*error);
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

absl::Status InvalidField(Part part, const InputError& error) {
  return WithPayload(InvalidInput(error), kPartPayload, std::to_string(static_cast<int>(part)));
}

absl::Status InvalidField(Part part, std::string field, std::string value, std::string accepted) {
  return InvalidField(part, {.message = "not accepted",
                             .key = std::move(field),
                             .value = std::move(value),
                             .accepted = std::move(accepted)});
}

absl::Status InvalidField(Part part, std::string field, double value, std::string accepted) {
  return InvalidField(part, std::move(field), fmt::format("{}", value), std::move(accepted));
}

std::optional<Part> PartOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPartPayload);
  if (!payload.has_value()) return std::nullopt;
  return static_cast<Part>(std::stoi(std::string(*payload)));
}

}  // namespace bandana
