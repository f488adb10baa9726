#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/findings.h"

namespace bandana::lab {

/// The result of comparing a claim with a run.
struct Finding {
  bool holds = false;    ///< whether the run confirms the claim; false also if the run is not clear enough
  std::string evidence;  ///< the numbers, with standard errors
};

/// One sentence of a paper, in a form that a run can confirm or not.
struct PaperClaim {
  std::string claim;
  std::string paper;   ///< where the paper says so: "p1 Fig. 2(a)"
  bool expected;       ///< whether we expect a run to confirm it
  std::string reason;  ///< why we do not expect it; empty if we do
  std::function<absl::StatusOr<Finding>(const Findings&)> judge;
};

/// A claim and whether a run confirmed it.
struct Verdict {
  std::string claim;
  std::string paper;
  bool expected = true;
  bool holds = false;
  std::string evidence;
  bool judged = true;  ///< false: the run lacks the points or metrics that the claim is about

  bool as_expected() const { return judged && holds == expected; }
};

Verdict Judge(const PaperClaim& claim, const Findings& findings);

/// Returns the content of verdict.json (interfaces.md).
Json ToJson(const std::vector<Verdict>& verdicts);

}  // namespace bandana::lab
