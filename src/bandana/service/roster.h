#pragma once

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana::service {

/// An agent that has joined, and the clients first .. last for which it speaks.
struct Seated {
  std::string link;  ///< "agent/" and the first client
  NodeId first = {};
  NodeId last = {};
  bool is_lost = false;
  std::string why;  ///< it is lost
  /// Clients that were asked and have not answered yet, with the epoch.
  absl::flat_hash_map<NodeId, Epoch> awaited = {};

  bool Owns(NodeId client) const { return client >= first && client <= last; }
  Count clients() const { return static_cast<Count>(last.value) - first.value + 1; }
  std::string name() const;

  template <class Archive>
  void State(Archive& a) {
    a(link, first, last, is_lost, why, awaited);
  }
};

/// Records which agent speaks for which clients of 1 .. clients.
class Roster {
 public:
  explicit Roster(Count clients) : clients_(clients) {}

  /// Returns the name of the link of an agent.
  static std::string LinkOf(NodeId first_client);
  /// Fails with kPermissionDenied unless `link` is the name of an agent of one of the clients.
  absl::Status Admits(const std::string& link) const;

  /// Returns the agent that wants to join. Fails with kInvalidArgument if the range is not within 1 ..
  /// clients or does not begin as the link says, and with kAlreadyExists if another agent speaks for a part
  /// of it. Nothing has changed.
  absl::StatusOr<Seated> Propose(const std::string& link, std::uint32_t first_client,
                                 std::uint64_t client_count) const;
  /// Adds an agent that was proposed. If it is there, nothing changes.
  void Add(Seated agent);
  void Remove(const std::string& link);

  /// Return null if there is no such agent.
  Seated* Find(NodeId client);
  Seated* Find(const std::string& link);
  const Seated* Find(const std::string& link) const { return const_cast<Roster*>(this)->Find(link); }

  Count agents() const { return static_cast<Count>(agents_.size()); }
  Count covered() const { return covered_; }
  bool complete() const { return covered_ == clients_; }

  /// Returns the first few ranges of clients that no agent serves, like "1-20, 501-900".
  std::string Gaps() const;

  auto begin() { return agents_.begin(); }
  auto end() { return agents_.end(); }

  template <class Archive>
  void State(Archive& a) {
    a(agents_);
    if constexpr (Archive::kReads) {
      covered_ = 0;
      for (const auto& [last, agent] : agents_) covered_ += agent.clients();
    }
  }

 private:
  Count clients_;
  Count covered_ = 0;
  std::map<NodeId, Seated> agents_;  // by the last client of the range
};

}  // namespace bandana::service
