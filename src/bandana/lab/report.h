#pragma once

#include <string>

#include "bandana/lab/summary.h"

namespace bandana::lab {

/// Returns one self-contained HTML page. web/README.md defines `data`: summary, spec, command, swept, and
/// optional parts.
std::string RenderReport(const Json& data);

}  // namespace bandana::lab
