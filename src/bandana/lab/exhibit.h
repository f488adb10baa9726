#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/claim.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/spec.h"

/// An exhibit is a figure or table of a paper: an experiment, and the paper's claims about it. The experiment
/// is experiments/exhibits/NAME.toml, which is compiled into the program. It holds the spec at the paper's
/// scale, and in [scale.smoke] and [scale.quick] the values that differ at those scales. The claims are in
/// lab/exhibits/NAME.cc.
namespace bandana::lab {

struct Exhibit {
  std::string name;
  std::string title;
  std::vector<PaperClaim> claims;
};

/// Returns all exhibits, ordered by paper and name.
const std::vector<Exhibit>& Exhibits();

/// Returns the exhibit of that name, or an error that suggests the nearest name.
absl::StatusOr<const Exhibit*> FindExhibit(std::string_view name);

enum class Scale {
  kSmoke,  ///< takes seconds and shows that the exhibit runs; so few replicates settle no claim
  kQuick,  ///< takes less than a minute
  kPaper,  ///< the paper's own horizon, actions, dimension and runs
};

const std::vector<std::string>& ScaleNames();
absl::StatusOr<Scale> ScaleOf(std::string_view name);

absl::StatusOr<Spec> ExhibitSpec(const Exhibit& exhibit, Scale scale, const Overrides& overrides);

struct Reproduction {
  Json summary;
  std::vector<Verdict> verdicts;
};

/// Runs the exhibit's spec with RunExperiment. Writes the verdicts on the claims to verdict.json beside the
/// other files, and adds them to the report.
absl::StatusOr<Reproduction> RunExhibit(const Exhibit& exhibit, Scale scale, const Spec& spec,
                                        const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace bandana::lab
