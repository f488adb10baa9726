#include "replicate_pool.h"

#include <poll.h>
#include <pybind11/pybind11.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/summary.h"
#include "python_parts.h"

namespace bandana::python {
namespace {

namespace py = pybind11;
using lab::Json;

struct Task {
  std::uint64_t point;
  std::uint64_t replicate;
};

// Reads exactly `size` bytes. Returns false at the end of the stream.
bool ReadAll(int socket, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = read(socket, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool WriteAll(int socket, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t put = send(socket, at, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

Json ToJson(const absl::Status& status) {
  if (const auto input = InputErrorOf(status)) {
    return {{"message", input->message}, {"file", input->file},   {"line", input->line},
            {"key", input->key},         {"value", input->value}, {"accepted", input->accepted}};
  }
  return {{"code", static_cast<int>(status.code())}, {"message", std::string(status.message())}};
}

absl::Status StatusFrom(const Json& json) {
  const auto text = [&](const char* field) { return json[field].get<std::string>(); };
  if (!json.contains("code")) {
    return InvalidInput({text("message"), text("file"), json["line"].get<int>(), text("key"), text("value"),
                         text("accepted")});
  }
  return {static_cast<absl::StatusCode>(json["code"].get<int>()), text("message")};
}

Json ToJson(const std::vector<Checkpoint>& checkpoints) {
  Json json = Json::array();
  for (const Checkpoint& each : checkpoints) {
    json.push_back({each.t, each.regret, each.clients, each.reals, each.bits, each.rounds,
                    each.best_action_rate, each.series});
  }
  return json;
}

std::vector<Checkpoint> CheckpointsFrom(const Json& json) {
  std::vector<Checkpoint> checkpoints;
  for (const Json& each : json) {
    checkpoints.push_back({.t = each[0].get<Count>(),
                           .regret = each[1].get<double>(),
                           .clients = each[2].get<Count>(),
                           .reals = each[3].get<Count>(),
                           .bits = each[4].get<Count>(),
                           .rounds = each[5].get<Count>(),
                           .best_action_rate = each[6].get<double>(),
                           .series = each[7].get<std::map<std::string, double>>()});
  }
  return checkpoints;
}

// The life of a forked process: it answers until its socket is closed.
void Serve(const lab::Spec& spec, int socket) {
  const std::atomic<bool> never = false;
  Task task{};
  while (ReadAll(socket, &task, sizeof task)) {
    const lab::Point& point = spec.points[task.point];
    const absl::StatusOr<Outcome> outcome =
        lab::RunReplicate(point.settings, static_cast<std::uint32_t>(task.replicate), never);
    // A world in Python may have no other way to say that its class has failed.
    const absl::Status failure = PythonFailure();
    const Json answer = !failure.ok()  ? Json{{"error", ToJson(failure)}}
                        : outcome.ok() ? Json{{"checkpoints", ToJson(outcome->checkpoints)}}
                                       : Json{{"error", ToJson(outcome.status())}};
    const std::vector<std::uint8_t> bytes = Json::to_cbor(answer);
    const std::uint64_t size = bytes.size();
    if (!WriteAll(socket, &size, sizeof size) || !WriteAll(socket, bytes.data(), bytes.size())) return;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplicatePool>> ReplicatePool::Fork(const lab::Spec& spec, int processes) {
  std::unique_ptr<ReplicatePool> pool(new ReplicatePool);
  const pid_t parent = getpid();
  for (int i = 0; i < processes; ++i) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
      return absl::UnavailableError(std::string("no socket for a process: ") + std::strerror(errno));
    }
    PyOS_BeforeFork();
    const pid_t pid = fork();
    if (pid == 0) {
      PyOS_AfterFork_Child();
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(0);
      signal(SIGINT, SIG_IGN);  // Ctrl-C is for the parent, which ends this process
      {
        const py::gil_scoped_release release;
        Serve(spec, sockets[1]);
      }
      _exit(0);
    }
    PyOS_AfterFork_Parent();
    close(sockets[1]);
    if (pid < 0) {
      close(sockets[0]);
      return absl::UnavailableError(std::string("no process: ") + std::strerror(errno));
    }
    pool->workers_.push_back({pid, sockets[0]});
  }
  pool->free_ = pool->workers_;
  return pool;
}

ReplicatePool::~ReplicatePool() {
  for (const Worker& worker : workers_) {
    kill(worker.pid, SIGKILL);
    close(worker.socket);
  }
  for (const Worker& worker : workers_) {
    while (waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

absl::StatusOr<std::vector<Checkpoint>> ReplicatePool::Run(std::size_t point, std::uint32_t replicate,
                                                           const std::atomic<bool>& stop) {
  const absl::Status lost = absl::UnavailableError("a process that ran replicates has ended");
  Worker worker;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return lost;
    worker = free_.back();
    free_.pop_back();
  }
  const Task task{point, replicate};
  if (!WriteAll(worker.socket, &task, sizeof task)) return lost;
  pollfd wait{worker.socket, POLLIN, 0};
  constexpr int kMilliseconds = 20;
  while (poll(&wait, 1, kMilliseconds) <= 0) {
    if (stop) return absl::CancelledError("interrupted");  // the destructor ends the process
  }
  std::uint64_t size = 0;
  if (!ReadAll(worker.socket, &size, sizeof size)) return lost;
  std::vector<std::uint8_t> bytes(size);
  if (!ReadAll(worker.socket, bytes.data(), bytes.size())) return lost;
  const Json answer = Json::from_cbor(bytes);
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(worker);
  }
  if (answer.contains("error")) return StatusFrom(answer["error"]);
  return CheckpointsFrom(answer["checkpoints"]);
}

}  // namespace bandana::python
