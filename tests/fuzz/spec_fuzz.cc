#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "bandana/core/status.h"
#include "bandana/lab/exhibit.h"
#include "bandana/lab/spec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/processes.h"

// Specs of experiments in TOML, each followed by assignments of --set, after zero bytes. A spec that is
// accepted is resolved: reading its resolved text gives the same spec. An error says something about the
// input.
namespace bandana::fuzz {
namespace {

void Run(std::string_view input) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(input), absl::ByChar('\0'));
  const lab::Overrides overrides(parts.begin() + 1, parts.end());
  const auto spec = lab::ParseSpec(parts.front(), "x.toml", overrides);
  if (!spec.ok()) {
    BANDANA_CHECK(absl::IsInvalidArgument(spec.status()) && InputErrorOf(spec.status()).has_value());
    return;
  }
  BANDANA_CHECK(!spec->points.empty());
  const auto again = lab::ParseSpec(spec->toml, "x.toml", {});
  if (!again.ok()) std::fprintf(stderr, "%s\n%s\n", spec->toml.c_str(), again.status().ToString().c_str());
  BANDANA_CHECK(again.ok());
  if (again->toml != spec->toml)
    std::fprintf(stderr, "%s\n---\n%s\n", spec->toml.c_str(), again->toml.c_str());
  BANDANA_CHECK(again->toml == spec->toml && again->sha256 == spec->sha256);
}

}  // namespace

Target MakeTarget() {
  Target target{.run = Run,
                .words = {"[sweep]\n",
                          "[[variant]]\nlabel = \"a\"\n",
                          "privacy.epsilon = ",
                          "inf",
                          "nan",
                          "-1",
                          "[1, 2]",
                          "\"auto\"",
                          "horizon = ",
                          "1e308",
                          "9223372036854775807",
                          "environment.kind = ",
                          "algorithm.name = ",
                          "\"fed-ucb\"",
                          "\"contextual-linear\"",
                          "\"shuffle\"",
                          "\"none\"",
                          "{",
                          "}",
                          "\"\"\"",
                          "'",
                          "[service]\n",
                          "checkpoints = ",
                          "seed = ",
                          std::string("\0privacy.model=", 15)},
                .mutations = 1000,
                .allocation = std::size_t{1} << 20};
  for (const ProcessKind& kind : ProcessKinds()) target.seeds.push_back({kind.name, kind.spec});
  target.seeds.push_back({"set", std::string(kPhases) + "model = \"central\" }" +
                                     std::string("\0horizon=300\0sweep.seed=1", 25)});
  target.seeds.push_back(
      {"sweep", std::string(kPhases) +
                    "model = \"central\" }\n[sweep]\nprivacy.epsilon = [1.0, 2]\n[[variant]]\n"
                    "label = \"a\"\nprivacy.model = \"local\"\n"});
  for (const lab::Exhibit& exhibit : lab::Exhibits()) {
    if (exhibit.text.size() < 3000) target.seeds.push_back({exhibit.name, exhibit.text});
  }
  return target;
}

}  // namespace bandana::fuzz
