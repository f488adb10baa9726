#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/claim.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/spec.h"

/// A paper's figure or table: an experiment and what the paper claims of it. The experiment is
/// experiments/exhibits/NAME.toml, a part of the program: the spec at the paper's scale, and under
/// [scale.smoke] and [scale.quick] what differs there. The claims are lab/exhibits/NAME.cc.
namespace bandana::lab {

struct Exhibit {
  std::string name;
  std::string title;
  std::vector<PaperClaim> claims;
};

/// All of them, by paper and name.
const std::vector<Exhibit>& Exhibits();

/// The exhibit of that name, or an error that names the nearest.
absl::StatusOr<const Exhibit*> FindExhibit(std::string_view name);

enum class Scale {
  kSmoke,  ///< seconds: that it runs. Its few runs settle no claim
  kQuick,  ///< under a minute
  kPaper,  ///< the paper's own horizon, actions, dimension and runs
};

const std::vector<std::string>& ScaleNames();
absl::StatusOr<Scale> ScaleOf(std::string_view name);

absl::StatusOr<Spec> ExhibitSpec(const Exhibit& exhibit, Scale scale, const Overrides& overrides);

struct Reproduction {
  Json summary;
  std::vector<Verdict> verdicts;
};

/// RunExperiment on the exhibit's spec at that scale, and verdict.json beside its files and in its report.
absl::StatusOr<Reproduction> RunExhibit(const Exhibit& exhibit, Scale scale, const Spec& spec,
                                        const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace bandana::lab
