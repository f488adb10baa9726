#include "bandana/service/live_desk.h"

#include <cstring>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/store/seal.h"
#include "fmt/format.h"

namespace bandana::service {

// After a crash, the answers to an earlier process's requests are made again. They must not reach anybody who
// waits now, so numbers begin anywhere.
LiveDesk::LiveDesk() {
  const store::Key random = store::RandomKey();
  std::memcpy(&last_request_, random.data(), sizeof(last_request_));
  last_request_ >>= 1;
}

absl::StatusOr<LiveReply> LiveDesk::Ask(v1::LiveEvent event) {
  Caller caller{.event = std::move(event)};
  std::unique_lock lock(mutex_);
  if (closed_ || machine_ == nullptr)
    return absl::UnavailableError("the server is not ready: try again later");
  if (waiting_.size() >= kMostWaiting) {
    return absl::ResourceExhaustedError("too many requests wait: try again later");
  }
  BANDANA_RETURN_IF_ERROR(machine_->Read(kPeopleLink, caller.event.SerializeAsString()).status());
  const std::uint64_t request = ++last_request_;
  caller.event.set_request(request);
  waiting_[request] = &caller;
  new_.push_back(request);
  wake_();
  answered_.wait(lock, [&] { return caller.done; });
  return std::move(caller.reply);
}

LiveStatus LiveDesk::status() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void LiveDesk::Answer(std::uint64_t request, LiveReply reply) {
  const std::lock_guard lock(mutex_);
  const auto caller = waiting_.find(request);
  if (caller == waiting_.end()) return;  // an earlier process was asked
  caller->second->reply = std::move(reply);
  caller->second->done = true;
  waiting_.erase(caller);
  answered_.notify_all();
}

void LiveDesk::SetStatus(LiveStatus status) {
  const std::lock_guard lock(mutex_);
  latest_ = std::move(status);
}

// Called by the thread that runs the machine.
std::vector<std::string> LiveDesk::Take(const LiveMachine& machine, absl::Time now) {
  std::vector<std::string> bodies;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t request : std::exchange(new_, {})) {
    Caller& caller = *waiting_.at(request);
    LiveReply reply;
    for (const std::string& subject : caller.event.decide().subject()) {
      const std::optional<LiveDecision> decision = machine.FreeDecision(subject);
      if (!decision) break;
      reply.decisions.push_back(*decision);
    }
    const int asked = caller.event.decide().subject_size();
    if (asked > 0 && reply.decisions.size() == static_cast<std::size_t>(asked)) {
      caller.reply = std::move(reply);  // nothing changes, so nothing has to be durable
      caller.done = true;
      waiting_.erase(request);
      answered_.notify_all();
      continue;
    }
    caller.event.set_time(absl::ToUnixMicros(now));
    bodies.push_back(caller.event.SerializeAsString());
  }
  if (bodies.empty() && machine.due() <= now) {
    v1::LiveEvent tick;
    tick.set_time(absl::ToUnixMicros(now));
    tick.mutable_tick();
    bodies.push_back(tick.SerializeAsString());
  }
  return bodies;
}

LocalInputs LiveDesk::InputsFor(const LiveMachine& machine) {
  return {.link = kPeopleLink,
          .take = [this, &machine](absl::Time now) { return Take(machine, now); },
          .due = [&machine] { return machine.due(); },
          .on_start =
              [this, &machine](std::function<void()> wake) {
                const std::lock_guard lock(mutex_);
                machine_ = &machine;
                wake_ = std::move(wake);
              },
          .on_end = [this] { Close(); }};
}

void LiveDesk::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& [request, caller] : waiting_) {
    caller->reply = absl::UnavailableError("the server ends: try again later");
    caller->done = true;
  }
  waiting_.clear();
  new_.clear();
  answered_.notify_all();
}

}  // namespace bandana::service
