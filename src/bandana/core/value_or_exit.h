#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace bandana {

/// Returns the value, or prints the error and ends the program. For examples and small programs: nothing else
/// in Bandana ends a program.
template <class T>
T ValueOrExit(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", std::string(value.status().message()).c_str());
  std::exit(1);
}

}  // namespace bandana
