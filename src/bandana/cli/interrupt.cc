#include "bandana/cli/interrupt.h"

#include <csignal>

namespace bandana::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnSignal(int) { interrupted = true; }

}  // namespace

const std::atomic<bool>& Interrupted() { return interrupted; }

void InstallInterrupt() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // SA_RESTART is not set, so that a blocked read returns. SA_RESETHAND gives the second signal its default
  // effect.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace bandana::cli
