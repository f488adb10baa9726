#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace bandana::cli {

/// A child process. It is killed with its owner; its standard output may be read line by line.
class ChildProcess {
 public:
  enum class Output { kInherit, kPipe, kDiscard };

  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& arguments, Output output);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  /// The next line of a piped output, without its end; false at the end of the output.
  bool ReadLine(std::string& line);

  /// Waits for the end: the exit code, or 128 + the signal that ended it.
  int Wait();

  /// SIGTERM.
  void Stop();

 private:
  ChildProcess(int pid, int pipe) : pid_(pid), pipe_(pipe) {}
  int pid_;
  int pipe_;
  std::string pending_;
};

}  // namespace bandana::cli
