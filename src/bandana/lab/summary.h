#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/results.h"
#include "bandana/lab/spec.h"
#include "nlohmann/json.hpp"

namespace bandana::lab {

using Json = nlohmann::ordered_json;

struct Timing {
  double wall_s = 0;
  double cpu_s = 0;
};

/// summary.json (interfaces.md) of a finished run.
absl::StatusOr<Json> Summarize(const Spec& spec, const ResultsFile& results, const Timing& timing);

/// A point's promise, in the shape of summary.json. `void_reason` empty: it stands.
absl::StatusOr<Json> PrivacyStatement(const Settings& settings, const std::string& void_reason);

Json ToJson(const Value& value);

/// As a file is written: indented, and whole even where a text is not UTF-8.
std::string Dump(const Json& json);

}  // namespace bandana::lab
