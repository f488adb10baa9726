#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "tests/service/world/world.h"

/// The faults of a simulated world.
namespace bandana::service {

// A process ends right after it has sent a message.
inline void SimulatedWorld::EndAfterMessage(Alive& alive, Fault::Kind kind) {
  for (auto& [id, connection] : connections_) {
    const bool is_its = connection.ends[0].owner == &alive || connection.ends[1].owner == &alive;
    if (is_its && kind != Fault::Kind::kCrashSent) Lose(connection, 0);
  }
  if (kind == Fault::Kind::kCrashSent || kind == Fault::Kind::kCrashLost) return Kill(alive);
  PutBack(kind == Fault::Kind::kRestoreAllSent);
}

// Loses a connection: of the frames that are on their way, only the first arrive.
inline void SimulatedWorld::Lose(Connection& connection, std::uint32_t arrive) {
  for (End& end : connection.ends) {
    end.inbox.resize(arrive == 0 ? 0 : arrive % (end.inbox.size() + 1));
    end.broken = true;
  }
}

inline void SimulatedWorld::Plant(const Fault& fault) {
  std::vector<Process*> running;
  for (auto& [name, process] : processes_) {
    if (process.current() != nullptr) running.push_back(&process);
  }
  if (fault.kind == Fault::Kind::kJump || fault.kind == Fault::Kind::kJumpBack) {
    const absl::Duration jump = absl::Seconds(fault.which);
    now_ += fault.kind == Fault::Kind::kJump ? jump : -jump;
    return;
  }
  // A frame is lost only with all that follow it on its connection, and with the connection.
  if (fault.kind == Fault::Kind::kCut || fault.kind == Fault::Kind::kCutLate) {
    if (connections_.empty()) return;
    auto it = connections_.begin();
    std::advance(it, fault.whom % connections_.size());
    return Lose(it->second, fault.kind == Fault::Kind::kCut ? 0 : fault.which);
  }
  if (fault.kind == Fault::Kind::kRestore || fault.kind == Fault::Kind::kRestoreAll) {
    return PutBack(fault.kind == Fault::Kind::kRestoreAll);
  }
  if (fault.kind == Fault::Kind::kRestoreSent || fault.kind == Fault::Kind::kRestoreAllSent) {
    for (auto& [name, process] : processes_) {
      if (process.copy) process.when_it_sends = fault.kind;
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
    case Fault::Kind::kCrashSent:
    case Fault::Kind::kCrashLost:
      process.when_it_sends = fault.kind;
      return;
    case Fault::Kind::kZombie:
      return Start(process);
    case Fault::Kind::kCopy:
      process.copy.emplace(process.disk, process.ratchet);
      return;
    default:
      return;
  }
}

// All processes of which somebody has a copy end, and go on from the copy.
inline void SimulatedWorld::PutBack(bool with_ratchet) {
  for (auto& [name, process] : processes_) {
    if (!process.copy || process.done) continue;
    if (Alive* const alive = process.current()) Kill(*alive);
    while (!process.alive.empty()) Bury(*process.alive.front());
    process.disk = process.copy->first;
    if (with_ratchet) process.ratchet = process.copy->second;
    process.copy.reset();
    invariants_.PutBack(name);
    was_put_back_ = true;
  }
}

// Describes the processes, for whoever reads why a run does not go on.
inline std::string SimulatedWorld::State() const {
  std::string state;
  for (const auto& [name, process] : processes_) {
    const Alive* const alive = process.current();
    state += fmt::format("\n  {}: {}", name, process.done ? "done" : alive == nullptr ? "down" : "up");
    if (alive == nullptr) continue;
    const Journal& journal = *alive->journal;
    state += fmt::format(", {}, connected to", alive->actor->machine().Awaits());
    for (const std::string& link : alive->runtime->connected()) state += " " + link;
    for (const std::string& link : journal.links()) {
      state += fmt::format("; {}: taken {}, sent {}, acknowledged {}{}", link, journal.Taken(link),
                           journal.Released(link), journal.Acknowledged(link),
                           journal.IsLost(link) ? ", lost" : "");
    }
  }
  return state;
}

}  // namespace bandana::service
