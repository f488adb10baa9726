#include "bandana/service/process.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "bandana/config.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/service/grpc_carrier.h"
#include "bandana/service/journal.h"
#include "bandana/store/memory_store.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr std::size_t kMostEvents = 1024;  // that are handled before the next step

// The time, as far as a process sees it: it never goes back.
class Clock {
 public:
  absl::Time Now() const { return began_ + absl::FromChrono(std::chrono::steady_clock::now() - steady_); }
  absl::Duration elapsed() const { return Now() - began_; }

 private:
  absl::Time began_ = absl::Now();
  std::chrono::steady_clock::time_point steady_ = std::chrono::steady_clock::now();
};

std::string RoleOf(const std::string& name) { return name.substr(0, name.find('/')); }

// A run that nobody keeps.
struct Volatile {
  store::MemoryDisk disk{"memory"};
  std::optional<store::MemoryStore> store;
  store::Ratchet ratchet = store::Ratchet::InMemory();
};

class Process {
 public:
  Process(const ProcessParams& params, Journal& journal, Runtime& runtime, GrpcCarrier& carrier)
      : params_(params), journal_(journal), runtime_(runtime), carrier_(carrier) {}

  absl::Status Run() {
    BANDANA_RETURN_IF_ERROR(runtime_.Start(clock_.Now()));
    while (!runtime_.done()) {
      TellRun();
      if (params_.stop.stop_requested())
        return absl::CancelledError(fmt::format("the {} was stopped", RoleOf(params_.runtime.self)));
      BANDANA_RETURN_IF_ERROR(runtime_.Step(clock_.Now()));
      if (runtime_.done()) break;
      absl::Time wake = runtime_.NextWake(clock_.Now());
      if (params_.local.due) wake = std::min(wake, params_.local.due());
      const absl::Duration idle = wake - clock_.Now();
      for (GrpcCarrier::Event& event : carrier_.Wait(absl::Now() + idle, kMostEvents)) {
        BANDANA_RETURN_IF_ERROR(Handle(std::move(event)));
      }
      if (!params_.local.take) continue;
      for (std::string& body : params_.local.take(clock_.Now())) {
        BANDANA_RETURN_IF_ERROR(runtime_.TakeLocal(params_.local.link, std::move(body), clock_.Now()));
      }
    }
    return absl::OkStatus();
  }

  double seconds() const { return absl::ToDoubleSeconds(clock_.elapsed()); }

 private:
  absl::Status Handle(GrpcCarrier::Event event) {
    const absl::Time now = clock_.Now();
    switch (event.kind) {
      case GrpcCarrier::Event::Kind::kDialed:
        runtime_.Dialed(event.connection, event.link, now);
        return absl::OkStatus();
      case GrpcCarrier::Event::Kind::kAccepted:
        runtime_.Accepted(event.connection, now);
        return absl::OkStatus();
      case GrpcCarrier::Event::Kind::kNotReached:
        runtime_.NotReached(event.link, event.why);
        if (std::exchange(unreachable_[event.link], event.why) != event.why) {
          Tell({LogEvent::Level::kWarn, "unreachable", event.link, event.why});
        }
        return absl::OkStatus();
      case GrpcCarrier::Event::Kind::kDisconnected:
        runtime_.Disconnected(event.connection, event.why, now);
        TellConnections();
        return absl::OkStatus();
      case GrpcCarrier::Event::Kind::kFrame:
        break;
    }
    const bool is_data = event.frame.has_data();
    BANDANA_RETURN_IF_ERROR(
        runtime_.Receive(event.connection, std::move(event.frame), event.party, std::move(event.input), now));
    if (!is_data) TellConnections();
    return absl::OkStatus();
  }

  void TellConnections() {
    if (!params_.deployed.on_event) return;
    TellRun();
    std::set<std::string> connected = runtime_.connected();
    for (const std::string& link : connected) {
      if (!connected_.contains(link)) Tell({LogEvent::Level::kInfo, "connected", link});
    }
    for (const std::string& link : connected_) {
      if (connected.contains(link)) continue;
      Tell({LogEvent::Level::kWarn, "disconnected", link, runtime_.WhyAway(link)});
    }
    connected_ = std::move(connected);
  }

  void TellRun() {
    if (has_told_run_ || journal_.run().empty()) return;
    has_told_run_ = true;
    Tell({.event = journal_.recovered() ? "recovered" : "begun", .run = store::RunName(journal_.run())});
  }

  void Tell(const LogEvent& event) {
    if (params_.deployed.on_event) params_.deployed.on_event(event);
  }

  const ProcessParams& params_;
  Journal& journal_;
  Runtime& runtime_;
  GrpcCarrier& carrier_;
  Clock clock_;
  bool has_told_run_ = false;
  std::set<std::string> connected_;
  std::map<std::string, std::string> unreachable_;  // why
};

}  // namespace

absl::StatusOr<ProcessReport> RunProcess(ProcessParams params, Machine& machine) {
  Volatile memory;
  Deployed& deployed = params.deployed;
  params.runtime.comes_back = deployed.comes_back;
  params.runtime.silence = deployed.comes_back ? deployed.silence : absl::ZeroDuration();
  if (deployed.comes_back) params.runtime.linger = deployed.silence;
  params.runtime.first_message = deployed.limits.first_message;
  if (deployed.storage.store == nullptr) {
    memory.store.emplace(memory.disk);
    deployed.storage = {&*memory.store, &memory.ratchet};
    deployed.header.deployment = "memory";
    deployed.header.configuration = Sha256(params.runtime.digest);
    deployed.header.limits = {.per_unit = {params.budget.epsilon, params.budget.delta}};
  }
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                           Journal::Open({.storage = deployed.storage,
                                          .header = deployed.header,
                                          .spec = params.runtime.digest,
                                          .program = Version(),
                                          .sends_early = params.sends_early},
                                         machine));
  GrpcCarrier::Params wire{.listen = params.listen,
                           .dial = params.dial,
                           .keys = deployed.keys,
                           .limits = deployed.limits,
                           .renews = deployed.comes_back,
                           .recheck = deployed.recheck,
                           .on_event = deployed.on_event};
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<GrpcCarrier> carrier,
                           GrpcCarrier::Open(std::move(wire), machine));
  if (params.on_listening) params.on_listening(carrier->address());
  Runtime runtime(params.runtime, *journal, machine, *carrier);
  const std::stop_callback wake(params.stop, [&] { carrier->Wake(); });
  Process process(params, *journal, runtime, *carrier);
  if (params.local.on_start) params.local.on_start([&] { carrier->Wake(); });
  const absl::Status status = process.Run();
  if (params.local.on_end) params.local.on_end();
  if (!status.ok()) runtime.Leave(status);
  carrier->Shutdown();
  BANDANA_RETURN_IF_ERROR(status);
  BANDANA_RETURN_IF_ERROR(machine.result());
  const auto& largest = journal->ledger().accounts().largest();
  return ProcessReport{
      journal->bytes_in(), journal->bytes_out(), process.seconds(), {largest.amount, largest.delta}};
}

}  // namespace bandana::service
