#include "bandana/lab/federated.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bandana/algorithms/fed_ucb.h"
#include "bandana/algorithms/fed_ucb_p2p.h"
#include "bandana/algorithms/noise_norms.h"
#include "bandana/bandit/round_contexts.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/lab/rewards.h"
#include "bandana/lab/spec.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/sim/round_simulator.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

constexpr double kContextNorm = 1;             // L
constexpr double kRewardBound = 1;             // B
constexpr double kThetaNorm = 1;               // S
constexpr std::int64_t kToeplitzSteps = 4096;  // beyond which its n^2 products take too long

bool IsPrivate(const Settings& settings) { return settings.Text("privacy.model") != "none"; }
bool PaperNoiseOf(const Settings& settings) {
  return IsPrivate(settings) && settings.Text("privacy.calibration") == "paper";
}
bool ActsOnRaw(const Settings& settings) { return settings.Text("algorithm.local") == "raw"; }
bool Triggers(const Settings& settings) { return settings.Text("algorithm.sync") == "determinant"; }
bool IsPeers(const Settings& settings) { return settings.Text("algorithm.name") == "fed-ucb-p2p"; }
bool IsAlone(const Settings& settings) { return settings.Text("algorithm.name") == "private-lin-ucb"; }
Count AgentsOf(const Settings& settings) { return settings.Integer("federation.agents"); }
int GammaOf(const Settings& settings) {
  return IsPeers(settings) ? static_cast<int>(settings.Integer("algorithm.gamma")) : 1;
}

Sync SyncOf(const Settings& settings) {
  for (const Sync sync :
       {Sync::kEvery, Sync::kBatch, Sync::kM15, Sync::kDoubling, Sync::kReleased, Sync::kDeterminant}) {
    if (NameOf(sync) == settings.Text("algorithm.sync")) return sync;
  }
  return Sync::kMLogT;
}

// Of one estimator, by how often it is used.
absl::StatusOr<SyncSchedule> MakeSchedule(const Settings& settings) {
  const int gamma = GammaOf(settings);
  return SyncSchedule::Create(
      {.sync = SyncOf(settings),
       .horizon = (settings.Integer("horizon") + gamma - 1) / gamma,
       .agents = AgentsOf(settings),
       .batch = settings.Has("algorithm.batch") ? settings.Integer("algorithm.batch") : 0,
       .most = settings.Has("algorithm.most_syncs") ? settings.Integer("algorithm.most_syncs") : 0});
}

absl::StatusOr<PrefixSumMechanism> MechanismOf(const Settings& settings, std::int64_t steps) {
  const std::string& name = settings.Text("algorithm.prefix_sum");
  for (const PrefixSumMechanism mechanism :
       {PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker, PrefixSumMechanism::kToeplitz}) {
    if (name == NameOf(mechanism)) return mechanism;
  }
  if (PaperNoiseOf(settings)) return PrefixSumMechanism::kTree;
  return BestPrefixSum(steps, kToeplitzSteps);
}

// Epsilons of the agents, who take them in turn.
std::vector<double> BudgetsOf(const Settings& settings) {
  if (settings.Has("privacy.budgets")) {
    if (const auto* list = std::get_if<std::vector<double>>(settings.Find("privacy.budgets"))) return *list;
  }
  return {settings.Number("privacy.epsilon")};
}

// How much weight a reward has beside its context: for the narrowest width at the end of a run.
double RewardWeightOf(const Settings& settings) {
  if (!IsPrivate(settings) || PaperNoiseOf(settings)) return 1;
  return BestRewardWeight(settings.Integer("environment.dimension"), kContextNorm, kRewardBound, kThetaNorm,
                          settings.Number("algorithm.failure"), 2);
}

// One for each budget.
absl::StatusOr<std::vector<RegressionPrefixSum>> MakePrivatizers(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const SyncSchedule schedule, MakeSchedule(settings));
  const Count dimension = settings.Integer("environment.dimension");
  std::vector<RegressionPrefixSum> privatizers;
  if (!IsPrivate(settings)) {
    BANDANA_ASSIGN_OR_RETURN(
        RegressionPrefixSum bare,
        RegressionPrefixSum::CreateBare({schedule.releases(), dimension, kContextNorm, kRewardBound, 1},
                                        Declassify("privacy.model = none")));
    privatizers.push_back(std::move(bare));
    return privatizers;
  }
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumMechanism mechanism, MechanismOf(settings, schedule.releases()));
  for (const double epsilon : BudgetsOf(settings)) {
    BANDANA_ASSIGN_OR_RETURN(
        RegressionPrefixSum privatizer,
        RegressionPrefixSum::Create(
            {.nominal = {epsilon, settings.Number("privacy.delta")},
             .calibration = PaperNoiseOf(settings) ? Calibration::kPaper : Calibration::kTight,
             .sampler = settings.Text("privacy.sampler") == "exact" ? Sampler::kExact : Sampler::kFast,
             .mechanism = mechanism,
             .steps = schedule.releases(),
             .dimension = dimension,
             .context_norm = kContextNorm,
             .reward_bound = kRewardBound,
             .reward_weight = RewardWeightOf(settings)}));
    privatizers.push_back(std::move(privatizer));
  }
  return privatizers;
}

// The noise of several silos together: in a value that they release, and by how much the sum of scales is
// above it.
struct SiloNoise {
  double total = 0;
  double spread = 1;
};

SiloNoise NoiseOf(const std::vector<RegressionPrefixSum>& privatizers, std::span<const NodeId> silos) {
  double squares = 0;
  double sum = 0;
  for (const NodeId silo : silos) {
    const double noise = privatizers[(silo.value - 1) % privatizers.size()].noise();
    squares += noise * noise;
    sum += noise;
  }
  const double total = std::sqrt(squares);
  return {total, total > 0 ? sum / total : 1};
}

// The last argument: how many sums are ever decided by, by all together.
absl::StatusOr<FedUcbWidth> MakeWidth(const Settings& settings, const SyncSchedule& schedule, Count silos,
                                      const SiloNoise& noise, Count sums) {
  const RewardModel reward = MakeRewardModel(settings);
  FedUcbWidthParams params{
      .dimension = settings.Integer("environment.dimension"),
      .silos = silos,
      .releases = schedule.releases(),
      .sums = sums,
      .context_norm = kContextNorm,
      .theta_norm = kThetaNorm,
      .reward_proxy = reward.kind == RewardKind::kBernoulli ? 0.5 : 1,
      .failure = settings.Number("algorithm.failure"),
      .shift = settings.Has("algorithm.shift") && settings.Text("algorithm.shift") == "agent" ? Shift::kAgent
                                                                                              : Shift::kGroup,
      .width =
          settings.Text("algorithm.width") == "paper" ? RegressionWidth::kPaper : RegressionWidth::kExact,
      .orders = ActsOnRaw(settings) ? sums * silos : std::max<Count>(1, sums / schedule.releases()),
      .noise_spread = noise.spread,
      .moment_ratio = 1 / RewardWeightOf(settings)};
  if (PaperNoiseOf(settings) && params.shift == Shift::kAgent) {
    params.paper = PaperNoise{{settings.Number("privacy.epsilon"), settings.Number("privacy.delta")}};
  }
  return FedUcbWidth::Create(params);
}

std::optional<Declassify> LeakOf(const Settings& settings) {
  if (!IsPrivate(settings)) return Declassify("privacy.model = none");
  if (Triggers(settings)) return Declassify("sync = determinant: agents watch their own unreleased data");
  if (ActsOnRaw(settings)) return Declassify("local = raw: agents act on their own unreleased data");
  return std::nullopt;
}

LocalData LocalOf(const Settings& settings) {
  return ActsOnRaw(settings) ? LocalData::kRaw : LocalData::kReleased;
}

// Agents play every pace-th round; they take the paces in turn.
Count PaceOf(const Settings& settings, std::size_t agent) {
  const auto* paces = std::get_if<std::vector<std::int64_t>>(settings.Find("federation.paces"));
  return paces == nullptr ? 1 : (*paces)[agent % paces->size()];
}

absl::StatusOr<RoundContexts> MakeRoundContexts(const Settings& settings, std::uint32_t replicate) {
  const std::string& contexts = settings.Text("environment.contexts");
  const bool gap = contexts == "gap";
  return RoundContexts::Create({.dimension = settings.Integer("environment.dimension"),
                                .arms = settings.Integer("environment.actions"),
                                .law = gap ? RoundLaw::kGap : RoundLaw::kSphere,
                                .gap = gap ? settings.Number("environment.gap") : 0,
                                .theta_norm = gap ? 1 : settings.Number("environment.theta_norm"),
                                .reward = MakeRewardModel(settings).kind,
                                .seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                                .replicate = replicate});
}

std::vector<NodeId> NodesFrom(NodeId first, Count count) {
  std::vector<NodeId> nodes;
  for (Count i = 0; i < count; ++i) nodes.push_back(NodeId{first.value + static_cast<std::uint32_t>(i)});
  return nodes;
}

DpGuarantee LargestBudget(const std::vector<RegressionPrefixSum>& privatizers) {
  DpGuarantee largest{0, 0};
  for (const RegressionPrefixSum& privatizer : privatizers) {
    largest.epsilon = std::max(largest.epsilon, privatizer.guarantee().epsilon);
    largest.delta = std::max(largest.delta, privatizer.guarantee().delta);
  }
  return largest;
}

struct Run {
  const Settings& settings;
  std::uint32_t replicate;
  int threads;
  const std::atomic<bool>& stop;
  const RoundContexts& contexts;
  const std::vector<RegressionPrefixSum>& privatizers;
  const SyncSchedule& schedule;
  RoundRecorder& recorder;

  sim::RoundSimParams SimParams() const {
    return {.seed = static_cast<std::uint64_t>(settings.Integer("seed")),
            .replicate = replicate,
            .horizon = settings.Integer("horizon"),
            .budget_per_silo = LargestBudget(privatizers),
            .threads = threads,
            .stop = &stop};
  }
  const RegressionPrefixSum& PrivatizerOf(NodeId agent) const {
    return privatizers[(agent.value - 1) % privatizers.size()];
  }
};

// Agents first .. first + count - 1 and their controller.
template <class Scalar>
absl::Status RunStar(const Run& run, NodeId first, Count count) {
  using Agent = FedUcbAgent<RegressionPrefixSum, Scalar>;
  const Settings& settings = run.settings;
  const SiloNoise noise = NoiseOf(run.privatizers, NodesFrom(first, count));
  const Count sums = run.schedule.releases() * (IsAlone(settings) ? AgentsOf(settings) : 1);
  BANDANA_ASSIGN_OR_RETURN(const FedUcbWidth width, MakeWidth(settings, run.schedule, count, noise, sums));
  const double first_noise = noise.total * std::sqrt(run.privatizers.front().strategy().Variance(1));
  const Regularizer start = width.RegularizerFor(first_noise);
  FedUcbAgentParams params{.horizon = settings.Integer("horizon"),
                           .silos = count,
                           .local = LocalOf(settings),
                           .triggers = Triggers(settings),
                           .threshold = DeterminantThreshold(settings.Integer("horizon"),
                                                             settings.Integer("environment.dimension"),
                                                             kContextNorm, start.rho_min, start.rho_max),
                           .first_noise = first_noise};
  std::vector<std::unique_ptr<Agent>> agents;
  for (const NodeId agent : NodesFrom(first, count)) {
    params.pace = PaceOf(settings, agent.value - 1);
    agents.push_back(std::make_unique<Agent>(params, width, run.PrivatizerOf(agent), LeakOf(settings)));
  }
  FedUcbController<RegressionPrefixSum> controller(run.schedule, width, run.PrivatizerOf(first), first,
                                                   noise.total);
  BANDANA_RETURN_IF_ERROR((sim::RoundSimulator<Agent, Scalar>::RunStar(
      run.SimParams(), controller, nullptr, agents, first, Triggers(settings), run.contexts, run.recorder)));
  run.recorder.Repair(agents.front()->policy().repairs());
  return absl::OkStatus();
}

template <class Scalar>
absl::Status RunPeers(const Run& run) {
  using Peer = FedUcbPeer<RegressionPrefixSum, Scalar>;
  const Settings& settings = run.settings;
  const int gamma = GammaOf(settings);
  BANDANA_ASSIGN_OR_RETURN(const Graph graph, MakeGraph(settings));
  const Cliques cliques = CliqueCover(graph.Power(gamma));
  // A clique's sums change with every bulletin that comes in: each of its members', step by step, for every
  // estimator.
  Count sums = 0;
  for (const auto& clique : cliques) {
    sums += static_cast<Count>(clique.size() * clique.size()) * run.schedule.releases() * gamma;
  }
  std::vector<std::unique_ptr<FedUcbWidth>> widths;
  std::vector<std::unique_ptr<Peer>> peers(static_cast<std::size_t>(graph.nodes()));
  for (const auto& clique : cliques) {
    const SiloNoise noise = NoiseOf(run.privatizers, clique);
    BANDANA_ASSIGN_OR_RETURN(
        const FedUcbWidth width,
        MakeWidth(settings, run.schedule, static_cast<Count>(clique.size()), noise, sums));
    widths.push_back(std::make_unique<FedUcbWidth>(width));
    const double first_noise = noise.total * std::sqrt(run.privatizers.front().strategy().Variance(1));
    const Regularizer start = width.RegularizerFor(first_noise);
    for (const NodeId node : clique) {
      const FedUcbPeerParams params{
          .horizon = settings.Integer("horizon"),
          .clique = clique,
          .gamma = gamma,
          .local = LocalOf(settings),
          .pace = PaceOf(settings, node.value - 1),
          .triggers = Triggers(settings),
          .threshold =
              DeterminantThreshold(run.schedule.params().horizon, settings.Integer("environment.dimension"),
                                   kContextNorm, start.rho_min, start.rho_max) /
              (1 + kContextNorm * kContextNorm),
          .first_noise = first_noise};
      peers[node.value - 1] = std::make_unique<Peer>(params, run.schedule, *widths.back(),
                                                     run.PrivatizerOf(node), LeakOf(settings));
    }
  }
  BANDANA_RETURN_IF_ERROR((sim::RoundSimulator<Peer, Scalar>::RunPeers(run.SimParams(), graph, peers, {},
                                                                       run.contexts, run.recorder)));
  Count repairs = 0;
  for (const auto& peer : peers) repairs += peer->repairs();
  run.recorder.Repair(repairs);
  return absl::OkStatus();
}

template <class Scalar>
absl::Status RunAs(const Run& run) {
  if (IsPeers(run.settings)) return RunPeers<Scalar>(run);
  const Count agents = AgentsOf(run.settings);
  if (!IsAlone(run.settings)) return RunStar<Scalar>(run, NodeId{1}, agents);
  for (const NodeId agent : NodesFrom(NodeId{1}, agents))
    BANDANA_RETURN_IF_ERROR(RunStar<Scalar>(run, agent, 1));
  return absl::OkStatus();
}

absl::Status CheckChoices(const Settings& settings) {
  const std::string& name = settings.Text("algorithm.name");
  if (const std::string& kind = settings.Text("environment.kind"); kind != "contextual-linear") {
    return InvalidOption("environment.kind", kind,
                         fmt::format("contextual-linear with algorithm.name = \"{}\"", name));
  }
  if (const std::string& contexts = settings.Text("environment.contexts");
      contexts != "gap" && contexts != "sphere") {
    return InvalidOption("environment.contexts", contexts,
                         fmt::format("gap, sphere with algorithm.name = \"{}\"", name));
  }
  const bool gap = settings.Text("environment.contexts") == "gap";
  if (const std::string& reward = settings.Text("environment.reward");
      reward != "bernoulli" && (gap || reward != "rademacher")) {
    return InvalidOption(
        "environment.reward", reward,
        gap ? "bernoulli with contexts = \"gap\"" : "bernoulli, rademacher: rewards must be bounded");
  }
  if (const std::string& reward = settings.Text("environment.reward"); !gap && reward == "bernoulli") {
    return InvalidOption("environment.reward", reward,
                         "rademacher with contexts = \"sphere\": means may be negative");
  }
  const std::string& model = settings.Text("privacy.model");
  const std::string accepted = IsPeers(settings)   ? "none, peer"
                               : IsAlone(settings) ? "none, silo"
                                                   : "none, silo";
  if (accepted.find(model) == std::string::npos) {
    return InvalidOption("privacy.model", model,
                         fmt::format("{} with algorithm.name = \"{}\"", accepted, name));
  }
  if (IsPeers(settings) && SyncOf(settings) == Sync::kReleased) {
    return InvalidOption("algorithm.sync", "released",
                         "a schedule that all peers know beforehand, or determinant");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> MakeGraph(const Settings& settings) {
  const Count agents = AgentsOf(settings);
  const std::string& topology = settings.Text("federation.topology");
  PhiloxSource bits(
      {.seed = static_cast<std::uint64_t>(settings.Integer("seed")), .stream = Stream::kInstance});
  CoinGen coin(bits);
  const auto make = [&]() -> absl::StatusOr<Graph> {
    if (topology == "complete") return CompleteGraph(agents);
    if (topology == "star") return StarGraph(agents);
    if (topology == "ring") return RingGraph(agents);
    if (topology == "line") return LineGraph(agents);
    if (topology == "grid") return GridGraph(agents);
    if (topology == "regular") return RegularGraph(agents, settings.Integer("federation.degree"), coin);
    if (topology == "erdos-renyi") {
      return ErdosRenyiGraph(agents, settings.Number("federation.edge_probability"), coin);
    }
    if (topology == "watts-strogatz") {
      return WattsStrogatzGraph(agents, settings.Integer("federation.degree"),
                                settings.Number("federation.edge_probability"), coin);
    }
    if (topology == "barabasi-albert")
      return BarabasiAlbertGraph(agents, settings.Integer("federation.degree"), coin);
    return ReadGraph(settings.Text("federation.file"), agents);
  };
  BANDANA_ASSIGN_OR_RETURN(Graph graph, make());
  BANDANA_RETURN_IF_ERROR(CheckConnected(graph));
  return graph;
}

absl::Status CheckFederated(const Settings& settings) {
  BANDANA_RETURN_IF_ERROR(CheckChoices(settings));
  BANDANA_RETURN_IF_ERROR(MakeRoundContexts(settings, 0).status());
  BANDANA_ASSIGN_OR_RETURN(const auto privatizers, MakePrivatizers(settings));
  if (IsPeers(settings)) BANDANA_RETURN_IF_ERROR(MakeGraph(settings).status());
  return absl::OkStatus();
}

std::string FederatedVoidReason(const Settings& settings) {
  if (!IsPrivate(settings) || !Triggers(settings)) return "";
  return "no guarantee: synchronisation times depend on unreleased data";
}

absl::StatusOr<std::vector<Claim>> FederatedClaims(const Settings& settings) {
  if (!IsPrivate(settings) || Triggers(settings)) return std::vector<Claim>{};
  BANDANA_ASSIGN_OR_RETURN(const auto privatizers, MakePrivatizers(settings));
  const std::vector<double> budgets = BudgetsOf(settings);
  const std::string logged =
      ActsOnRaw(settings)
          ? "; for logged streams alone, whose later records do not depend on earlier ones (local = raw)"
          : "";
  const std::string who = IsPeers(settings)   ? "all other peers, colluding"
                          : IsAlone(settings) ? "all later users of the agent, colluding (joint privacy)"
                                              : "the controller and all other agents, colluding";
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < privatizers.size(); ++i) {
    for (Claim claim : privatizers[i].claims()) {
      claim.adversary = who + logged;
      claim.unit = "one record (x, y) of one agent";
      if (budgets.size() > 1) {
        claim.unit +=
            fmt::format(" (agents {}, {}, ...: epsilon {})", i + 1, i + 1 + budgets.size(), budgets[i]);
      }
      claims.push_back(claim);
    }
  }
  // Whoever meets several agents has a record at each: independent Gaussian releases, of which the squares of
  // the sensitivities over the noise add up.
  const Count agents = AgentsOf(settings);
  if (agents > 1 && !claims.empty()) {
    double squares = 0;
    for (Count i = 0; i < agents; ++i) {
      DpGuarantee each = privatizers[static_cast<std::size_t>(i) % privatizers.size()].guarantee();
      each.epsilon = std::max(each.epsilon, 1e-6);  // the paper's noise may deliver (0, delta)
      BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(each));
      squares += 1 / (multiplier * multiplier);
    }
    Claim composed = claims.front();
    const double delta = settings.Number("privacy.delta");
    composed.guarantee = {GaussianEpsilon(delta, 1 / std::sqrt(squares)), delta};
    composed.unit = fmt::format("one person who has a record at each of the {} agents", agents);
    composed.adversary = "whoever sees the releases of all agents" + logged;
    claims.push_back(composed);
  }
  return claims;
}

absl::StatusOr<FederatedOutcome> RunFederated(const Settings& settings, std::uint32_t replicate, int threads,
                                              const std::atomic<bool>& stop) {
  BANDANA_ASSIGN_OR_RETURN(const RoundContexts contexts, MakeRoundContexts(settings, replicate));
  BANDANA_ASSIGN_OR_RETURN(const auto privatizers, MakePrivatizers(settings));
  BANDANA_ASSIGN_OR_RETURN(const SyncSchedule schedule, MakeSchedule(settings));
  RoundRecorder recorder(AgentsOf(settings), Checkpoints(settings));
  const Run run{settings, replicate, threads, stop, contexts, privatizers, schedule, recorder};
  BANDANA_RETURN_IF_ERROR(settings.Text("environment.precision") == "float" ? RunAs<float>(run)
                                                                            : RunAs<double>(run));
  return FederatedOutcome{recorder.Checkpoints()};
}

}  // namespace bandana::lab
