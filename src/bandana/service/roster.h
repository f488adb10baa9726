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

/// Messages for one connection. They are pushed under the owner's lock and popped by the connection's own
/// thread, so that a slow receiver does not delay the others.
template <class T>
class BasicOutbox {
 public:
  /// Does nothing if the outbox is closed.
  void Push(T message) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    queue_.push_back(std::move(message));
    changed_.notify_one();
  }

  /// Accepts no more messages; those in the queue are still sent.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

  /// Accepts no more messages, and drops those in the queue.
  void Discard() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queue_.clear();
    changed_.notify_one();
  }

  /// Waits for a message. Returns nothing if the outbox is closed and empty.
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

/// An admitted agent and the clients first .. last that it serves; or the shuffler, which stands only for its
/// own node.
struct AgentLink {
  NodeId first;
  NodeId last;
  std::string peer;
  Outbox outbox;
  /// Clients that were asked and have not answered yet, with the epoch.
  absl::flat_hash_map<NodeId, Epoch> awaited;
  std::optional<std::string> lost;  ///< why the agent was lost, if it was

  bool Owns(NodeId client) const { return client >= first && client <= last; }
  Count clients() const { return static_cast<Count>(last.value) - first.value + 1; }
  bool is_shuffler() const { return first == kShufflerNode; }
  std::string name() const;
};

/// Records which agent serves which clients of 1 .. clients.
class Roster {
 public:
  explicit Roster(Count clients) : clients_(clients) {}

  /// Fails with kInvalidArgument if the range is not within 1 .. clients, or with kAlreadyExists if another
  /// agent serves part of it.
  absl::Status Add(const std::shared_ptr<AgentLink>& link);
  void Remove(const AgentLink& link);

  /// Returns the agent that serves the client, or null.
  AgentLink* Find(NodeId client) const;

  Count agents() const { return static_cast<Count>(links_.size()); }
  Count covered() const { return covered_; }
  bool complete() const { return covered_ == clients_; }

  /// Returns the first few ranges of clients that no agent serves, like "1-20, 501-900".
  std::string Gaps() const;

  auto begin() const { return links_.begin(); }
  auto end() const { return links_.end(); }

 private:
  Count clients_;
  Count covered_ = 0;
  std::map<NodeId, std::shared_ptr<AgentLink>> links_;  // by the last client of the range
};

}  // namespace bandana::service
