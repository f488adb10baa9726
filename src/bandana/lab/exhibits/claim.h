#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/findings.h"

namespace bandana::lab {

/// What a run shows of a claim.
struct Finding {
  bool holds = false;    ///< is seen; false also where nothing is clear
  std::string evidence;  ///< the numbers, with standard errors
};

/// One sentence of a paper, as it can be held against a run.
struct PaperClaim {
  std::string claim;
  std::string paper;   ///< where it says so: "p1 Fig. 2(a)"
  bool expected;       ///< whether it is known to hold
  std::string reason;  ///< why not, where it is not expected
  std::function<absl::StatusOr<Finding>(const Findings&)> judge;
};

/// A claim held against a run.
struct Verdict {
  std::string claim;
  std::string paper;
  bool expected = true;
  bool holds = false;
  std::string evidence;
  bool judged = true;  ///< false: the run lacks what the claim is about

  bool as_expected() const { return judged && holds == expected; }
};

Verdict Judge(const PaperClaim& claim, const Findings& findings);

/// verdict.json (interfaces.md).
Json ToJson(const std::vector<Verdict>& verdicts);

}  // namespace bandana::lab
