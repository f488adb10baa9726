#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/service/journal.h"
#include "bandana/service/machine.h"
#include "bandana/service/runtime.h"
#include "bandana/store/memory_store.h"
#include "fmt/format.h"
#include "tests/service/world/fault.h"
#include "tests/service/world/invariants.h"

/// A deployment in one thread, with a clock, a network and disks of its own. Everything that happens follows
/// from one seed and a list of faults.
namespace bandana::service {

/// The roles of a process and its machine, as a program makes them each time it starts.
class Actor {
 public:
  virtual ~Actor() = default;
  virtual Machine& machine() = 0;
};

class SimulatedWorld {
 public:
  /// The place where a process keeps its store.
  struct Place {
    std::string process;
    store::MemoryDisk& disk;
    store::Store& store;  ///< on this disk
    const store::Ratchet& ratchet;
  };
  /// Stands between a process and its disk: where a test plants a fault. Fails if the process must not start.
  using Wrap = std::function<absl::StatusOr<std::unique_ptr<store::Store>>(const Place&)>;

  struct ProcessSpec {
    std::function<std::unique_ptr<Actor>()> make;
    Runtime::Params runtime;
    LedgerHeader header;
    bool sends_early = false;
    Wrap wrap = nullptr;
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
    for (operations_ = 0; operations_ < most_operations && wrong_.empty() && refused_.ok(); ++operations_) {
      while (next < faults.size() && operations_ >= due) {
        Plant(faults[next]);
        if (++next < faults.size()) due = operations_ + faults[next].after;
      }
      if (!Advance()) break;
    }
    if (!wrong_.empty() || !refused_.ok()) return wrong_;
    for (const auto& [name, process] : processes_) {
      if (process.done) continue;
      const std::string wrong =
          fmt::format("{} is not done after {} operations{}", name, operations_, State());
      if (!was_put_back_) return wrong;
      refused_ = absl::UnavailableError(wrong);  // whom it waits for was done before
      return "";
    }
    return "";
  }

  std::uint64_t operations() const { return operations_; }
  std::uint64_t crashes() const { return crashes_; }

  /// Returns how a process has ended.
  const absl::Status& result(const std::string& name) const { return processes_.at(name).result; }
  /// Returns why the run does not go on after a disk was put back to an earlier moment; OK if it does.
  /// The run stops there.
  const absl::Status& refused() const { return refused_; }
  const Invariants& invariants() const { return invariants_; }
  /// Returns the secret of a process's run, once it has begun.
  const std::optional<store::Key>& secret(const std::string& name) const {
    return processes_.at(name).secret;
  }

  /// Is called with the roles of a process when its run is over.
  std::function<void(const std::string& name, Actor&)> on_done;
  /// Looks at each message that leaves a process. Returns what is wrong with it; empty if nothing is.
  std::function<std::string(const std::string& from, const std::string& body, bool is_new)> on_message;
  /// Returns a message without what may differ each time that it is sent.
  std::function<std::string(const std::string& from, const std::string& body)> spelled;

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
      world.Look(*this, other.name, frame);
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
    std::optional<store::Key> secret;          // of its run
    std::optional<Fault::Kind> when_it_sends;  // its next message
    std::optional<std::pair<store::MemoryDisk, store::Ratchet>> copy;
    std::vector<std::unique_ptr<Alive>> alive;  // the last one is the newest
    absl::Time back_at;                         // it starts again
    bool done = false;
    absl::Status result;

    Alive* current() const { return alive.empty() || alive.back()->stale ? nullptr : alive.back().get(); }
  };

  std::string State() const;

  std::uint64_t Below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }

  void Complain(std::string wrong) {
    if (wrong_.empty()) wrong_ = std::move(wrong);
  }

  // Checks a frame that leaves a process.
  void Look(const Alive& from, const std::string& to, const v1::Frame& frame) {
    const std::string& self = from.self_name;
    if (frame.has_opening() && !from.stale) Complain(invariants_.OnOpening(frame.opening()));
    if (frame.has_ack()) invariants_.OnAck(self, to, frame.ack().seq());
    if (!frame.has_data()) return;
    Complain(invariants_.OnDisk(self, from.process.disk, &from.journal->ledger()));
    const std::string& body = frame.data().body();
    bool is_new = false;
    Complain(invariants_.OnData(self, to, frame.data(), spelled ? spelled(self, body) : body, is_new));
    has_sent_ = has_sent_ || is_new;
    if (on_message) Complain(on_message(self, body, is_new));
  }

  // Lets a process do something, and checks what it has done.
  template <class F>
  void Call(Alive& alive, F call) {
    Process& process = alive.process;
    const bool was_stale = alive.stale;
    const std::uint64_t commits = process.disk.commits();
    has_sent_ = false;
    const absl::Status status = call();
    const bool ends = has_sent_ && !was_stale && process.when_it_sends && wrong_.empty();
    if (process.disk.commits() != commits) {
      if (was_stale) Complain(fmt::format("a deposed process of {} has committed", alive.self_name));
      Complain(invariants_.OnDisk(alive.self_name, process.disk, &alive.journal->ledger()));
    }
    if (ends && status.ok() && !alive.runtime->done()) {
      return EndAfterMessage(alive, *std::exchange(process.when_it_sends, std::nullopt));
    }
    After(alive, status);
  }

  void EndAfterMessage(Alive& alive, Fault::Kind kind);
  static void Lose(Connection& connection, std::uint32_t arrive);
  void Plant(const Fault& fault);
  void PutBack(bool with_ratchet);

  store::Key NewKey(Process& process) {
    store::Key key;
    for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random_());
    if (!process.secret) process.secret = key;  // a journal makes it before it makes any seed
    return key;
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
      auto wrapped = process.spec.wrap({alive->self_name, process.disk, alive->memory, process.ratchet});
      if (!wrapped.ok()) return DoesNotStart(process, wrapped.status());
      alive->wrapped = *std::move(wrapped);
      store = alive->wrapped.get();
    }
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        Journal::Open({.storage = {store, &process.ratchet},
                       .header = process.spec.header,
                       .spec = process.spec.runtime.digest,
                       .program = "test",
                       .sends_early = process.spec.sends_early,
                       .entropy = [this, at = &process] { return NewKey(*at); }},
                      alive->actor->machine());
    if (!journal.ok()) return DoesNotStart(process, journal.status());
    alive->journal = *std::move(journal);
    alive->runtime =
        std::make_unique<Runtime>(process.spec.runtime, *alive->journal, alive->actor->machine(), *alive);
    Alive& started = *process.alive.emplace_back(std::move(alive));
    Call(started, [&] { return started.runtime->Start(now_); });
  }

  static bool IsPlanned(const absl::Status& why) {
    return absl::StrContains(why.message(), "the process ends in commit");
  }

  void DoesNotStart(Process& process, const absl::Status& why) {
    if (IsPlanned(why)) {
      ++crashes_;
      process.back_at = now_ + absl::Milliseconds(static_cast<std::int64_t>(Below(50)));
    } else if (IsRefusal(why)) {
      refused_ = why;
    } else {
      Complain(fmt::format("{} cannot be started: {}", process.spec.runtime.self, why.ToString()));
    }
  }

  // Returns whether an error says that a disk was put back to an earlier moment, and one was.
  bool IsRefusal(const absl::Status& why) const {
    return was_put_back_ && (absl::IsAborted(why) || absl::IsFailedPrecondition(why));
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
    const bool planned = IsPlanned(status) || alive.stale;
    if (!planned && IsRefusal(status)) {
      refused_ = status;
    } else if (!planned) {
      Complain(fmt::format("{} has ended: {}", process.spec.runtime.self, status.ToString()));
    }
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
      now_ += absl::Microseconds(static_cast<std::int64_t>(Below(1000)));
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
      Call(*at, [&] { return at->runtime->Step(now_); });
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
    Call(alive, [&] { return alive.runtime->Receive(id, std::move(frame), from, std::move(input), now_); });
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
  Invariants invariants_;
  std::vector<std::function<void()>> actions_;
  std::uint64_t operations_ = 0;
  std::uint64_t crashes_ = 0;
  std::string wrong_;
  bool has_sent_ = false;  // something new, in the present call
  bool was_put_back_ = false;
  absl::Status refused_;
};

}  // namespace bandana::service

#include "tests/service/world/world_faults.h"
