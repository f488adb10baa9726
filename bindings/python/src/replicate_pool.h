#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/spec.h"

namespace bandana::python {

/// Processes, forked from this one, that run replicates of a spec. Parts of a spec that are written in Python
/// work in them, classes of a notebook included, and none waits for the interpreter's lock of another.
class ReplicatePool {
 public:
  /// Forks `processes` processes. The interpreter's lock must be held. `spec` must outlive the pool.
  static absl::StatusOr<std::unique_ptr<ReplicatePool>> Fork(const lab::Spec& spec, int processes);
  ~ReplicatePool();
  ReplicatePool(const ReplicatePool&) = delete;
  ReplicatePool& operator=(const ReplicatePool&) = delete;

  /// Runs a replicate in a process that has nothing to do. At most as many threads as there are processes may
  /// call it at once, without the interpreter's lock. Ends with kCancelled soon after `stop` turns true.
  absl::StatusOr<std::vector<Checkpoint>> Run(std::size_t point, std::uint32_t replicate,
                                              const std::atomic<bool>& stop);

 private:
  struct Worker {
    pid_t pid = 0;
    int socket = -1;
  };
  ReplicatePool() = default;

  std::mutex mutex_;
  std::vector<Worker> workers_;
  std::vector<Worker> free_;
};

}  // namespace bandana::python
