#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/role.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/summary.h"
#include "bandana/service/agent.h"
#include "bandana/service/server.h"

/// Runs one role of a deployment as a process: a server, a shuffler, an agent or a peer. The time model of
/// the federation (slots, rounds or ticks) decides which function does it.
namespace bandana::cli {

enum class RoleKind { kServer, kShuffler, kAgent, kPeer };

std::string NameOf(RoleKind kind);

/// The surroundings of every role.
struct RoleRun {
  RoleKind kind;
  const RoleConfig& config;
  const lab::Instance& instance;
  RoleLog& log;
  const Global& global;
  std::stop_token stop;

  const Federation& federation() const { return instance.federation; }
  const std::string& algorithm() const { return instance.experiment.family->name; }

  /// Returns the error that the role does not accept this value of a key.
  absl::Status Refuse(const std::string& key, const std::string& value, std::string accepted) const;

  /// Returns the error that the algorithm has no shuffler.
  absl::Status NeedsNoShuffler() const;
  /// Fails if the spec plans losses or draws them.
  absl::Status RefuseLosses() const;

  /// Writes the address at which the role listens to the log.
  void TellListening(const std::string& address) const;

  /// Returns the parameters of a server, or of an agent, without its route and its store.
  absl::StatusOr<service::ServerParams> Server() const;
  absl::StatusOr<service::AgentParams> Agent() const;

  /// Returns the summary of an agent's run.
  lab::Json Summary(const service::AgentReport& report) const;

  /// Adds the role's name and whether the claim is void to `done`, and writes it to the log with the claims
  /// that the run has delivered.
  lab::Json Done(const lab::Json& done, const std::optional<LedgerHead>& head) const;

  /// Writes to the log that the run is done.
  void TellDone(const lab::Json& done, const std::string& sentence = "the run is over") const;
};

/// These run a role of a federation that works in slots, in rounds or in ticks. They return a summary of the
/// run.
absl::StatusOr<lab::Json> RunSlotRole(const RoleRun& run);
absl::StatusOr<lab::Json> RunRoundRole(const RoleRun& run);
absl::StatusOr<lab::Json> RunTickRole(const RoleRun& run);

inline constexpr absl::Duration kJoinTimeout = absl::Minutes(5);
inline constexpr absl::Duration kAnswerTimeout = absl::Minutes(5);
inline constexpr absl::Duration kLongAnswerTimeout =
    absl::Hours(1);  ///< for encrypting bits, or for many rounds
inline constexpr absl::Duration kConnectTimeout = absl::Seconds(30);
inline constexpr absl::Duration kPeerTimeout = absl::Minutes(1);

struct ClientRange {
  NodeId first;
  Count count = 0;
};

/// Reads service.clients, "FIRST-LAST" within 1 .. population.
absl::StatusOr<ClientRange> ClientsOf(const RoleConfig& config, Count population);

/// Reads service.node, one of 1 .. agents.
absl::StatusOr<NodeId> NodeOf(const RoleConfig& config, Count agents);

/// Reads service.peers: the addresses of nodes 1 .. agents.
absl::StatusOr<std::vector<std::string>> AddressesOf(const RoleConfig& config, Count agents);

}  // namespace bandana::cli
