#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace bandana::lab {

/// Writes progress to stderr. On a terminal it draws a bar with the rate and the time left; elsewhere it
/// prints a line every few seconds. If `quiet`, it writes nothing.
class Progress {
 public:
  Progress(std::string what, std::size_t total, std::size_t done, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(std::size_t done);

 private:
  using Clock = std::chrono::steady_clock;
  void Draw();

  std::string what_;
  std::size_t total_;
  std::size_t start_;
  std::size_t done_;
  bool quiet_;
  bool terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_;
};

}  // namespace bandana::lab
