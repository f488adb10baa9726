#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace bandana::cli {

/// A child process. It is in its own process group, so that a Ctrl-C on the terminal reaches only the parent.
/// The destructor ends it; with DieWithParent it also ends if the parent dies in any way. Its standard output
/// can be read line by line.
class ChildProcess {
 public:
  enum class Output { kPipe, kDiscard };

  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& arguments, Output output);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  /// Reads the next line of a piped output, without its line end. Returns false at the end of the output.
  /// While it waits, it calls `keep_waiting` every tenth of a second, and returns false if that does.
  bool ReadLine(std::string& line, absl::FunctionRef<bool()> keep_waiting);

  /// Returns the exit code, or 128 + the signal that ended the process; empty while it runs.
  std::optional<int> Ended();

  /// Waits until the process has ended and returns what Ended returns.
  int Wait();

  /// Sends SIGTERM.
  void Stop() const;
  /// Sends SIGKILL, and waits until the process has ended.
  void Kill();

 private:
  ChildProcess(int pid, int pipe) : pid_(pid), pipe_(pipe) {}
  int pid_;  // -1 if the process has ended or this object was moved from
  int pipe_;
  std::optional<int> exit_code_;
  std::string pending_;
};

/// Asks the kernel to send SIGTERM to this process when its parent ends. Does nothing in a process that
/// ChildProcess did not start.
void DieWithParent();

}  // namespace bandana::cli
