#include "bandana/lab/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "fmt/format.h"

namespace bandana::lab {
namespace {

constexpr int kBarWidth = 30;
constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kLinePause = std::chrono::seconds(5);

std::string Duration(double seconds) {
  const auto whole = std::lround(seconds);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string what, std::size_t total, std::size_t done, bool quiet)
    : what_(std::move(what)),
      total_(total),
      start_(done),
      done_(done),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      last_(begin_) {}

Progress::~Progress() {
  if (quiet_) return;
  if (terminal_) {
    Draw();
    std::fputs("\n", stderr);
  }
}

void Progress::Update(std::size_t done) {
  done_ = done;
  const Clock::time_point now = Clock::now();
  if (quiet_ || now - last_ < (terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kLinePause)))
    return;
  last_ = now;
  Draw();
}

void Progress::Draw() {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_ - start_) / seconds : 0;
  std::string text = fmt::format("{}/{} {}", done_, total_, what_);
  if (rate > 0) {
    text += fmt::format(", {:.3g}/s", rate);
    if (done_ < total_)
      text += fmt::format(", {} left", Duration(static_cast<double>(total_ - done_) / rate));
  }
  if (terminal_) {
    const int filled = static_cast<int>(total_ == 0 ? kBarWidth : kBarWidth * done_ / total_);
    text = fmt::format("\r[{}{}] {}\x1b[K", std::string(filled, '#'), std::string(kBarWidth - filled, '.'),
                       text);
  } else {
    text += '\n';
  }
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace bandana::lab
