#pragma once

#include "bandana/lab/settings.h"
#include "bandana/service/limits.h"

namespace bandana::cli {

/// Returns the limits that [service] sets, and the defaults of the others.
service::Limits LimitsOf(const lab::Settings& service);

}  // namespace bandana::cli
