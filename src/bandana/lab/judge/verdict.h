#pragma once

#include <string>
#include <vector>

#include "bandana/lab/summary.h"

namespace bandana::lab {

/// The result of comparing a claim with a run.
struct Finding {
  bool holds = false;    ///< whether the run confirms the claim; false also if the run is not clear enough
  std::string evidence;  ///< the numbers, with standard errors
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

/// Returns the content of verdict.json (interfaces.md).
Json ToJson(const std::vector<Verdict>& verdicts);

}  // namespace bandana::lab
