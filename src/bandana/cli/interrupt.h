#pragma once

#include <atomic>

namespace bandana::cli {

/// Turns true at the first Ctrl-C or SIGTERM after InstallInterrupt; a second one ends the program at once.
const std::atomic<bool>& Interrupted();
void InstallInterrupt();

}  // namespace bandana::cli
