#include "bandana/cli/output.h"

#include <cstdio>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::cli {
int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 2;
    case absl::StatusCode::kResourceExhausted:
      return 3;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
      return 4;
    case absl::StatusCode::kCancelled:
      return 130;
    default:
      return 1;
  }
}

int Fail(const absl::Status& status, const Global& global) {
  const std::string message(status.message());
  if (global.json) {
    const InputError error = InputErrorOf(status).value_or(InputError{.message = message});
    const lab::Json json = {{"error",
                             {{"message", error.message},
                              {"file", TextOrNull(error.file)},
                              {"line", error.line > 0 ? lab::Json(error.line) : lab::Json(nullptr)},
                              {"key", TextOrNull(error.key)},
                              {"value", TextOrNull(error.value)},
                              {"accepted", TextOrNull(error.accepted)}}}};
    fmt::print("{}\n", json.dump(1, ' ', false, lab::Json::error_handler_t::replace));
  } else if (!(global.quiet && absl::IsCancelled(status))) {
    fmt::print(stderr, "bandana: {}\n", message);
  }
  return ExitCode(status);
}

void NoteKeysWithoutEffect(const lab::Spec& spec, const Global& global) {
  if (global.quiet) return;
  for (const std::string& key : spec.without_effect) {
    fmt::print(stderr, "bandana: note: {} has no effect: nothing in this run uses it\n", key);
  }
}

std::string PluginFlags(const Global& global) {
  std::string flags;
  for (const std::string& plugin : global.plugins) flags += " --plugin " + Quoted(plugin);
  return flags;
}

std::string Quoted(const std::string& text) {
  const bool plain =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=+,:") ==
      std::string::npos;
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace bandana::cli
