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
#include "bandana/service/route.h"

/// An agent of a federation over gRPC: one process that speaks for a range of clients. It drives their
/// Players as sim::Simulator does.
namespace bandana::service {

struct AgentParams {
  std::string server;  ///< host:port on this machine's loopback
  Route route;
  std::string shuffler;  ///< host:port, if the route has one: plans come from the server, shares go there
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
  Count shares = 0;            ///< first answers
  Count repeats = 0;           ///< answers sent again because a plan, or a model, came again
  Count rounds = 0;            ///< ended by all clients together, where they play round by round
  std::uint64_t bytes_in = 0;  ///< of all streams
  std::uint64_t bytes_out = 0;
  DpGuarantee spent{0, 0};  ///< the most of any one client
  double seconds = 0;       ///< from Welcome to the end
};

/// Runs until the server says that the run has finished. A client's Player is made when its first plan comes.
/// A plan that comes again is answered with the share that was sent before: nothing is drawn and nothing is
/// charged. Where bits are sealed, they are sealed here, to the key that the server itself has sent.
///
/// - kUnavailable: no server, or no shuffler, within connect_timeout; it was lost; the server ended the run,
///   for the reason given.
/// - kCancelled: `stop`.
/// - Any other code: the server's, or the shuffler's, reason to refuse this agent, or a role's own error, of
/// which the server
///   is told the code alone.
absl::StatusOr<AgentReport> RunAgent(const AgentParams& params,
                                     const std::function<std::unique_ptr<Player>(NodeId)>& make_player,
                                     Environment& environment);

}  // namespace bandana::service
