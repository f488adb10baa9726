#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/results.h"
#include "bandana/lab/spec.h"
#include "nlohmann/json.hpp"

namespace bandana::lab {

using Json = nlohmann::ordered_json;

struct Timing {
  double wall_s = 0;
  double cpu_s = 0;
};

/// Returns the summary.json (interfaces.md) of a finished run.
absl::StatusOr<Json> Summarize(const Spec& spec, const ResultsFile& results, const Timing& timing);

/// Returns the privacy claims of a point in the shape of summary.json. `void_reason` says why they do not
/// hold for this run; empty: they hold.
Json PrivacyStatement(const Instance& instance, const std::string& void_reason);

/// Returns one claim in the shape of summary.json. Ledgers, roles and audits print claims in this shape, too.
Json ToJson(const Claim& claim);

Json ToJson(const NetworkPicture& picture);

Json ToJson(const Value& value);

Json GuaranteeJson(const DpGuarantee& guarantee);

/// Returns the text for a JSON document: null if it is empty.
Json TextOrNull(const std::string& text);

/// Returns the JSON as it is written to files: indented, with bytes that are not UTF-8 replaced.
std::string Dump(const Json& json);

}  // namespace bandana::lab
