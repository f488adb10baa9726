#include "bandana/cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "fmt/format.h"

extern char** environ;

namespace bandana::cli {
namespace {

constexpr char kParentVariable[] = "BANDANA_PARENT";
constexpr auto kGrace = std::chrono::seconds(3);
constexpr auto kPause = std::chrono::milliseconds(10);
constexpr int kAskEveryMs = 100;

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(const std::vector<std::string>& arguments, Output output) {
  std::array<int, 2> ends = {-1, -1};
  if (output == Output::kPipe && pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::UnavailableError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == Output::kPipe) posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (output == Output::kDiscard) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const std::string parent = fmt::format("{}={}", kParentVariable, getpid());
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(const_cast<char*>(parent.c_str()));
  environment.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (ends[1] >= 0) close(ends[1]);
  if (error != 0) {
    if (ends[0] >= 0) close(ends[0]);
    return absl::UnavailableError(
        fmt::format("{} cannot be started: {}", arguments[0], std::strerror(error)));
  }
  return ChildProcess(pid, ends[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pipe_(std::exchange(other.pipe_, -1)),
      exit_code_(other.exit_code_),
      pending_(std::move(other.pending_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    Stop();
    const auto end = std::chrono::steady_clock::now() + kGrace;
    while (!Ended().has_value()) {
      if (std::chrono::steady_clock::now() > end) kill(pid_, SIGKILL);
      std::this_thread::sleep_for(kPause);
    }
  }
  if (pipe_ >= 0) close(pipe_);
}

bool ChildProcess::ReadLine(std::string& line, absl::FunctionRef<bool()> keep_waiting) {
  while (true) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return true;
    }
    pollfd readable = {.fd = pipe_, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, kAskEveryMs) <= 0) {
      if (!keep_waiting()) return false;
      continue;
    }
    std::array<char, 65536> buffer;
    const ssize_t got = read(pipe_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::optional<int> ChildProcess::Ended() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return exit_code_;
}

int ChildProcess::Wait() {
  while (!Ended().has_value()) std::this_thread::sleep_for(kPause);
  return *exit_code_;
}

void ChildProcess::Stop() const {
  if (pid_ > 0) kill(pid_, SIGTERM);
}

void ChildProcess::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
  Wait();
}

void DieWithParent() {
  const char* parent = std::getenv(kParentVariable);
  if (parent == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(getppid()) != parent) std::raise(SIGTERM);  // the parent ended before the call
}

}  // namespace bandana::cli
