#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/live_machine.h"
#include "bandana/service/process.h"
#include "proto/live.pb.h"

namespace bandana::service {

/// Takes questions from the threads that serve people to the one thread that runs a live machine. A question
/// is answered once everything that the answer follows from is durable.
class LiveDesk {
 public:
  LiveDesk();
  LiveDesk(const LiveDesk&) = delete;
  LiveDesk& operator=(const LiveDesk&) = delete;

  /// Asks and waits for the answer. For any thread. Fails with kInvalidArgument if the event has no meaning,
  /// kResourceExhausted if too many wait, and kUnavailable if the server ends or has not begun.
  absl::StatusOr<LiveReply> Ask(v1::LiveEvent event);

  /// Returns the latest status that is durable.
  LiveStatus status() const;

  /// The machine calls these.
  void Answer(std::uint64_t request, LiveReply reply);
  void SetStatus(LiveStatus status);

  /// Returns the inputs of a process that runs `machine`, which must outlive them.
  LocalInputs InputsFor(const LiveMachine& machine);

  /// From now on nobody is answered.
  void Close();

 private:
  static constexpr std::size_t kMostWaiting = 4096;

  struct Caller {
    v1::LiveEvent event;
    absl::StatusOr<LiveReply> reply = LiveReply();
    bool done = false;
  };

  std::vector<std::string> Take(const LiveMachine& machine, absl::Time now);

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  const LiveMachine* machine_ = nullptr;
  std::function<void()> wake_;
  bool closed_ = false;
  std::uint64_t last_request_ = 0;
  std::vector<std::uint64_t> new_;            // that the machine has not seen
  std::map<std::uint64_t, Caller*> waiting_;  // by request; they live on the callers' stacks
  LiveStatus latest_;
};

}  // namespace bandana::service
