#pragma once

#include <atomic>
#include <cstddef>

namespace bandana {

/// How far a run is. Any thread may read it while the run goes on.
struct RunProgress {
  std::atomic<std::size_t> done = 0;   ///< replicates that are finished
  std::atomic<std::size_t> total = 0;  ///< replicates of all points; 0: the run has not begun
};

}  // namespace bandana
