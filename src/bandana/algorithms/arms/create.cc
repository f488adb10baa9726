#include "bandana/algorithms/arms/create.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "bandana/algorithms/arms/alone_player.h"
#include "bandana/algorithms/arms/arm_schedule.h"
#include "bandana/algorithms/arms/ddp_mab.h"
#include "bandana/algorithms/arms/successive_elimination.h"
#include "bandana/algorithms/arms/ucb1.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// The objects that the roles of one federation share. Roles point to them.
struct Shared {
  SiloArmSums privatizer;
  ArmSchedule schedule;
  Topology topology;
  Count reporting = 1;  // agents whose sums make up an estimate

  const Graph& graph() const { return *topology.graph(); }
};

absl::Status CheckFacts(const Facts& facts, const Privacy& privacy) {
  if (!(facts.people >= 1 && facts.people <= Graph::kMostNodes)) {
    return InvalidField(Part::kFacts, "people", fmt::format("{}", facts.people),
                        fmt::format("a whole number from 1 to {}", Graph::kMostNodes));
  }
  if (privacy.is_private() && facts.reward.kind == RewardKind::kUniform) {
    return InvalidField(
        Part::kFacts, "reward", "uniform",
        "bernoulli with privacy: sums of rewards must be exact (docs/proofs/silo-arm-sums.md)");
  }
  return absl::OkStatus();
}

template <class P>
absl::Status CheckArguments(const P& params, const OptionsFor<P>& options, const Privacy& privacy,
                            TrustModel trust, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckFields(options.options(), params));
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone, trust}));
  return CheckFacts(facts, privacy);
}

absl::StatusOr<SiloArmSums> MakePrivatizer(const Privacy& privacy, const Facts& facts, Count reporting) {
  if (!privacy.is_private()) return SiloArmSums::CreateBare(facts.rewards, NoPrivacy());
  return SiloArmSums::Create({.epsilon = privacy.epsilon,
                              .calibration = privacy.calibration,
                              .sampler = privacy.sampler,
                              .rewards = facts.rewards,
                              .reporting = reporting,
                              .records_per_person = privacy.records_per_person.value_or(1)});
}

absl::StatusOr<std::optional<double>> GapOf(const GapChoice& gap, const Facts& facts) {
  if (!gap.known) return gap.value;
  if (!facts.smallest_gap.has_value()) {
    return InvalidField(Part::kParams, "gap", "known",
                        "\"auto\" or a number in (0, 1]: this world does not know its smallest gap");
  }
  return *facts.smallest_gap > 0 ? facts.smallest_gap : std::nullopt;
}

template <class P>
absl::StatusOr<std::shared_ptr<const Shared>> MakeShared(const P& params, const Privacy& privacy,
                                                         const Facts& facts, Count reporting,
                                                         Topology topology) {
  BANDANA_ASSIGN_OR_RETURN(SiloArmSums privatizer, MakePrivatizer(privacy, facts, reporting));
  std::optional<double> gap;
  if (params.rounds.has_value()) {
    BANDANA_ASSIGN_OR_RETURN(gap, GapOf(params.gap, facts));
  }
  BANDANA_ASSIGN_OR_RETURN(ArmSchedule schedule, ArmSchedule::Create({.horizon = facts.horizon,
                                                                      .arms = facts.arms,
                                                                      .reporting = reporting,
                                                                      .rewards = facts.rewards,
                                                                      .noise_scale = privatizer.noise_scale(),
                                                                      .width = params.width,
                                                                      .bonus = params.bonus,
                                                                      .failure = params.failure,
                                                                      .rounds = params.rounds,
                                                                      .gap = gap,
                                                                      .overrun = params.overrun}));
  return std::make_shared<const Shared>(
      Shared{std::move(privatizer), schedule, std::move(topology), reporting});
}

// Returns ceil(p n), where a product that exceeds a whole number by rounding alone counts as that number.
Count ShareOf(double p, Count n) {
  return std::max<Count>(1, static_cast<Count>(std::ceil(p * static_cast<double>(n) - 1e-9)));
}

// Returns the smallest number of agents that any `drawn` components have.
Count FewestAgents(const std::vector<std::vector<NodeId>>& components, Count drawn) {
  std::vector<Count> sizes;
  for (const auto& component : components) sizes.push_back(static_cast<Count>(component.size()));
  std::sort(sizes.begin(), sizes.end());
  return std::accumulate(sizes.begin(), sizes.begin() + drawn, Count{0});
}

std::optional<Declassify> LeakOf(LocalData local) {
  return local == LocalData::kRaw ? std::optional(Declassify("local = raw")) : std::nullopt;
}

// Returns whether sums of rewards are exact and every reward is in its interval, as the proof of the claims
// needs it.
bool HasExactSums(const Facts& facts) {
  if (facts.reward.kind != RewardKind::kBernoulli && facts.reward.kind != RewardKind::kRademacher)
    return false;
  const Interval support = *facts.reward.support();
  return support.low >= facts.rewards.low && support.high <= facts.rewards.high;
}

std::vector<Note> NotesOf(const Facts& facts, const Privacy& privacy) {
  std::vector<Note> notes = facts.notes;
  if (privacy.is_private() && !HasExactSums(facts)) {
    notes.emplace_back(Note::Weight::kNarrowsClaim,
                       "The claims hold if every reward is in its interval and the world's sums of several "
                       "rewards are exact (docs/proofs/silo-arm-sums.md).",
                       "every reward is in its interval and the world's sums of several rewards are exact");
  }
  if (const std::optional<Note> unknown = UnknownRecords(privacy)) notes.push_back(*unknown);
  return notes;
}

// Adds the claim for somebody who meets all agents and has a reward at each: pure guarantees add up.
void AddPersonAtEveryAgent(const Shared& shared, const Privacy& privacy, const std::string& adversary,
                           std::vector<Claim>& claims) {
  const Count agents = shared.topology.clients();
  if (claims.empty() || agents == 1 || privacy.records_per_person.has_value()) return;
  Claim composed = claims.front();
  composed.guarantee.epsilon =
      calibration::ProductUp(composed.guarantee.epsilon, static_cast<double>(agents));
  composed.unit = fmt::format("one person who has a reward at each of the {} agents", agents);
  composed.adversary = adversary;
  composed.asked = false;
  claims.push_back(composed);
}

Note WhoIsDrawn() {
  return {
      Note::Weight::kRemark,
      "Rewards differ between agents, and not all report in a round: widths do not cover who is drawn, and "
      "the best arm may be lost."};
}

// Returns the claims of agents that send their sums to `others`.
std::vector<Claim> ClaimsOf(const Shared& shared, const Privacy& privacy, const std::string& others,
                            LocalData local) {
  std::vector<Claim> claims = shared.privatizer.claims();
  if (claims.empty()) return claims;
  for (Claim& claim : claims) {
    claim.adversary = fmt::format("{}: they see what the agent sends", others);
    if (privacy.records_per_person.has_value()) {
      absl::StrReplaceAll({{"all other agents", "all agents that have no reward of this person"}},
                          &claim.adversary);
    }
    claim.unit = RecordUnit("reward", "rewards", privacy.records_per_person);
    if (local == LocalData::kRaw) {
      claim.only_if = "nobody sees what the agent pulls while it waits (local = raw)";
    }
  }
  AddPersonAtEveryAgent(shared, privacy,
                        "everyone who sees what all agents send, is none of them, and works with none",
                        claims);
  return claims;
}

Federation MakeFederation(const Shared& shared, const Facts& facts, const Privacy& privacy, TickRoles roles) {
  return {.roles = std::move(roles),
          .topology = shared.topology,
          .budget = shared.privatizer.guarantee(),
          .charges_clients = privacy.is_private(),
          .notes = NotesOf(facts, privacy)};
}

// Agents, each of which can reach the server.
Federation MakeServed(const std::shared_ptr<const Shared>& shared, const HdpMabServerParams& params,
                      LocalData local, const Facts& facts, const Privacy& privacy) {
  TickRoles roles;
  roles.reporting = shared->reporting;
  roles.server = [shared, params] {
    return std::make_unique<HdpMabServer>(params, shared->schedule, shared->graph());
  };
  roles.agent = [shared, local](NodeId self) {
    const ArmScheduleParams& known = shared->schedule.params();
    return std::make_unique<HdpMabAgent>(self, shared->topology.clients(), known.arms, known.horizon,
                                         shared->privatizer, LeakOf(local));
  };
  Federation federation = MakeFederation(*shared, facts, privacy, std::move(roles));
  federation.claims = Narrowed(ClaimsOf(*shared, privacy, "the server and all other agents, together", local),
                               federation.notes);
  return federation;
}

// Peers on a graph, which may have no edges.
Federation MakePeers(const std::shared_ptr<const Shared>& shared,
                     const std::shared_ptr<const DisseminationClock>& clock, LocalData local,
                     const Facts& facts, const Privacy& privacy) {
  TickRoles roles;
  roles.reporting = shared->reporting;
  roles.agent = [shared, clock, local](NodeId self) {
    return std::make_unique<DdpMabPeer>(self, shared->schedule, *clock, shared->privatizer, LeakOf(local));
  };
  return MakeFederation(*shared, facts, privacy, std::move(roles));
}

// Agents without a link, each with a policy of its own that sees every reward.
template <class Policy>
absl::StatusOr<Federation> MakeBaseline(const absl::StatusOr<Policy>& policy, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone}));
  BANDANA_RETURN_IF_ERROR(CheckFacts(facts, privacy));
  BANDANA_RETURN_IF_ERROR(policy.status());
  if (facts.rewards != Interval{0, 1}) {
    return InvalidField(Part::kFacts, "rewards",
                        fmt::format("[{}, {}]", facts.rewards.low, facts.rewards.high), "[0, 1]");
  }
  BANDANA_ASSIGN_OR_RETURN(Graph graph, Graph::Create(facts.people, {}));
  TickRoles roles;
  roles.agent = [policy = *policy, horizon = facts.horizon](NodeId) {
    return std::make_unique<AlonePlayer<Policy>>(policy, horizon, Declassify("a baseline"));
  };
  return Federation{
      .roles = std::move(roles), .topology = Topology::Peers(std::move(graph)), .notes = facts.notes};
}

}  // namespace

absl::StatusOr<Federation> CreateCdpMab(const CdpMabParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckArguments(params, CdpMabOptions(), privacy, TrustModel::kSilo, facts));
  const Count reporting = ShareOf(params.participation, facts.people);
  BANDANA_ASSIGN_OR_RETURN(Graph graph, Graph::Create(facts.people, {}));
  BANDANA_ASSIGN_OR_RETURN(const auto shared, MakeShared(params, privacy, facts, reporting,
                                                         Topology::PeersWithServer(std::move(graph))));
  Federation federation =
      MakeServed(shared, {.participants = reporting}, LocalData::kReleased, facts, privacy);
  auto& roles = std::get<TickRoles>(federation.roles);
  roles.cost_server = params.cost_server;
  roles.paper_round_cost = params.cost_server * static_cast<double>(reporting);  // Theorem 2
  if (facts.agents_differ && reporting < facts.people) federation.notes.push_back(WhoIsDrawn());
  return federation;
}

absl::StatusOr<Federation> CreateDdpMab(const DdpMabParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckArguments(params, DdpMabOptions(), privacy, TrustModel::kPeer, facts));
  BANDANA_ASSIGN_OR_RETURN(Graph graph, MakePeerGraph(params.network, facts.people, facts.public_seed));
  BANDANA_ASSIGN_OR_RETURN(
      const auto shared, MakeShared(params, privacy, facts, facts.people, Topology::Peers(std::move(graph))));
  const auto clock = std::make_shared<const DisseminationClock>(
      shared->graph(), params.protocol, static_cast<int>(params.slack), facts.public_seed);
  Federation federation = MakePeers(shared, clock, params.local, facts, privacy);
  federation.claims =
      Narrowed(ClaimsOf(*shared, privacy, "all other agents, together", params.local), federation.notes);
  auto& roles = std::get<TickRoles>(federation.roles);
  roles.cost_peer = params.cost_peer;
  roles.paper_round_cost = params.cost_peer * static_cast<double>(shared->graph().edges()) *
                           shared->graph().diameter();  // Theorem 3
  return federation;
}

absl::StatusOr<Federation> CreateHdpMab(const HdpMabParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckArguments(params, HdpMabOptions(), privacy, TrustModel::kSilo, facts));
  BANDANA_ASSIGN_OR_RETURN(Graph graph, MakeComponentGraph(params.network, facts.people, facts.public_seed));
  const std::vector<std::vector<NodeId>> components = Components(graph);
  const auto all = static_cast<Count>(components.size());
  const Count drawn = ShareOf(params.participation, all);
  // Who is drawn is not known beforehand, so explorations are long enough for the smallest components.
  BANDANA_ASSIGN_OR_RETURN(const auto shared,
                           MakeShared(params, privacy, facts, FewestAgents(components, drawn),
                                      Topology::PeersWithServer(std::move(graph))));
  const HdpMabServerParams server{.aggregation = params.aggregation, .participants = drawn};
  Federation federation = MakeServed(shared, server, params.local, facts, privacy);
  const SinkRoutes routes = HdpMabServer(server, shared->schedule, shared->graph()).routes();
  const bool edges = params.cost_rule == CostRule::kEdges;
  const Count links = edges ? shared->graph().edges() : PathLinks(routes);  // Theorem 4
  const double share = static_cast<double>(drawn) / static_cast<double>(all);
  auto& roles = std::get<TickRoles>(federation.roles);
  roles.cost_server = params.cost_server;
  roles.cost_peer = params.cost_peer;
  roles.paper_round_cost = params.cost_peer * static_cast<double>(links) * share +  // on average over draws
                           params.cost_server * static_cast<double>(drawn);
  if (facts.agents_differ && drawn < all) federation.notes.push_back(WhoIsDrawn());
  if (facts.agents_differ && params.aggregation == Aggregation::kUnweighted) {
    federation.notes.emplace_back(
        Note::Weight::kRemark,
        "Rewards differ between agents, and components count alike whatever their size: where sizes differ, "
        "the mean of their means is not the agents' mean.");
  }
  return federation;
}

absl::StatusOr<Federation> CreateSingleMab(const SingleMabParams& params, const Privacy& privacy,
                                           const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckArguments(params, SingleMabOptions(), privacy, TrustModel::kSilo, facts));
  BANDANA_ASSIGN_OR_RETURN(Graph graph, Graph::Create(facts.people, {}));
  BANDANA_ASSIGN_OR_RETURN(const auto shared,
                           MakeShared(params, privacy, facts, 1, Topology::Peers(std::move(graph))));
  const auto clock =
      std::make_shared<const DisseminationClock>(shared->graph(), Protocol::kGis, 0, facts.public_seed);
  Federation federation = MakePeers(shared, clock, LocalData::kReleased, facts, privacy);
  federation.claims = shared->privatizer.claims();
  // A person who comes again is a later user.
  const std::string others =
      "all other users of all agents, together: they see what the agents pull for them";
  for (Claim& claim : federation.claims) {
    claim.adversary = privacy.records_per_person.has_value()
                          ? others
                          : "all later users of the agent, together: they see what it pulls";
    claim.unit = RecordUnit("reward", "rewards", privacy.records_per_person);
  }
  AddPersonAtEveryAgent(*shared, privacy, others, federation.claims);
  federation.claims = Narrowed(std::move(federation.claims), federation.notes);
  return federation;
}

absl::StatusOr<Federation> CreateUcb1(const Ucb1Params& params, const Privacy& privacy, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckFields(Ucb1Options().options(), params));
  return MakeBaseline(Ucb1::Create(facts.arms, params.bonus), privacy, facts);
}

absl::StatusOr<Federation> CreateSuccessiveElimination(const SweepParams& params, const Privacy& privacy,
                                                       const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckFields(SweepOptions().options(), params));
  return MakeBaseline(
      SuccessiveElimination::Create({.arms = facts.arms, .horizon = facts.horizon, .bonus = params.bonus}),
      privacy, facts);
}

}  // namespace bandana
