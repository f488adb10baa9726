#pragma once

#include <string>

#include "bandana/lab/summary.h"

namespace bandana::lab {

/// One self-contained page. `data` is the contract of web/README.md: summary, spec, command, swept, and what
/// else there is.
std::string RenderReport(const Json& data);

}  // namespace bandana::lab
