#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "bandana/core/ids.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// Messages on their way to one peer: filled under the owner's lock, emptied by a thread of the peer's own,
/// so that a slow peer holds up nobody else.
template <class T>
class BasicOutbox {
 public:
  /// Dropped if closed.
  void Push(T message) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    queue_.push_back(std::move(message));
    changed_.notify_one();
  }

  /// No more; what is queued still goes out.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

  /// No more, and what is queued is dropped.
  void Discard() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queue_.clear();
    changed_.notify_one();
  }

  /// Waits. Nothing: closed and empty.
  std::optional<T> Pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return std::nullopt;
    std::optional<T> next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> queue_;
  bool closed_ = false;
};

using Outbox = BasicOutbox<v1::ToAgent>;

/// One agent that was let in, and the clients first .. last that it speaks for; or the shuffler, which speaks
/// for its own node alone.
struct AgentLink {
  NodeId first;
  NodeId last;
  std::string peer;
  Outbox outbox;
  absl::flat_hash_map<NodeId, Epoch> awaited;  ///< asked and not yet answered
  std::optional<std::string> lost;             ///< why

  bool Owns(NodeId client) const { return client >= first && client <= last; }
  Count clients() const { return static_cast<Count>(last.value) - first.value + 1; }
  bool is_shuffler() const { return first == kShufflerNode; }
  std::string name() const;
};

/// Which agent speaks for which clients of 1 .. clients.
class Roster {
 public:
  explicit Roster(Count clients) : clients_(clients) {}

  /// kInvalidArgument if the range is not within 1 .. clients, kAlreadyExists if another agent has part of
  /// it.
  absl::Status Add(const std::shared_ptr<AgentLink>& link);
  void Remove(const AgentLink& link);

  /// Null if nobody speaks for the client.
  AgentLink* Find(NodeId client) const;

  Count agents() const { return static_cast<Count>(links_.size()); }
  Count covered() const { return covered_; }
  bool complete() const { return covered_ == clients_; }

  /// "1-20, 501-900": the clients nobody speaks for, the first few ranges of them.
  std::string Gaps() const;

  auto begin() const { return links_.begin(); }
  auto end() const { return links_.end(); }

 private:
  Count clients_;
  Count covered_ = 0;
  std::map<NodeId, std::shared_ptr<AgentLink>> links_;  // by last client
};

}  // namespace bandana::service
