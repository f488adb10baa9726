#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/federation/traffic.h"
#include "bandana/sim/network_simulator.h"
#include "bandana/sim/simulate.h"

namespace bandana::sim {
namespace {

absl::Status CheckOptions(const Federation& federation, const SimulateOptions& options) {
  if (federation.topology.graph() == nullptr) {
    return InvalidField(Part::kParams, "topology", "a star", "a graph of agents, with or without a server");
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    return InvalidField(Part::kParams, "dropout", options.dropout, "a number in [0, 1)");
  }
  return CheckFailures(options.failures, federation.topology);
}

// Everything that the roles of a network tell about a run, added up.
struct Tally {
  std::map<std::string, double> numbers;  // the metrics that roles have of their own, and:
  double waited = 0;                      // pulls of all agents while messages were on their way
  double new_sinks = 0;
  Count lost = 0;           // agents' sums that were missing in decisions
  Count disagreements = 0;  // syncs after which agents did not have the same arms left
  std::vector<NodeId> sinks;
};

Tally TallyUp(const std::vector<NetworkPlayer*>& roles, Count reporting) {
  Observations observations;
  for (const NetworkPlayer* role : roles) role->Describe(observations);
  Tally tally{.waited = observations.numbers["waited"],
              .new_sinks = observations.numbers["new_sinks"],
              .sinks = std::move(observations.sinks)};
  tally.numbers = std::move(observations.numbers);
  std::map<Epoch, std::set<std::vector<ArmId>>> left;
  for (ArmRound& round : observations.arm_rounds) {
    tally.lost += std::max<Count>(0, reporting - round.agents);  // larger components may have been drawn
    if (reporting > 1) left[round.epoch].insert(std::move(round.arms));
  }
  for (const auto& [epoch, sets] : left) tally.disagreements += sets.size() > 1 ? 1 : 0;
  return tally;
}

void AddTraffic(const TickRoles& roles, const Traffic& traffic, std::vector<Checkpoint>& checkpoints) {
  const auto number = [](Count count) { return static_cast<double>(count); };
  for (Checkpoint& checkpoint : checkpoints) {
    const TrafficCounts counts = traffic.Until(checkpoint.t);
    checkpoint.reals = counts.reals;
    checkpoint.bits = 8 * counts.bytes;
    checkpoint.rounds = counts.rounds;
    checkpoint.series["syncs"] = number(counts.rounds);
    checkpoint.series["repairs"] = 0;
    const std::map<std::string, double> counted = {
        {"communication_cost",
         roles.cost_server * number(counts.links_server) + roles.cost_peer * number(counts.links_peer)},
        {"paper_cost", roles.paper_round_cost * number(counts.rounds)},
        {"links_server", number(counts.links_server)},
        {"links_peer", number(counts.links_peer)},
        {"slots", number(counts.slots)},
        {"messages", number(counts.messages)},
        {"bytes_on_wire", number(counts.bytes)},
    };
    checkpoint.series.insert(counted.begin(), counted.end());
  }
}

// Adds totals of the whole run, which only the last checkpoint has; the others have 0.
void AddTotals(const Tally& tally, double waiting_regret, std::vector<Checkpoint>& checkpoints) {
  for (Checkpoint& checkpoint : checkpoints) {
    const double last = &checkpoint == &checkpoints.back() ? 1 : 0;
    const auto agents = static_cast<double>(checkpoint.clients);
    checkpoint.series["waiting_pulls"] = last * (tally.waited / agents);
    checkpoint.series["waiting_regret"] = last > 0 ? waiting_regret : 0;
    checkpoint.series["lost_tallies"] = last * static_cast<double>(tally.lost);
    checkpoint.series["disagreements"] = last * static_cast<double>(tally.disagreements);
    for (const auto& [name, value] : tally.numbers) checkpoint.series[name] = last > 0 ? value : 0;
  }
}

NetworkPicture PictureOf(const Graph& graph, bool server, const Traffic& traffic, const NetworkRun& run,
                         const Tally& before, const Tally& after) {
  NetworkPicture picture{.nodes = graph.nodes(),
                         .server = server,
                         .edges = graph.Edges(),
                         .edge_messages = traffic.over_edges(),
                         .uplink_messages = traffic.over_uplinks(),
                         .sinks = before.sinks,
                         .components = Components(graph),
                         .lost_agents = run.lost_agents,
                         .lost_links = run.lost_links,
                         .lost_messages = run.lost_messages,
                         .new_sinks = static_cast<Count>(after.new_sinks)};
  // The sinks of the beginning, and those that took their place.
  std::vector<NodeId>& sinks = picture.sinks;
  sinks.insert(sinks.end(), after.sinks.begin(), after.sinks.end());
  std::sort(sinks.begin(), sinks.end());
  sinks.erase(std::unique(sinks.begin(), sinks.end()), sinks.end());
  return picture;
}

}  // namespace

absl::StatusOr<Outcome> SimulateTicks(const Federation& federation, SlotWorld& world,
                                      const SimulateOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(federation, options));
  const auto& roles = std::get<TickRoles>(federation.roles);
  const Graph& graph = *federation.topology.graph();
  const std::unique_ptr<NetworkPlayer> server = roles.server ? roles.server() : nullptr;
  std::vector<std::unique_ptr<NetworkPlayer>> agents;
  std::vector<NetworkPlayer*> players;
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
    agents.push_back(roles.agent(NodeId{i}));
    players.push_back(agents.back().get());
  }
  std::vector<NetworkPlayer*> everybody = players;
  if (server != nullptr) everybody.insert(everybody.begin(), server.get());
  const Tally before = TallyUp(everybody, roles.reporting);

  RoundRecorder recorder(graph.nodes(), options.checkpoints);
  Traffic traffic(graph);
  const NetworkSimParams params{.seed = options.seed,
                                .replicate = options.replicate,
                                .budget_per_agent = federation.budget,
                                .failures = options.failures,
                                .dropout = options.dropout,
                                .decisions = options.decisions,
                                .stop = options.stop};
  BANDANA_ASSIGN_OR_RETURN(NetworkRun run,
                           RunNetwork(params, graph, server.get(), players, world, recorder, traffic));

  const Tally after = TallyUp(everybody, roles.reporting);
  Outcome outcome;
  outcome.checkpoints = recorder.Checkpoints();
  AddTraffic(roles, traffic, outcome.checkpoints);
  AddTotals(after, run.waiting_regret, outcome.checkpoints);
  outcome.network = PictureOf(graph, server != nullptr, traffic, run, before, after);
  outcome.decisions = std::move(run.decisions);
  return outcome;
}

}  // namespace bandana::sim
