#pragma once

#include <string>
#include <vector>

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

  /// The next line of a piped output, without its end; false at the end of the output, or after
  /// Interrupted().
  bool ReadLine(std::string& line);

  /// Waits for the end: the exit code, or 128 + the signal that ended it.
  int Wait();

  /// SIGTERM.
  void Stop() const;

 private:
  ChildProcess(int pid, int pipe) : pid_(pid), pipe_(pipe) {}
  int pid_;
  int pipe_;
  std::string pending_;
};

/// In a child that a ChildProcess started: asks the kernel for SIGTERM when the parent is gone. Elsewhere
/// nothing.
void DieWithParent();

}  // namespace bandana::cli
