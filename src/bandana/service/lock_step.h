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

/// That the options fit: what all nodes in lock step have. Larger numbers than `most` are nobody's; only a
/// network `has_server`.
absl::Status ValidateLockStep(const PeerParams& params, std::uint32_t most, bool has_server);

/// A node's side of a run in lock step: its role's context, and what the role sends in a slot.
class LockStep {
 public:
  LockStep(const PeerParams& params, const Manner& manner, PeerLinks& links);
  LockStep(const LockStep&) = delete;
  LockStep& operator=(const LockStep&) = delete;

  const PeerReport& report() const { return report_; }

 protected:
  const PeerParams& params() const { return params_; }
  Context& context() { return context_; }

  /// Connects, and begins with the manner's first slot.
  absl::Status Begin();

  /// The slot that is sent next.
  Slot slot() const { return slot_; }

  /// What the neighbours sent in the slot before this one.
  absl::StatusOr<std::vector<Message>> Receive();

  /// The same where nobody takes it any more: for the neighbours' sake, and to see who lives.
  absl::Status ReceiveLast() { return links_.Receive(slot_ - 1).status(); }

  /// Whether the role has sent something in this slot.
  bool has_sent() const { return !outgoing_.empty(); }

  /// What the role has sent leaves, after what it was charged for is durable; the next slot begins. `last`:
  /// it is finished.
  absl::Status EndSlot(bool last = false);

  absl::Status CheckStop() const;

  void End(Count rounds);

 private:
  void Send(NodeId to, Payload payload);

  const PeerParams& params_;
  const Manner& manner_;
  PeerLinks& links_;
  RoleWorld role_world_;
  RoleContext context_;
  absl::Time started_;
  Slot slot_;
  std::map<NodeId, std::vector<Message>> outgoing_;  // in this slot
  Seq next_seq_ = 0;
  absl::Status sent_;
  PeerReport report_;
};

/// Opens the streams, does `Run(params, manner, links, roles...).Run()` on them, and ends them; the report.
template <class Run, class... Roles>
absl::StatusOr<PeerReport> RunInLockStep(const PeerParams& params, const Manner& manner, Roles&... roles) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<PeerLinks> links, PeerLinks::Open(params, manner));
  if (params.on_listening) params.on_listening(links->address());
  Run run(params, manner, *links, roles...);
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
