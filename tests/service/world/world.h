#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "bandana/core/sha256.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/service/journal.h"
#include "bandana/service/machine.h"
#include "bandana/service/runtime.h"
#include "bandana/store/memory_store.h"
#include "fmt/format.h"

/// A deployment in one thread, with a clock, a network and disks of its own. Everything that happens follows
/// from one seed and a list of faults.
namespace bandana::service {

/// The roles of a process and its machine, as a program makes them each time it starts.
class Actor {
 public:
  virtual ~Actor() = default;
  virtual Machine& machine() = 0;
};

/// One thing that goes wrong.
struct Fault {
  enum class Kind : std::uint8_t {
    kCrash,        ///< the process ends at once
    kCrashBefore,  ///< it ends in one of its next commits, which is lost
    kCrashAfter,   ///< it ends in one of its next commits, which is durable
    kCut,          ///< a connection is lost, with all that is on its way
    kZombie,       ///< a second process starts while the first still runs
    kJump,         ///< the clock jumps ahead
    kCount
  };
  std::uint32_t after = 0;  ///< so many operations after the fault before
  Kind kind = Kind::kCrash;
  std::uint32_t whom = 0;   ///< which process or connection
  std::uint32_t which = 0;  ///< which of its commits; or how far the clock jumps
};

inline void showValue(const Fault& fault, std::ostream& out) {
  static constexpr const char* kNames[] = {
      "crash", "crash before a commit", "crash after a commit", "cut", "zombie", "jump"};
  out << "{" << fault.after << ", " << kNames[static_cast<int>(fault.kind)] << ", " << fault.whom << ", "
      << fault.which << "}";
}

class SimulatedWorld {
 public:
  struct ProcessSpec {
    std::function<std::unique_ptr<Actor>()> make;
    Runtime::Params runtime;
    LedgerHeader header;
    bool sends_early = false;
    /// Stands between a process and its disk: where a test plants a fault.
    std::function<std::unique_ptr<store::Store>(store::Store& disk)> wrap = nullptr;
  };

  explicit SimulatedWorld(std::uint64_t seed) : random_(seed) {}
  ~SimulatedWorld() {
    for (auto& [name, process] : processes_) process.alive.clear();
  }
  SimulatedWorld(const SimulatedWorld&) = delete;
  SimulatedWorld& operator=(const SimulatedWorld&) = delete;

  void Add(ProcessSpec spec) {
    const std::string name = spec.runtime.self;
    processes_.try_emplace(name, std::move(spec));
  }

  /// Runs until all processes are done. Returns what is wrong; empty if nothing is.
  std::string Run(const std::vector<Fault>& faults, std::uint64_t most_operations = 2'000'000) {
    std::size_t next = 0;
    std::uint64_t due = faults.empty() ? 0 : faults.front().after;
    for (operations_ = 0; operations_ < most_operations && wrong_.empty(); ++operations_) {
      while (next < faults.size() && operations_ >= due) {
        Plant(faults[next]);
        if (++next < faults.size()) due = operations_ + faults[next].after;
      }
      if (!Advance()) break;
    }
    if (!wrong_.empty()) return wrong_;
    for (const auto& [name, process] : processes_) {
      if (!process.done) return fmt::format("{} is not done after {} operations", name, operations_);
    }
    return "";
  }

  std::uint64_t operations() const { return operations_; }
  std::uint64_t crashes() const { return crashes_; }

  /// Returns how a process has ended.
  const absl::Status& result(const std::string& name) const { return processes_.at(name).result; }
  store::MemoryDisk& disk(const std::string& name) { return processes_.at(name).disk; }
  /// Is called with the roles of a process when its run is over.
  std::function<void(const std::string& name, Actor&)> on_done;

 private:
  struct Alive;
  struct Process;
  struct End {
    std::string name;
    Alive* owner = nullptr;  // null: it hears nothing more of the connection
    std::deque<v1::Frame> inbox = {};
    bool broken = false;  // nothing more arrives
  };
  struct Connection {
    std::array<End, 2> ends;  // the dialer's first
  };

  struct Alive final : Carrier {
    Alive(SimulatedWorld& of, Process& in, std::string name, store::MemoryDisk& disk)
        : world(of), process(in), self_name(std::move(name)), memory(disk) {}

    SimulatedWorld& world;
    Process& process;
    std::string self_name;
    store::MemoryStore memory;
    std::unique_ptr<store::Store> wrapped;
    std::unique_ptr<Actor> actor;
    std::unique_ptr<Journal> journal;
    std::unique_ptr<Runtime> runtime;

    void Send(ConnectionId id, v1::Frame frame) override {
      const auto it = world.connections_.find(id);
      if (it == world.connections_.end()) return;
      const int self = it->second.ends[0].owner == this ? 0 : 1;
      if (it->second.ends[self].owner != this) return;
      End& other = it->second.ends[1 - self];
      if (frame.has_data()) world.Record(self_name, other.name, frame.data());
      if (!other.broken && other.owner != nullptr) other.inbox.push_back(std::move(frame));
    }
    void Close(ConnectionId id, v1::Frame frame) override {
      Send(id, std::move(frame));
      const auto it = world.connections_.find(id);
      if (it == world.connections_.end()) return;
      for (int self : {0, 1}) {
        if (it->second.ends[self].owner != this) continue;
        it->second.ends[self].owner = nullptr;
        it->second.ends[1 - self].broken = true;
      }
    }
    bool stale = false;  // a newer process uses the store
    bool dirty = true;   // something has happened since the last step
  };

  struct Process {
    explicit Process(ProcessSpec of) : spec(std::move(of)), disk(spec.runtime.self) {}
    ProcessSpec spec;
    store::MemoryDisk disk;
    store::Ratchet ratchet = store::Ratchet::InMemory();
    std::vector<std::unique_ptr<Alive>> alive;  // the last one is the newest
    absl::Time back_at;                         // it starts again
    bool done = false;
    absl::Status result;

    Alive* current() const { return alive.empty() || alive.back()->stale ? nullptr : alive.back().get(); }
  };

  std::uint64_t Below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }

  // A numbered message never changes, whatever happens between two times that it is sent.
  void Record(const std::string& from, const std::string& to, const v1::Data& data) {
    const auto [it, is_new] = sent_.try_emplace({from, to, data.seq()}, Sha256(data.body()));
    if (!is_new && it->second != Sha256(data.body())) {
      wrong_ = fmt::format("message {} from {} to {} has changed", data.seq(), from, to);
    }
  }

  void Start(Process& process) {
    for (const auto& each : process.alive) each->stale = true;
    auto alive = std::make_unique<Alive>(*this, process, process.spec.runtime.self, process.disk);
    const std::vector<store::Run> runs = *alive->memory.Runs();
    if (!runs.empty() && runs.back().state != store::RunState::kOpen) {  // it was killed after its very end
      process.done = true;
      return;
    }
    alive->actor = process.spec.make();
    store::Store* store = &alive->memory;
    if (process.spec.wrap) {
      alive->wrapped = process.spec.wrap(alive->memory);
      store = alive->wrapped.get();
    }
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        Journal::Open({.storage = {store, &process.ratchet},
                       .header = process.spec.header,
                       .spec = process.spec.runtime.digest,
                       .program = "test",
                       .sends_early = process.spec.sends_early},
                      alive->actor->machine());
    if (!journal.ok()) {
      wrong_ =
          fmt::format("{} cannot be started: {}", process.spec.runtime.self, journal.status().ToString());
      return;
    }
    alive->journal = *std::move(journal);
    alive->runtime =
        std::make_unique<Runtime>(process.spec.runtime, *alive->journal, alive->actor->machine(), *alive);
    Alive& started = *process.alive.emplace_back(std::move(alive));
    After(started, started.runtime->Start(now_));
  }

  // Looks at what a call has returned: the process may have ended.
  void After(Alive& alive, const absl::Status& status) {
    Process& process = alive.process;
    if (status.ok() && !alive.runtime->done()) return;
    if (status.ok()) {
      process.done = true;
      process.result = alive.actor->machine().result();
      if (on_done) on_done(process.spec.runtime.self, *alive.actor);
      return Bury(alive);
    }
    const bool planned = absl::StrContains(status.message(), "the process ends in commit") || alive.stale;
    if (!planned) wrong_ = fmt::format("{} has ended: {}", process.spec.runtime.self, status.ToString());
    Kill(alive);
  }

  void Kill(Alive& alive) {
    ++crashes_;
    Process& process = alive.process;
    process.back_at = now_ + absl::Milliseconds(static_cast<std::int64_t>(Below(50)));
    Bury(alive);
  }

  void Bury(Alive& alive) {
    for (auto& [id, connection] : connections_) {
      for (int self : {0, 1}) {
        if (connection.ends[self].owner != &alive) continue;
        connection.ends[self].owner = nullptr;
        connection.ends[1 - self].broken = true;  // what is on its way still arrives
      }
    }
    std::erase_if(alive.process.alive, [&](const auto& each) { return each.get() == &alive; });
  }

  void Plant(const Fault& fault) {
    std::vector<Process*> running;
    for (auto& [name, process] : processes_) {
      if (process.current() != nullptr) running.push_back(&process);
    }
    if (fault.kind == Fault::Kind::kJump) {
      now_ += absl::Milliseconds(fault.which % 60'000);
      return;
    }
    if (fault.kind == Fault::Kind::kCut) {
      if (connections_.empty()) return;
      auto it = connections_.begin();
      std::advance(it, fault.whom % connections_.size());
      for (End& end : it->second.ends) {
        end.inbox.clear();
        end.broken = true;
      }
      return;
    }
    if (running.empty()) return;
    Process& process = *running[fault.whom % running.size()];
    switch (fault.kind) {
      case Fault::Kind::kCrash:
        return Kill(*process.current());
      case Fault::Kind::kCrashBefore:
      case Fault::Kind::kCrashAfter: {
        const std::uint64_t commit = process.disk.commits() + fault.which % 4;
        process.disk.CrashAt(commit, fault.kind == Fault::Kind::kCrashBefore
                                         ? store::MemoryDisk::Crash::kBefore
                                         : store::MemoryDisk::Crash::kAfter);
        return;
      }
      case Fault::Kind::kZombie:
        return Start(process);
      default:
        return;
    }
  }

  // Does one thing that can happen now. Returns false if all is done.
  bool Advance() {
    actions_.clear();
    for (auto& [name, process] : processes_) {
      if (process.done) continue;
      if (process.current() == nullptr && now_ >= process.back_at) {
        actions_.push_back([this, at = &process] { Start(*at); });
      }
      for (const auto& alive : process.alive) AddStep(*alive);
      if (process.current() != nullptr) AddDials(*process.current());
    }
    for (auto& [id, connection] : connections_) {
      for (int self : {0, 1}) AddDelivery(id, connection, self);
    }
    if (!actions_.empty()) {
      actions_[Below(actions_.size())]();
      Sweep();
      return true;
    }
    for (auto& [name, process] : processes_) {
      if (process.alive.empty() || !process.alive.front()->stale) continue;
      Bury(*process.alive.front());  // nobody leaves a stale process running for good
      return true;
    }
    absl::Time next = absl::InfiniteFuture();
    for (auto& [name, process] : processes_) {
      if (process.done) continue;
      if (process.current() == nullptr) next = std::min(next, process.back_at);
      for (const auto& alive : process.alive) next = std::min(next, alive->runtime->NextWake(now_));
    }
    for (const auto& [pair, time] : dial_at_) {
      if (time > now_) next = std::min(next, time);
    }
    if (next == absl::InfiniteFuture()) return false;
    now_ = std::max(now_, next);
    return true;
  }

  void AddStep(Alive& alive) {
    if (!alive.dirty && alive.runtime->NextWake(now_) > now_) return;
    actions_.push_back([this, at = &alive] {
      at->dirty = false;
      After(*at, at->runtime->Step(now_));
    });
  }

  void AddDials(Alive& alive) {
    const std::string& self = alive.process.spec.runtime.self;
    for (const auto& [link, partner] : alive.process.spec.runtime.partners) {
      if (!partner.dialed) continue;
      const auto other = processes_.find(link);
      if (other == processes_.end() || other->second.current() == nullptr) continue;
      const bool is_open = std::any_of(connections_.begin(), connections_.end(), [&](const auto& each) {
        return each.second.ends[0].owner == &alive && each.second.ends[1].name == link;
      });
      if (is_open || now_ < dial_at_[{self, link}]) continue;
      actions_.push_back([this, at = &alive, to = other->second.current(), self, link = link] {
        const ConnectionId id = ++last_connection_;
        dial_at_[{self, link}] = now_ + absl::Milliseconds(10);
        connections_[id] = {{End{self, at}, End{link, to}}};
        at->runtime->Dialed(id, link, now_);
        to->runtime->Accepted(id, now_);
        at->dirty = to->dirty = true;
      });
    }
  }

  void AddDelivery(ConnectionId id, Connection& connection, int self) {
    End& end = connection.ends[self];
    if (end.owner == nullptr || (end.inbox.empty() && !end.broken)) return;
    actions_.push_back([this, id, at = &connection, self] { Deliver(id, *at, self); });
  }

  void Deliver(ConnectionId id, Connection& connection, int self) {
    End& end = connection.ends[self];
    Alive& alive = *end.owner;
    alive.dirty = true;
    if (end.inbox.empty()) {
      end.owner = nullptr;
      connection.ends[1 - self].broken = true;
      alive.runtime->Disconnected(id, "the connection was lost", now_);
      return;
    }
    v1::Frame frame = std::move(end.inbox.front());
    end.inbox.pop_front();
    absl::StatusOr<std::unique_ptr<Machine::Input>> input = std::unique_ptr<Machine::Input>();
    const std::string& from = connection.ends[1 - self].name;
    if (frame.has_data()) input = alive.actor->machine().Read(from, frame.data().body());
    After(alive, alive.runtime->Receive(id, std::move(frame), from, std::move(input), now_));
  }

  void Sweep() {
    std::erase_if(connections_, [](const auto& each) {
      return each.second.ends[0].owner == nullptr && each.second.ends[1].owner == nullptr;
    });
  }

  std::mt19937_64 random_;
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1'000'000);
  std::map<std::string, Process> processes_;
  std::map<ConnectionId, Connection> connections_;
  ConnectionId last_connection_ = 0;
  std::map<std::pair<std::string, std::string>, absl::Time> dial_at_;  // not before
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::string> sent_;
  std::vector<std::function<void()>> actions_;
  std::uint64_t operations_ = 0;
  std::uint64_t crashes_ = 0;
  std::string wrong_;
};

}  // namespace bandana::service
