#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/bandit/environment.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/service/randomness.h"

/// An agent of a federation over gRPC: one process that speaks for a range of clients. It drives their
/// Players as sim::Simulator does.
namespace bandana::service {

struct AgentParams {
  std::string server;  ///< host:port on this machine's loopback
  NodeId first_client;
  Count clients = 0;
  std::string spec_digest;
  DpGuarantee budget_per_client;
  Ledger* ledger = nullptr;  ///< where charges are kept, durable before shares leave; none: in memory
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration connect_timeout;
  std::stop_token stop;  ///< ends the run with kCancelled, at the latest after the client at work
};

struct AgentReport {
  Count shares = 0;   ///< first answers
  Count repeats = 0;  ///< answers sent again because a plan came again
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  DpGuarantee spent{0, 0};  ///< the most of any one client
  double seconds = 0;       ///< from Welcome to the end
};

/// Runs until the server says that the run has finished. A client's Player is made when its first plan comes.
/// A plan that comes again is answered with the share that was sent before: nothing is drawn and nothing is
/// charged.
///
/// - kUnavailable: no server within connect_timeout; the server was lost; it ended the run, for the reason
///   given.
/// - kCancelled: `stop`.
/// - Any other code: the server's reason to refuse this agent, or a role's own error, of which the server
///   is told the code alone.
absl::StatusOr<AgentReport> RunAgent(const AgentParams& params,
                                     const std::function<std::unique_ptr<Player>(NodeId)>& make_player,
                                     Environment& environment);

}  // namespace bandana::service
