#include <string>
#include <string_view>

#include "bandana/core/status.h"
#include "bandana/lab/account_request.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

// The JSON files of `bandana account`. Errors say what is wrong; no event is read that has an unknown field.
namespace bandana::fuzz {
namespace {

void Run(std::string_view input) {
  static const Folder& folder = *new Folder();
  const std::string path = folder / "events.json";
  Write(path, input);
  const auto json = lab::ReadAccountFile(path);
  if (!json.ok()) {
    BANDANA_CHECK(absl::IsInvalidArgument(json.status()) && InputErrorOf(json.status())->file == path);
    return;
  }
  const auto request = lab::ReadAccountRequest(*json);
  if (!request.ok()) {
    BANDANA_CHECK(absl::IsInvalidArgument(request.status()) && InputErrorOf(request.status()).has_value());
    return;
  }
  for (const Event& event : request->events) BANDANA_CHECK(!event.mechanism.empty() && !event.unit.empty());
}

}  // namespace

Target MakeTarget() {
  return {.seeds = {{"list",
                     R"([{"mechanism": "gaussian", "unit": "client", "neighbours": "replace-one", "count": 3,
 "sigma": 2.5, "sensitivity": 1, "name": "a", "disjoint": true}])"},
                    {"object", R"({"delta": 1e-5, "events": [{"mechanism": "laplace", "unit": "record",
 "neighbours": "add-remove", "count": 1, "scale": 2, "sensitivity": 1, "cohort": "c"}]})"},
                    {"unknown-field", R"([{"mechanism": "gaussian", "x": {"y": [1, 2, "z\u0000"]}}])"},
                    {"deep-list", std::string(200'000, '[') + std::string(200'000, ']')},
                    {"deep-field",
                     R"([{"mechanism": )" + std::string(200'000, '[') + std::string(200'000, ']') + "}]"}},
          .run = Run,
          .words = {"\"mechanism\"", "\"unit\"", "\"neighbours\"", "\"count\"", "\"events\"", "\"delta\"",
                    "\"epsilon\"", "1e999", "-0", "null", "true", "[]", "{}", "\\ud800", "\xff",
                    "\"gaussian\"", "\"shuffled\""},
          .mutations = 1000};
}

}  // namespace bandana::fuzz
