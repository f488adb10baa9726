#pragma once

#include <string>

#include "bandana/audit/auditor.h"
#include "bandana/audit/catalog.h"
#include "bandana/lab/summary.h"

/// The JSON of `bandana audit` and of bandana.audit in Python.
namespace bandana::lab {

Json ToJson(const audit::Entry& entry);
Json ToJson(const audit::Finding& finding);

/// Returns why the target's claim is known to fail; empty if it is not.
std::string WhyItFails(const audit::Finding& finding);

}  // namespace bandana::lab
