#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "bandana/core/status.h"
#include "bandana/lab/spec.h"

/// Specs of tests.
namespace bandana::lab {

inline constexpr char kBase[] = R"(horizon = 1000
[environment]
dimension = 2
actions = 5
[algorithm]
name = "dp-dpe"
[privacy]
model = "central"
epsilon = 1.0
delta = 1e-6
)";

// A spec whose table [privacy] lacks the keys that the sweep sets.
inline constexpr char kOpen[] = R"(horizon = 1000
[environment]
dimension = 2
actions = 5
[algorithm]
name = "dp-dpe"
[privacy]
delta = 1e-6
)";

inline constexpr char kFile[] = "/specs/x.toml";

inline Spec Must(const std::string& text, const Overrides& overrides = {}) {
  absl::StatusOr<Spec> spec = ParseSpec(text, kFile, overrides);
  EXPECT_TRUE(spec.ok()) << spec.status() << "\n" << text;
  return spec.ok() ? *std::move(spec) : Spec{};
}

inline InputError ErrorOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  const std::optional<InputError> error = InputErrorOf(status);
  EXPECT_TRUE(error.has_value()) << "no fields: " << status;
  return error.value_or(InputError{});
}

inline InputError Refused(const std::string& text, const Overrides& overrides = {}) {
  const absl::StatusOr<Spec> spec = ParseSpec(text, kFile, overrides);
  EXPECT_FALSE(spec.ok()) << "taken:\n" << text;
  return spec.ok() ? InputError{} : ErrorOf(spec.status());
}

}  // namespace bandana::lab
