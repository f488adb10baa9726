#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/service/peer.h"
#include "bandana/service/peer_links.h"
#include "bandana/service/role_context.h"

namespace bandana::service {

/// Checks the options that all nodes in lock step share. Node ids above `most` are invalid. Only a network
/// may have `has_server`.
absl::Status ValidateLockStep(const PeerParams& params, std::uint32_t most, bool has_server);

/// A node's side of a run in lock step: its role's context, and what the role sends in a slot.
class LockStep {
 public:
  LockStep(const PeerParams& params, const LinkProtocol& protocol, PeerLinks& links);
  LockStep(const LockStep&) = delete;
  LockStep& operator=(const LockStep&) = delete;

  const PeerReport& report() const { return report_; }

 protected:
  const PeerParams& params() const { return params_; }
  Context& context() { return context_; }

  /// Connects, and begins with the first slot of the protocol.
  absl::Status Begin();

  /// Returns the slot that is sent next.
  Slot slot() const { return slot_; }

  /// Returns what the neighbours sent in the previous slot.
  absl::StatusOr<std::vector<Message>> Receive();

  /// Receives a last time after the role has ended: for the neighbours, and to learn which of them are alive.
  absl::Status ReceiveLast() { return links_.Receive(slot_ - 1).status(); }

  /// Returns whether the role has sent something in this slot.
  bool has_sent() const { return !outgoing_.empty(); }

  /// Sends what the role has sent in this slot, after its charges are durable, and begins the next slot.
  /// `last`: the role is finished.
  absl::Status EndSlot(bool last = false);

  absl::Status CheckStop() const;

  void End(Count rounds);

 private:
  void Send(NodeId to, Payload payload);

  const PeerParams& params_;
  const LinkProtocol& protocol_;
  PeerLinks& links_;
  RoleWorld role_world_;
  RoleContext context_;
  absl::Time started_;
  Slot slot_;
  std::map<NodeId, std::vector<Message>> outgoing_;  // sent in this slot
  Seq next_seq_ = 0;
  absl::Status sent_;
  PeerReport report_;
};

/// Opens the streams, calls `Run(params, protocol, links, roles...).Run()` on them, ends them, and returns
/// the report.
template <class Run, class... Roles>
absl::StatusOr<PeerReport> RunInLockStep(const PeerParams& params, const LinkProtocol& protocol,
                                         Roles&... roles) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<PeerLinks> links, PeerLinks::Open(params, protocol));
  if (params.on_listening) params.on_listening(links->address());
  Run run(params, protocol, *links, roles...);
  if (absl::Status status = run.Run(); !status.ok()) {
    links->Leave(status);
    return status;
  }
  links->Finish();
  PeerReport report = run.report();
  report.lost = links->lost();
  report.bytes_in = links->bytes_in();
  report.bytes_out = links->bytes_out();
  return report;
}

}  // namespace bandana::service
