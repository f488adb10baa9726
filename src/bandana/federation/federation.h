#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/core/value.h"
#include "bandana/federation/context.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/node.h"
#include "bandana/federation/round_player.h"
#include "bandana/federation/topology.h"
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/claim.h"

/// An algorithm, assembled: its roles, who is linked to whom, and what it promises. Every algorithm has a
/// function Create...(params, privacy, facts) that makes one; simulators and the service run it.
namespace bandana {

/// Makes a role. A null function means that the federation has no such role.
template <class Role, class... Whose>
using Make = std::function<std::unique_ptr<Role>(Whose...)>;

/// Returns the sum of what clients first, first + 1, ... would send for one part of a dealt plan. This is a
/// shortcut for simulators. Fails with kUnimplemented where the mechanism must ask the clients one by one.
using GroupAnswer = std::function<absl::StatusOr<Report>(Context& context, const Plan& plan, int part,
                                                         NodeId first, const Raw<RewardSums>& rewards)>;

/// Returns a number of bits that depends on the query alone.
using BitsOfQuery = std::function<absl::StatusOr<Count>(const MeanQuery&)>;

struct SlotRoles {
  Make<Node> server;
  Make<Player, NodeId> client;
  Make<Node> shuffler;
  GroupAnswer group;        ///< null: there is no shortcut
  BitsOfQuery report_bits;  ///< the size of one client's report, as the mechanism encodes it
  /// The bits per coordinate of a client's report, if they are sealed one by one on their way to the
  /// shuffler. Null: numbers are sent.
  BitsOfQuery sealed_bits;
};

struct RoundRoles {
  Make<Node, NodeId> controller;  ///< of the group that begins with this agent; null: agents are peers
  Make<RoundPlayer<double>, NodeId> agent;
  Make<RoundPlayer<float>, NodeId> agent_float;
  Make<Node> shuffler;
  /// Agents that share a controller, or peers that share their sums. Empty: all agents are one group.
  std::vector<std::vector<NodeId>> groups;
  bool lock_step = false;                     ///< agents may ask for a sync in any round
  std::function<DpGuarantee(NodeId)> budget;  ///< an agent's own; null: every agent has Federation::budget
};

struct TickRoles {
  Make<NetworkPlayer> server;
  Make<NetworkPlayer, NodeId> agent;
  Count reporting = 1;          ///< agents that report in a sync
  double cost_server = 0;       ///< of a link between an agent and the server
  double cost_peer = 0;         ///< of a link between two agents
  double paper_round_cost = 0;  ///< the paper's formula for one sync
};

struct UserRoles {
  Make<UserLearner> learner;
};

/// A federation can be copied and used by many threads: its functions make new roles at every call. What
/// roles share belongs to these functions, so roles must not outlive the federation.
struct Federation {
  std::variant<SlotRoles, RoundRoles, TickRoles, UserRoles> roles;
  Topology topology;
  DpGuarantee budget{0, 0};      ///< of each unit
  bool charges_clients = false;  ///< whether clients, agents or users pay for what they release
  bool charges_server = false;   ///< whether the server pays for them
  std::vector<Claim> claims;     ///< empty: it promises nothing
  std::vector<Note> notes;
  /// Tells about the federation beside its metrics. It may take a while. Null: there is nothing to tell.
  std::function<std::vector<Statement>()> describe;

  TimeModel time() const { return static_cast<TimeModel>(roles.index()); }

  /// Returns why the claims do not hold; empty if they do.
  std::string void_reason() const {
    for (const Note& note : notes) {
      if (note.weight == Note::Weight::kVoidsClaim) return note.text;
    }
    return "";
  }
};

}  // namespace bandana
