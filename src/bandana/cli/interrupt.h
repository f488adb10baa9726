#pragma once

#include <atomic>

namespace bandana::cli {

/// Returns a flag that turns true at the first Ctrl-C or SIGTERM after InstallInterrupt. A second signal ends
/// the program at once.
const std::atomic<bool>& Interrupted();
void InstallInterrupt();

}  // namespace bandana::cli
