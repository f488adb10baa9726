#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/round_player.h"
#include "bandana/service/machine.h"
#include "bandana/service/part.h"
#include "bandana/service/peer.h"
#include "bandana/service/role_world.h"

namespace bandana::service {

/// Which slots a run has, and which messages travel between neighbours.
struct LinkProtocol {
  Slot first = 1;
  /// The largest possible slot: a node goes on until it says that it is finished.
  Slot last = 0;
  bool (*carries)(const Payload& body) = nullptr;
  const char* kinds = "";  ///< names of the messages that it carries, for errors
};

/// Returns the name of a node's process.
std::string NodeLink(NodeId node);

/// Checks the options that all nodes in lock step share. Node ids above `most` are invalid. Only a network
/// may have `has_server`.
absl::Status ValidateLockStep(const PeerParams& params, std::uint32_t most, bool has_server);

/// A node's side of a run in lock step. It plays a slot once it has every neighbour's packet of the slot
/// before, and sends each of them one packet. A derived class plays.
class LockStep : public Machine {
 public:
  /// `params` must outlive the machine.
  LockStep(const PeerParams& params, const LinkProtocol& protocol);

  void Attach(store::StoreLedger& ledger, const store::Key& secret) final {
    role_world_.Attach(ledger, secret);
  }
  absl::Status Admits(const std::string& link) const final;
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link, std::string_view body) const final;
  absl::Status Begin() final;
  absl::Status Check(const std::string& link, const Input& input) const final;
  absl::Status Take(const std::string& link, Input& input) final;
  absl::StatusOr<bool> Work() final;
  Absence JudgeAbsence(const std::string& link) const final;
  absl::Status Lose(const std::string& link, const std::string& why) final;
  void Abort(const absl::Status& why) final;
  bool over() const final { return over_; }
  absl::Status result() const final { return result_; }

  /// Without what only the process knows, such as its bytes.
  PeerReport report() const;

 protected:
  const PeerParams& params() const { return params_; }
  Context& context() { return context_; }
  Slot slot() const { return slot_; }

  /// Returns whether the role has sent something in this slot.
  bool has_sent() const { return !outgoing_.empty(); }

  /// Plays the slot, given what the neighbours sent in the one before.
  virtual absl::Status Play(const std::vector<Message>& messages) = 0;
  /// Returns whether the slot that was played was this node's last one.
  virtual bool is_last() const = 0;
  /// Returns whether the node says so itself, because its neighbours cannot know.
  virtual bool tells_last() const { return false; }

  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.self, "node");
    std::uint64_t neighbours = neighbours_.size();
    a(neighbours);
    a.Check(neighbours == neighbours_.size(), "it has other neighbours");
    for (auto& [node, neighbour] : neighbours_) {
      if (!a.ok()) return;
      a(neighbour.is_ready, neighbour.complete, neighbour.finished, neighbour.lost_at, neighbour.why,
        neighbour.has_seq, neighbour.last_seq);
      VisitMessages(a, neighbour.partial);
      std::uint64_t packets = neighbour.packets.size();
      a(packets);
      auto it = neighbour.packets.begin();
      for (std::uint64_t i = 0; i < packets && a.ok(); ++i) {
        Slot slot = Archive::kReads ? 0 : it->first;
        a(slot);
        VisitMessages(a, Archive::kReads ? neighbour.packets[slot] : (it++)->second);
      }
    }
    a(slot_, next_seq_, has_played_all_, never_began_, over_, result_, messages_in_, messages_out_, context_);
  }

 private:
  struct Letter;
  struct Neighbour {
    bool is_ready = false;
    Slot complete = 0;  // all packets up to this slot are here
    bool finished = false;
    std::optional<Slot> lost_at = {};  // the first slot whose packet did not come
    std::string why = {};
    bool has_seq = false;
    Seq last_seq = 0;
    std::vector<Message> partial = {};  // of the slot after `complete`
    std::map<Slot, std::vector<Message>> packets = {};
  };

  template <class Archive>
  void VisitMessages(Archive& a, std::vector<Message>& messages) {
    std::vector<std::string> encoded;
    if constexpr (!Archive::kReads) encoded = EncodeAll(messages);
    a(encoded);
    if constexpr (Archive::kReads) {
      if (a.ok()) a.Check(DecodeAll(encoded, messages), "a packet cannot be read");
    }
  }
  static std::vector<std::string> EncodeAll(const std::vector<Message>& messages);
  bool DecodeAll(const std::vector<std::string>& encoded, std::vector<Message>& out) const;

  bool has_begun() const;
  bool HasAllPackets(Slot slot) const;
  absl::Status CheckPacket(const Neighbour& neighbour, const Letter& letter) const;
  std::vector<Message> Collect(Slot slot);
  void SendPackets(bool last);
  void SendFromRole(NodeId to, Payload payload);

  const PeerParams& params_;
  LinkProtocol protocol_;
  RoleWorld role_world_;
  RoleContext context_;
  std::map<NodeId, Neighbour> neighbours_;
  Slot slot_;                                        // the next one to play
  std::map<NodeId, std::vector<Message>> outgoing_;  // sent in this slot; empty between two steps
  Seq next_seq_ = 0;
  bool has_played_all_ = false;
  bool never_began_ = false;
  bool over_ = false;
  absl::Status sent_;
  absl::Status result_;
  Count messages_in_ = 0;
  Count messages_out_ = 0;
};

/// Returns the machine of a peer (service/peer.h), or why an option is wrong. The arguments must outlive it.
absl::StatusOr<std::unique_ptr<LockStep>> MakePeer(const PeerParams& params, RoundPlayer<double>& player,
                                                   RoundWorld& world);

/// Returns the machine of a node in a network that works in ticks (service/network_node.h), or why an option
/// is wrong. The arguments must outlive it.
absl::StatusOr<std::unique_ptr<LockStep>> MakeNetworkNode(const PeerParams& params, NetworkPlayer& player,
                                                          SlotWorld& environment);

/// Runs the machine as a process.
absl::StatusOr<PeerReport> RunInLockStep(const PeerParams& params, LockStep& machine);

}  // namespace bandana::service
