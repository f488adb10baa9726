#include "bandana/lab/arms.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/federation/forwarding_player.h"
#include "bandana/federation/traffic.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/arm_parts.h"
#include "bandana/lab/federated_parts.h"
#include "bandana/lab/spec.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/sim/network_simulator.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

absl::StatusOr<std::vector<Failure>> FailuresOf(const Settings& settings) {
  std::vector<Failure> failures;
  const std::string text =
      settings.Has("federation.failures") ? settings.Text("federation.failures") : "none";
  if (text == "none") return failures;
  for (const auto word : absl::StrSplit(text, ',')) {
    BANDANA_ASSIGN_OR_RETURN(const Failure failure,
                             ParseFailure(std::string(absl::StripAsciiWhitespace(word))));
    const auto known = [&](NodeId node) { return node.value <= AgentsOf(settings); };
    if (!known(failure.a) || !known(failure.b)) {
      return InvalidOption("federation.failures", std::string(word),
                           fmt::format("agents from 1 to {}", AgentsOf(settings)));
    }
    failures.push_back(failure);
  }
  return failures;
}

absl::Status CheckLinks(const Graph& graph, bool server, const std::vector<Failure>& failures) {
  for (const Failure& failure : failures) {
    if (failure.kind != Failure::Kind::kLink) continue;
    const bool there = failure.a == kServerNode ? server : graph.adjacent(failure.a, failure.b);
    if (there) continue;
    return InvalidOption("federation.failures", fmt::format("link {}-{}", failure.a.value, failure.b.value),
                         "a link that the network has");
  }
  return absl::OkStatus();
}

// What agents of the three structures have in common; null of another's.
const ArmAgent* AgentOf(const NetworkPlayer& role) {
  if (const auto* worker = dynamic_cast<const HdpMabAgent*>(&role)) return &worker->agent();
  if (const auto* peer = dynamic_cast<const DdpMabPeer*>(&role)) return &peer->agent();
  return nullptr;
}

// Writes down what an agent pulls, and what it loses while it waits.
class WatchedPlayer final : public ForwardingPlayer {
 public:
  WatchedPlayer(std::unique_ptr<NetworkPlayer> role, const ArmProblem& problem, std::vector<Pull>* pulls)
      : ForwardingPlayer(std::move(role)), agent_(AgentOf(this->role())), problem_(&problem), pulls_(pulls) {}

  std::span<const Pull> Act(Context& context) override {
    const std::span<const Pull> pulls = ForwardingPlayer::Act(context);
    if (agent_ != nullptr && agent_->waits()) {
      for (const Pull& pull : pulls)
        waiting_regret_ += problem_->Gap(pull.arm) * static_cast<double>(pull.count);
    }
    if (pulls_ != nullptr) pulls_->insert(pulls_->end(), pulls.begin(), pulls.end());
    return pulls;
  }

  Count waited() const { return agent_ == nullptr ? 0 : agent_->waited(); }
  double waiting_regret() const { return waiting_regret_; }

 private:
  const ArmAgent* agent_;
  const ArmProblem* problem_;
  double waiting_regret_ = 0;
  std::vector<Pull>* pulls_;
};

struct Tallied {
  Count lost = 0;
  Count disagreements = 0;
  Count waited = 0;
  double waiting_regret = 0;
};

// What roles know of the run afterwards.
Tallied TallyUp(const HdpMabServer* server, const std::vector<std::unique_ptr<WatchedPlayer>>& agents,
                Count reporting) {
  Tallied tallied;
  if (server != nullptr) {
    for (const ArmRound& round : server->history()) tallied.lost += reporting - round.agents;
  }
  std::map<Epoch, std::set<std::vector<ArmId>>> left;
  for (const auto& agent : agents) {
    tallied.waited += agent->waited();
    tallied.waiting_regret += agent->waiting_regret();
    const auto* peer = dynamic_cast<const DdpMabPeer*>(&agent->role());
    if (peer == nullptr) continue;
    for (const ArmRound& round : peer->history()) {
      tallied.lost += reporting - round.agents;
      if (reporting > 1) left[round.epoch].insert(round.arms);
    }
  }
  for (const auto& [epoch, sets] : left) tallied.disagreements += sets.size() > 1 ? 1 : 0;
  return tallied;
}

void AddTraffic(const Settings& settings, const Traffic& traffic, double round_cost, const Tallied& tallied,
                std::vector<Checkpoint>& checkpoints) {
  const auto cost = [&](const char* key) { return settings.Has(key) ? settings.Number(key) : 0; };
  for (Checkpoint& checkpoint : checkpoints) {
    const TrafficCounts counts = traffic.Until(checkpoint.t);
    checkpoint.messages = counts.messages;
    checkpoint.links_server = counts.links_server;
    checkpoint.links_peer = counts.links_peer;
    checkpoint.slots = counts.slots;
    checkpoint.reals = counts.reals;
    checkpoint.bytes = counts.bytes;
    checkpoint.bits = 8 * counts.bytes;
    checkpoint.rounds = counts.rounds;
    checkpoint.cost = cost("federation.cost_server") * static_cast<double>(counts.links_server) +
                      cost("federation.cost_peer") * static_cast<double>(counts.links_peer);
    checkpoint.paper_cost = round_cost * static_cast<double>(counts.rounds);
  }
  Checkpoint& end = checkpoints.back();
  end.waiting = static_cast<double>(tallied.waited) / static_cast<double>(end.agents);
  end.waiting_regret = tallied.waiting_regret;
  end.lost_tallies = tallied.lost;
  end.disagreements = tallied.disagreements;
}

}  // namespace

absl::Status CheckArms(const Settings& settings) {
  const std::string& name = settings.Text("algorithm.name");
  if (const std::string& kind = settings.Text("environment.kind"); kind != "mab") {
    return InvalidOption("environment.kind", kind, fmt::format("mab with algorithm.name = \"{}\"", name));
  }
  if (const std::string& reward = settings.Text("environment.reward");
      reward != "bernoulli" && reward != "uniform") {
    return InvalidOption("environment.reward", reward, "bernoulli, or uniform where no mean is below 0.5");
  }
  const std::string& model = settings.Text("privacy.model");
  if (model != "none" && settings.Text("environment.reward") == "uniform") {
    return InvalidOption(
        "environment.reward", "uniform",
        "bernoulli with privacy: sums of rewards must be exact (docs/proofs/silo-arm-sums.md)");
  }
  const std::string wanted = name == "ddp-mab"                                    ? "peer"
                             : name == "ucb1" || name == "successive-elimination" ? "none"
                                                                                  : "silo";
  if (model != "none" && model != wanted) {
    return InvalidOption(
        "privacy.model", model,
        fmt::format("{} with algorithm.name = \"{}\"", wanted == "none" ? wanted : "none, " + wanted, name));
  }
  BANDANA_ASSIGN_OR_RETURN(const auto parts, ArmParts::Create(settings));
  BANDANA_RETURN_IF_ERROR(parts->MakeWorld().status());
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Failure> failures, FailuresOf(settings));
  return CheckLinks(parts->graph(), parts->has_server(), failures);
}

std::vector<std::string> ArmsNotes(const Settings& settings) {
  std::vector<std::string> notes;
  if (!AlgorithmOf(settings).arms || !Talks(settings)) return notes;
  const auto is = [&](const char* key, const char* value) {
    return settings.Has(key) && settings.Text(key) == value;
  };
  const bool differ = settings.Number("environment.heterogeneous") > 0;
  const bool loses =
      settings.Number("federation.dropout") > 0 || settings.Text("federation.failures") != "none";
  if (differ && ReportingOf(settings) < AgentsOf(settings)) {
    notes.emplace_back(
        "Rewards differ between agents, and not all report in a round: widths do not cover who is drawn, and "
        "the best arm may be lost.");
  }
  if (differ && is("algorithm.aggregation", "unweighted")) {
    notes.emplace_back(
        "Rewards differ between agents, and components count alike whatever their size: where sizes differ, "
        "the mean of their means is not the agents' mean.");
  }
  if (differ && loses) {
    notes.emplace_back(
        "Rewards differ between agents, and some are not heard: widths do not cover who is missing.");
  }
  if (settings.Text("federation.failures").find("agent") != std::string::npos) {
    notes.emplace_back("An agent that is lost plays no more: its regret ends there.");
  }
  return notes;
}

absl::StatusOr<std::vector<Claim>> ArmsClaims(const Settings& settings) {
  if (!IsPrivate(settings)) return std::vector<Claim>{};
  BANDANA_ASSIGN_OR_RETURN(const SiloArmSums privatizer, MakeArmPrivatizer(settings));
  std::vector<Claim> claims = privatizer.claims();
  const bool raw = settings.Has("algorithm.local") && settings.Text("algorithm.local") == "raw";
  const Count agents = AgentsOf(settings);
  if (claims.empty()) return claims;
  if (settings.Text("algorithm.name") == "single-mab") {
    for (Claim& claim : claims)
      claim.adversary = "all later users of the agent, colluding: they see what it pulls";
    return claims;
  }
  for (Claim& claim : claims) {
    if (raw) claim.adversary += "; not whoever sees what the agent pulls while it waits (local = raw)";
  }
  // Whoever meets several agents has a reward at each: pure guarantees add up.
  if (agents > 1) {
    Claim composed = claims.front();
    composed.guarantee.epsilon =
        calibration::ProductUp(composed.guarantee.epsilon, static_cast<double>(agents));
    composed.unit = fmt::format("one person who has a reward at each of the {} agents", agents);
    claims.push_back(composed);
  }
  return claims;
}

absl::StatusOr<ArmsOutcome> RunArms(const Settings& settings, std::uint32_t replicate, bool pulls,
                                    const std::atomic<bool>& stop) {
  BANDANA_ASSIGN_OR_RETURN(const auto parts, ArmParts::Create(settings, replicate));
  BANDANA_ASSIGN_OR_RETURN(ArmWorld world, parts->MakeWorld());
  BANDANA_ASSIGN_OR_RETURN(std::vector<Failure> failures, FailuresOf(settings));
  const Graph& graph = parts->graph();
  ArmsOutcome outcome;
  if (pulls) outcome.pulls.resize(static_cast<std::size_t>(graph.nodes()));
  const std::unique_ptr<HdpMabServer> server = parts->has_server() ? parts->MakeServer() : nullptr;
  const bool sinks = graph.edges() > 0 && server != nullptr;  // where every agent is one, nobody looks for it
  if (sinks) outcome.picture.sinks = server->routes().sinks;
  std::vector<std::unique_ptr<WatchedPlayer>> agents;
  std::vector<NetworkPlayer*> players;
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
    agents.push_back(std::make_unique<WatchedPlayer>(parts->MakeAgent(NodeId{i}), *parts->problem(),
                                                     pulls ? &outcome.pulls[i - 1] : nullptr));
    players.push_back(agents.back().get());
  }
  RoundRecorder recorder(graph.nodes(), Checkpoints(settings));
  Traffic traffic(graph);
  const sim::NetworkSimParams params{
      .seed = static_cast<std::uint64_t>(settings.Integer("seed")),
      .replicate = replicate,
      .budget_per_agent = parts->privatizer().guarantee(),
      .failures = std::move(failures),
      .dropout = settings.Has("federation.dropout") ? settings.Number("federation.dropout") : 0,
      .stop = &stop};
  BANDANA_ASSIGN_OR_RETURN(
      const sim::NetworkLosses losses,
      sim::RunNetwork(params, graph, server.get(), players, world, *parts->problem(), recorder, traffic));
  outcome.checkpoints = recorder.Checkpoints();
  AddTraffic(settings, traffic, parts->PaperCost(), TallyUp(server.get(), agents, ReportingOf(settings)),
             outcome.checkpoints);
  NetworkPicture& picture = outcome.picture;
  picture.nodes = graph.nodes();
  picture.server = server != nullptr;
  picture.edges = graph.Edges();
  picture.edge_messages = traffic.over_edges();
  picture.uplink_messages = traffic.over_uplinks();
  picture.components = Components(graph);
  picture.lost_agents = losses.agents;
  picture.lost_links = losses.links;
  picture.lost_messages = losses.messages;
  picture.new_sinks = server == nullptr ? 0 : server->new_sinks();
  if (sinks) {  // those of the beginning, and those that took their place
    picture.sinks.insert(picture.sinks.end(), server->routes().sinks.begin(), server->routes().sinks.end());
    std::sort(picture.sinks.begin(), picture.sinks.end());
    picture.sinks.erase(std::unique(picture.sinks.begin(), picture.sinks.end()), picture.sinks.end());
  }
  return outcome;
}

}  // namespace bandana::lab
