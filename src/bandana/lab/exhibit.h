#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/claim.h"
#include "bandana/lab/judge/verdict.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/spec.h"

/// An exhibit is one TOML file (docs/exhibits.md): an experiment, which is most often a figure or table of a
/// paper, and claims about it. The file holds the spec at the paper's scale, in [scale.smoke] and
/// [scale.quick] the values that differ at those scales, and the claims. The files in experiments/exhibits/
/// are compiled into the program.
namespace bandana::lab {

struct Exhibit {
  std::string name;   ///< the name of the file, without .toml
  std::string title;  ///< the name of the experiment
  std::string file;   ///< the file, for messages
  std::string text;   ///< the content of the file
  std::vector<PaperClaim> claims = {};
  std::vector<Bound> bounds = {};
  std::vector<NotRunnable> not_runnable = {};
  std::string stand_in = {};  ///< what stands in for data that is not public; empty: nothing does
};

/// Returns the exhibits that are compiled into the program, ordered by name.
const std::vector<Exhibit>& Exhibits();

/// Returns the exhibit of that name, or an error that suggests the nearest name.
absl::StatusOr<const Exhibit*> FindExhibit(std::string_view name);

/// Reads somebody's own exhibit. Fails if the file has no claims: such a file is for RunExperiment.
absl::StatusOr<Exhibit> LoadExhibit(const std::string& path);

enum class Scale {
  kSmoke,  ///< takes seconds and shows that the exhibit runs; so few replicates settle no claim
  kQuick,  ///< takes less than a minute
  kPaper,  ///< the paper's own horizon, actions, dimension and runs
};

const std::vector<std::string>& ScaleNames();
absl::StatusOr<Scale> ScaleOf(std::string_view name);

absl::StatusOr<Spec> ExhibitSpec(const Exhibit& exhibit, Scale scale, const Overrides& overrides);

/// A value of the spec that a smaller scale changes.
struct ScaledValue {
  std::string key;
  std::string here;   ///< the value at this scale, as TOML
  std::string paper;  ///< the value at the paper's scale; empty: the default
};

/// Returns what a scale changes, ordered by key.
std::vector<ScaledValue> ScaledValues(const Exhibit& exhibit, Scale scale);

struct Reproduction {
  Json summary;
  std::vector<Verdict> verdicts;
  Json json;  ///< the content of verdict.json
};

/// Runs the exhibit's spec with RunExperiment. Writes the verdicts on the claims to verdict.json beside the
/// other files, and adds them to the report.
absl::StatusOr<Reproduction> RunExhibit(const Exhibit& exhibit, Scale scale, const Spec& spec,
                                        const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace bandana::lab
