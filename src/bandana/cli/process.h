#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace bandana::cli {

/// A child process, in a process group of its own: a Ctrl-C on the terminal is its parent's to handle. It
/// ends with its owner (and, through DieWithParent, with its parent, however that dies); its standard output
/// may be read line by line.
class ChildProcess {
 public:
  enum class Output { kInherit, kPipe, kDiscard };

  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& arguments, Output output);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  /// The next line of a piped output, without its end; false at the end of the output. While there is none,
  /// `keep_waiting` is asked every tenth of a second; false ends the wait.
  bool ReadLine(std::string& line, absl::FunctionRef<bool()> keep_waiting);

  /// How it ended, if it has: the exit code, or 128 + the signal that ended it.
  std::optional<int> Ended();

  /// Waits for the end.
  int Wait();

  /// SIGTERM.
  void Stop() const;

 private:
  ChildProcess(int pid, int pipe) : pid_(pid), pipe_(pipe) {}
  int pid_;  // -1: ended, or moved from
  int pipe_;
  std::optional<int> exit_code_;
  std::string pending_;
};

/// In a child that a ChildProcess started: asks the kernel for SIGTERM when the parent is gone. Elsewhere
/// nothing.
void DieWithParent();

}  // namespace bandana::cli
