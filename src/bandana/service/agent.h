#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/service/deployed.h"
#include "bandana/service/randomness.h"
#include "bandana/service/route.h"

/// An agent of a federation over gRPC: one process that serves a range of clients. It drives their Players as
/// sim::RunSlots does.
namespace bandana::service {

struct AgentParams {
  std::string server;  ///< host:port; without keys a loopback address
  Route route;
  /// host:port, if the route has a shuffler: plans come from the server, shares go to the shuffler.
  std::string shuffler;
  NodeId first_client;
  Count clients = 0;
  std::string spec_digest;
  DpGuarantee budget_per_client;
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration connect_timeout;
  std::stop_token stop;  ///< ends the run with kCancelled, at the latest after the current client
  Deployed deployed = {};
};

struct AgentReport {
  Count shares = 0;   ///< first answers to a plan
  Count repeats = 0;  ///< answers sent again because a plan or a model came again
  /// Rounds that all clients together have ended, if they play round by round.
  Count rounds = 0;
  std::uint64_t bytes_in = 0;  ///< all streams together
  std::uint64_t bytes_out = 0;
  DpGuarantee spent{0, 0};  ///< the largest amount that any one client has spent
  double seconds = 0;       ///< from the Welcome to the end
};

/// Runs until the server says that the run has finished. Makes a client's Player when its first plan comes.
/// If a plan comes again, sends the same share again; nothing is drawn and nothing is charged. If bits are
/// sealed, the agent seals them to the key that the server itself has sent.
///
///   - kUnavailable: there is no server, or no shuffler, within connect_timeout; it was lost; or the server
///     ended the run, for the reason given.
///   - kCancelled: `stop`.
///   - Any other code: the reason why the server or the shuffler refused this agent, or a role's own error,
///     of which the server is told only the code.
absl::StatusOr<AgentReport> RunAgent(const AgentParams& params,
                                     const std::function<std::unique_ptr<Player>(NodeId)>& make_player,
                                     SlotWorld& environment);

}  // namespace bandana::service
