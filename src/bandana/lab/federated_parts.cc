#include "bandana/lab/federated_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/algorithms/noise_norms.h"
#include "bandana/core/status.h"
#include "bandana/lab/probe.h"
#include "bandana/lab/rewards.h"
#include "bandana/privacy/calibration/prefix_sum.h"

namespace bandana::lab {
namespace {

constexpr double kContextNorm = 1;             // L
constexpr double kRewardBound = 1;             // B
constexpr double kThetaNorm = 1;               // S
constexpr std::int64_t kToeplitzSteps = 4096;  // beyond which its n^2 products take too long

bool HasPaperNoise(const Settings& settings) {
  return IsPrivate(settings) && settings.Text("privacy.calibration") == "paper";
}

int GammaOf(const Settings& settings) {
  return IsPeers(settings) ? static_cast<int>(settings.Integer("algorithm.gamma")) : 1;
}

double FailureOf(const Settings& settings) {
  return settings.NumberOrAuto("algorithm.failure").value_or(0.05);
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
  if (HasPaperNoise(settings)) return PrefixSumMechanism::kTree;
  return BestPrefixSum(steps, kToeplitzSteps);
}

// How much weight a reward has beside its context: for the narrowest width at the end of a run.
double RewardWeightOf(const Settings& settings) {
  if (!IsPrivate(settings) || HasPaperNoise(settings)) return 1;
  return BestRewardWeight(settings.Integer("environment.dimension"), kContextNorm, kRewardBound, kThetaNorm,
                          FailureOf(settings), 2);
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

}  // namespace

bool IsPrivate(const Settings& settings) { return settings.Text("privacy.model") != "none"; }
bool IsShuffled(const Settings& settings) { return settings.Text("privacy.model") == "shuffle"; }
bool IsPeers(const Settings& settings) { return settings.Text("algorithm.name") == "fed-ucb-p2p"; }
bool IsAlone(const Settings& settings) { return settings.Text("algorithm.name") == "private-lin-ucb"; }
bool ActsOnRaw(const Settings& settings) { return settings.Text("algorithm.local") == "raw"; }
bool HasTrigger(const Settings& settings) { return settings.Text("algorithm.sync") == "determinant"; }
std::vector<double> BudgetsOf(const Settings& settings) {
  if (settings.Has("privacy.budgets")) {
    if (const auto* list = std::get_if<std::vector<double>>(settings.Find("privacy.budgets"))) return *list;
  }
  return {settings.Number("privacy.epsilon")};
}

namespace {

absl::StatusOr<RegressionParams> RegressionParamsOf(const Settings& settings, double epsilon) {
  BANDANA_ASSIGN_OR_RETURN(const SyncSchedule schedule, MakeSchedule(settings));
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumMechanism mechanism, MechanismOf(settings, schedule.releases()));
  return RegressionParams{
      .nominal = {epsilon, settings.Number("privacy.delta")},
      .calibration = HasPaperNoise(settings) ? Calibration::kPaper : Calibration::kTight,
      .sampler = settings.Text("privacy.sampler") == "exact" ? Sampler::kExact : Sampler::kFast,
      .mechanism = mechanism,
      .steps = schedule.releases(),
      .dimension = settings.Integer("environment.dimension"),
      .context_norm = kContextNorm,
      .reward_bound = kRewardBound,
      .reward_weight = RewardWeightOf(settings)};
}

}  // namespace

absl::StatusOr<std::vector<RegressionPrefixSum>> MakePrivatizers(const Settings& settings) {
  std::vector<RegressionPrefixSum> privatizers;
  if (!IsPrivate(settings)) {
    BANDANA_ASSIGN_OR_RETURN(const SyncSchedule schedule, MakeSchedule(settings));
    BANDANA_ASSIGN_OR_RETURN(
        RegressionPrefixSum bare,
        RegressionPrefixSum::CreateBare(
            {schedule.releases(), settings.Integer("environment.dimension"), kContextNorm, kRewardBound, 1},
            Declassify("privacy.model = none")));
    privatizers.push_back(std::move(bare));
    return privatizers;
  }
  for (const double epsilon : BudgetsOf(settings)) {
    BANDANA_ASSIGN_OR_RETURN(const RegressionParams params, RegressionParamsOf(settings, epsilon));
    BANDANA_ASSIGN_OR_RETURN(RegressionPrefixSum privatizer, RegressionPrefixSum::Create(params));
    privatizers.push_back(std::move(privatizer));
  }
  return privatizers;
}

absl::StatusOr<ShuffledRegressionSum> MakeShuffledPrivatizer(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const RegressionParams params,
                           RegressionParamsOf(settings, settings.Number("privacy.epsilon")));
  return ShuffledRegressionSum::Create({.sums = params,
                                        .silos = AgentsOf(settings),
                                        .honest_fraction = settings.Number("privacy.honest_fraction")});
}

absl::StatusOr<RoundContexts> MakeRoundContexts(const Settings& settings, std::uint32_t replicate) {
  const std::string& contexts = settings.Text("environment.contexts");
  const bool gap = contexts == "gap";
  const bool probe = contexts == "probe";
  RoundContextsParams params{.dimension = settings.Integer("environment.dimension"),
                             .arms = settings.Integer("environment.actions"),
                             .law = gap     ? RoundLaw::kGap
                                    : probe ? RoundLaw::kProbe
                                            : RoundLaw::kSphere,
                             .gap = gap ? settings.Number("environment.gap") : 0,
                             .theta_norm = gap ? 1 : settings.Number("environment.theta_norm"),
                             .reward = MakeRewardModel(settings).kind,
                             .seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                             .replicate = replicate};
  if (probe) {
    BANDANA_ASSIGN_OR_RETURN(const auto parts, FederatedParts::Create(settings));
    BANDANA_ASSIGN_OR_RETURN(params.probe_level, parts->ProbeLevel());
    params.probe_first = settings.Text("environment.world") == "a" ? 1 : 0;
  }
  return RoundContexts::Create(params);
}

absl::StatusOr<std::unique_ptr<const FederatedParts>> FederatedParts::Create(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const SyncSchedule schedule, MakeSchedule(settings));
  BANDANA_ASSIGN_OR_RETURN(std::vector<RegressionPrefixSum> privatizers, MakePrivatizers(settings));
  std::unique_ptr<FederatedParts> parts(new FederatedParts(settings, schedule, std::move(privatizers)));
  if (IsShuffled(settings)) {
    BANDANA_ASSIGN_OR_RETURN(parts->shuffled_, MakeShuffledPrivatizer(settings));
  }
  BANDANA_RETURN_IF_ERROR(parts->MakeGroups());
  return parts;
}

absl::Status FederatedParts::MakeGroups() {
  const Count agents = AgentsOf(settings_);
  Count sums = schedule_.releases();  // that anybody ever decides by
  if (IsPeers(settings_)) {
    BANDANA_ASSIGN_OR_RETURN(graph_, MakeGraph(settings_));
    groups_ = CliqueCover(graph_->Power(GammaOf(settings_)));
    // A clique's sums change with every bulletin that comes in: each member's, step by step, for every
    // estimator.
    Count squares = 0;
    for (const auto& clique : groups_) squares += static_cast<Count>(clique.size() * clique.size());
    sums *= squares * GammaOf(settings_);
  } else {
    if (!IsAlone(settings_)) groups_.emplace_back();
    for (Count i = 1; i <= agents; ++i) {
      if (IsAlone(settings_)) groups_.emplace_back();
      groups_.back().push_back(NodeId{static_cast<std::uint32_t>(i)});
    }
    sums *= static_cast<Count>(groups_.size());
  }
  group_of_.resize(static_cast<std::size_t>(agents));
  const double first_variance = privatizers_.front().strategy().Variance(1);
  for (const auto& group : groups_) {
    SiloNoise noise = NoiseOf(privatizers_, group);
    if (shuffled_.has_value()) {
      const double root = std::sqrt(static_cast<double>(group.size()));
      noise = {shuffled_->noise() * root, root};
    }
    BANDANA_ASSIGN_OR_RETURN(const FedUcbWidth width, MakeWidth(group, noise.spread, sums));
    const double first_noise = noise.total * std::sqrt(first_variance);
    const Regularizer start = width.RegularizerFor(first_noise);
    double threshold =
        DeterminantThreshold(schedule_.params().horizon, settings_.Integer("environment.dimension"),
                             kContextNorm, start.rho_min, start.rho_max);
    if (IsPeers(settings_)) threshold /= 1 + kContextNorm * kContextNorm;  // Algorithm 3, line 6
    of_groups_.push_back(std::make_unique<Group>(Group{width, noise.total, first_noise, threshold}));
    for (const NodeId agent : group) group_of_[agent.value - 1] = of_groups_.back().get();
  }
  return absl::OkStatus();
}

absl::StatusOr<FedUcbWidth> FederatedParts::MakeWidth(std::span<const NodeId> group, double spread,
                                                      Count sums) const {
  const auto silos = static_cast<Count>(group.size());
  FedUcbWidthParams params{
      .dimension = settings_.Integer("environment.dimension"),
      .silos = silos,
      .releases = schedule_.releases(),
      .sums = sums,
      .context_norm = kContextNorm,
      .theta_norm = kThetaNorm,
      .reward_proxy = settings_.Text("environment.reward") == "bernoulli" ? 0.5 : 1,
      .failure = FailureOf(settings_),
      .shift = settings_.Text("algorithm.shift") == "agent" ? Shift::kAgent : Shift::kGroup,
      .width =
          settings_.Text("algorithm.width") == "paper" ? RegressionWidth::kPaper : RegressionWidth::kExact,
      .orders = ActsOnRaw(settings_) ? sums * silos : std::max<Count>(1, sums / schedule_.releases()),
      .noise_spread = spread,
      .moment_ratio = 1 / RewardWeightOf(settings_)};
  if (HasPaperNoise(settings_) && params.shift == Shift::kAgent) {
    params.paper = PaperNoise{{settings_.Number("privacy.epsilon"), settings_.Number("privacy.delta")}};
  }
  return FedUcbWidth::Create(params);
}

// Aimed at the determinant trigger; of any other schedule any stream will do.
absl::StatusOr<double> FederatedParts::ProbeLevel() const {
  const Group& group = *of_groups_.front();
  const Count horizon = settings_.Integer("horizon");
  const std::optional<Probe> probe = MakeProbe(group.threshold, group.width.RegularizerFor(group.first_noise),
                                               settings_.Integer("environment.dimension"), horizon);
  if (probe.has_value()) return probe->level;
  if (!HasTrigger(settings_)) return 1;
  return InvalidOption("horizon", static_cast<double>(horizon),
                       "with contexts = \"probe\", one in which one agent's data set off the trigger");
}

DpGuarantee FederatedParts::budget() const {
  DpGuarantee largest{0, 0};
  for (const RegressionPrefixSum& privatizer : privatizers_) {
    largest.epsilon = std::max(largest.epsilon, privatizer.guarantee().epsilon);
    largest.delta = std::max(largest.delta, privatizer.guarantee().delta);
  }
  return largest;
}

std::optional<Declassify> FederatedParts::leak() const {
  if (!IsPrivate(settings_)) return Declassify("privacy.model = none");
  if (HasTrigger(settings_)) return Declassify("sync = determinant: agents watch their own unreleased data");
  if (ActsOnRaw(settings_)) return Declassify("local = raw: agents act on their own unreleased data");
  return std::nullopt;
}

// Agents take the paces in turn.
Count FederatedParts::PaceOf(NodeId agent) const {
  const auto* paces = std::get_if<std::vector<std::int64_t>>(settings_.Find("federation.paces"));
  return paces == nullptr ? 1 : (*paces)[(agent.value - 1) % paces->size()];
}

std::unique_ptr<FedUcbController<RegressionPrefixSum>> FederatedParts::MakeController(NodeId first) const {
  const Group& group = GroupOf(first);
  return std::make_unique<Controller<RegressionPrefixSum>>(schedule_, group.width, PrivatizerOf(first), first,
                                                           group.noise);
}

std::unique_ptr<FedUcbController<ShuffledRegressionSum>> FederatedParts::MakeShuffledController() const {
  return std::make_unique<Controller<ShuffledRegressionSum>>(schedule_, GroupOf(NodeId{1}).width, *shuffled_);
}

FedUcbAgentParams FederatedParts::AgentParamsOf(NodeId self) const {
  const Group& group = GroupOf(self);
  return {.horizon = settings_.Integer("horizon"),
          .silos = group.width.params().silos,
          .local = ActsOnRaw(settings_) ? LocalData::kRaw : LocalData::kReleased,
          .pace = PaceOf(self),
          .triggers = HasTrigger(settings_),
          .threshold = group.threshold,
          .first_noise = group.first_noise};
}

template <class Scalar>
std::unique_ptr<FedUcbAgent<RegressionPrefixSum, Scalar>> FederatedParts::MakeAgent(NodeId self) const {
  return std::make_unique<Agent<RegressionPrefixSum, Scalar>>(AgentParamsOf(self), GroupOf(self).width,
                                                              PrivatizerOf(self), leak());
}

template <class Scalar>
std::unique_ptr<FedUcbAgent<ShuffledRegressionSum, Scalar>> FederatedParts::MakeShuffledAgent(
    NodeId self) const {
  return std::make_unique<Agent<ShuffledRegressionSum, Scalar>>(AgentParamsOf(self), GroupOf(self).width,
                                                                *shuffled_, leak());
}

template <class Scalar>
std::unique_ptr<FederatedParts::Peer<Scalar>> FederatedParts::MakePeer(NodeId self) const {
  const Group& group = GroupOf(self);
  const auto clique = std::find_if(groups_.begin(), groups_.end(), [&](const std::vector<NodeId>& each) {
    return std::find(each.begin(), each.end(), self) != each.end();
  });
  FedUcbPeerParams params{.horizon = settings_.Integer("horizon"),
                          .clique = *clique,
                          .gamma = GammaOf(settings_),
                          .local = ActsOnRaw(settings_) ? LocalData::kRaw : LocalData::kReleased,
                          .pace = PaceOf(self),
                          .triggers = HasTrigger(settings_),
                          .threshold = group.threshold,
                          .first_noise = group.first_noise};
  return std::make_unique<Peer<Scalar>>(std::move(params), schedule_, group.width, PrivatizerOf(self),
                                        leak());
}

template std::unique_ptr<FedUcbAgent<RegressionPrefixSum, double>> FederatedParts::MakeAgent<double>(
    NodeId) const;
template std::unique_ptr<FedUcbAgent<RegressionPrefixSum, float>> FederatedParts::MakeAgent<float>(
    NodeId) const;
template std::unique_ptr<FedUcbAgent<ShuffledRegressionSum, double>>
    FederatedParts::MakeShuffledAgent<double>(NodeId) const;
template std::unique_ptr<FedUcbAgent<ShuffledRegressionSum, float>> FederatedParts::MakeShuffledAgent<float>(
    NodeId) const;
template std::unique_ptr<FederatedParts::Peer<double>> FederatedParts::MakePeer<double>(NodeId) const;
template std::unique_ptr<FederatedParts::Peer<float>> FederatedParts::MakePeer<float>(NodeId) const;

namespace {
constexpr Count kBlock = 16;  // rounds drawn at once
}  // namespace

RoundContextsWorld::RoundContextsWorld(const RoundContexts& contexts, Count horizon)
    : contexts_(contexts),
      horizon_(horizon),
      block_(kBlock, contexts.params().arms, contexts.params().dimension) {}

const DecisionSet<double>& RoundContextsWorld::Set(NodeId agent, Count round) {
  const Count first = (round - 1) / kBlock * kBlock + 1;
  if (agent != agent_ || first != first_) {
    block_.SetRounds(std::min(kBlock, horizon_ - first + 1));
    contexts_.Draw(agent, first, block_);
    agent_ = agent;
    first_ = first;
  }
  set_ = block_.set(round - first);
  return set_;
}

double RoundContextsWorld::Reward(NodeId, Count round, ArmId arm) {
  return contexts_.Reward(block_, round - first_, arm);
}

}  // namespace bandana::lab
