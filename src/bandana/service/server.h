#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/service/deployed.h"
#include "bandana/service/randomness.h"
#include "bandana/service/route.h"

/// The server of a federation over gRPC: one process that drives a Node and waits for agents, each of which
/// serves a range of clients, and for a shuffler if reports pass one. The Node sees what it would see in
/// sim::RunSlots.
namespace bandana::service {

/// The progress of a run. The server waits while the callback runs, so it must be quick.
struct ServerProgress {
  Count agents = 0;
  Count clients_joined = 0;
  bool shuffler_joined = false;
  Epoch epoch = 0;  ///< the epoch of the last plan sent; 0: still waiting for agents
  Count awaited = 0;
  Count shares = 0;
};

struct ServerParams {
  std::string listen;  ///< host:port; without keys a loopback address; port 0: any
  Count clients = 0;   ///< agents must cover 1 .. clients exactly before the run starts
  Route route;         ///< if it has a shuffler, the shuffler must join, too
  std::string spec_digest;
  DpGuarantee budget_per_client;
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration join_timeout;    ///< for all agents together
  absl::Duration answer_timeout;  ///< the longest time without any new share
  std::stop_token stop;           ///< ends the run with kCancelled at once
  std::function<void(const std::string& address)> on_listening;
  std::function<void(const ServerProgress&)> on_progress;
  /// Called for one client's first answer to one plan.
  std::function<void(Epoch, const MeanQuery&)> on_share;
  Deployed deployed = {};
};

struct ServerReport {
  Count shares = 0;            ///< answers; repeated ones count once
  Count reals = 0;             ///< numbers in them
  std::uint64_t bytes_in = 0;  ///< serialized messages, without HTTP/2's framing
  std::uint64_t bytes_out = 0;
  /// Spent at the server, by all runs of its ledger. AgentReport has what is charged at clients.
  DpGuarantee spent{0, 0};
  double seconds = 0;  ///< from the first plan to the end
};

/// Runs `server` until `server.finished()`. Calls of the role and callbacks, including `on_play`, come one at
/// a time.
///
/// An agent is refused, with the reason, if its version or digest differs, if its clients are not free, or if
/// it sends a share of a client that is not its own, or not through the shuffler. That alone does not end the
/// run. A shuffler is refused if there is one already, or if none is needed. These errors end the run, and
/// every agent and the shuffler is told why. With a store that outlives the process, kUnavailable and
/// kCancelled end only the process, and the run can go on (service/process.h):
///   - kUnavailable: the port is taken; agents do not cover the clients, or there is no shuffler, in time; an
///     agent is lost, or refused, while its clients are awaited or needed; the shuffler is lost or sends
///     something wrong, such as a bit that cannot be opened; nobody answers within answer_timeout.
///   - kCancelled: `stop`.
///   - Any other code: the role's own error.
absl::StatusOr<ServerReport> RunServer(const ServerParams& params, Node& server,
                                       std::function<void(std::span<const Pull>)> on_play);

}  // namespace bandana::service
