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
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/service/randomness.h"
#include "bandana/service/route.h"

/// The server of a federation over gRPC: one process that drives a Node and waits for agents, each of which
/// speaks for a range of clients, and for a shuffler where reports come through one. What the Node sees is
/// what it would see in sim::Simulator.
namespace bandana::service {

/// How far a run is. Given to a callback while the server waits for it: be quick.
struct ServerProgress {
  Count agents = 0;
  Count clients_joined = 0;
  bool shuffler_joined = false;
  Epoch epoch = 0;  ///< of the last plan sent; 0: still waiting for agents
  Count awaited = 0;
  Count shares = 0;
};

struct ServerParams {
  std::string listen;  ///< host:port on this machine's loopback; port 0: any
  Count clients = 0;   ///< agents must cover 1 .. clients exactly before the run starts
  Route route;         ///< with a shuffler, that must be here too
  std::string spec_digest;
  DpGuarantee budget_per_client;
  Ledger* ledger = nullptr;  ///< where charges are kept, each durable at once; none: in memory
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration join_timeout;    ///< for all agents together
  absl::Duration answer_timeout;  ///< without any new share
  std::stop_token stop;           ///< ends the run with kCancelled at once
  std::function<void(const std::string& address)> on_listening;
  std::function<void(const ServerProgress&)> on_progress;
  std::function<void(Epoch, const MeanQuery&)> on_share;  ///< one client's first answer to one plan
};

struct ServerReport {
  Count shares = 0;            ///< answers, each counted once however often it came
  Count reals = 0;             ///< numbers in them
  std::uint64_t bytes_in = 0;  ///< serialized messages, without HTTP/2's framing
  std::uint64_t bytes_out = 0;
  DpGuarantee spent{
      0, 0};  ///< at the server, by all runs of its ledger; what is charged at clients is in AgentReport
  double seconds = 0;  ///< from the first plan to the end
};

/// Runs `server` until `server.finished()`. Role calls and callbacks come one at a time, `on_play` among
/// them.
///
/// An agent is refused, with the reason, if its version or digest differs, if its clients are not free, or if
/// it sends a share of a client that is not its own, or past the shuffler; that alone does not end the run. A
/// shuffler is refused if there is one already, or if none is needed. These end the run, and every agent and
/// the shuffler is told why:
/// - kUnavailable: the port is taken; agents do not cover the clients, or there is no shuffler, in time; an
///   agent is lost, or refused, while its clients are awaited or wanted; the shuffler is lost or sends what
///   it should not, such as a bit that cannot be opened; nobody answers within answer_timeout.
/// - kCancelled: `stop`.
/// - Any other code: the role's own error.
absl::StatusOr<ServerReport> RunServer(const ServerParams& params, Node& server,
                                       std::function<void(std::span<const Pull>)> on_play);

}  // namespace bandana::service
