#pragma once

#include "bandana/lab/judge/claim.h"
#include "bandana/lab/judge/findings.h"
#include "bandana/lab/judge/verdict.h"

namespace bandana::lab {

/// Compares a claim with a run. docs/exhibits.md says when a claim of each kind holds. "Clearly" means by at
/// least kClear standard errors of the paired difference.
Verdict Judge(const PaperClaim& claim, const Findings& findings);

}  // namespace bandana::lab
