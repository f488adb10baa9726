#include "bandana/algorithms/fed_ucb/setup.h"

#include <algorithm>
#include <cmath>

#include "bandana/algorithms/fed_ucb/fed_ucb.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_p2p.h"
#include "bandana/algorithms/fed_ucb/noise_norms.h"
#include "bandana/algorithms/fed_ucb/probe.h"
#include "bandana/core/status.h"
#include "bandana/federation/silo_shuffler.h"

namespace bandana {
namespace {

constexpr std::int64_t kToeplitzSteps = 4096;  // beyond which its n^2 products take too long

absl::Status CheckFacts(const Facts& facts) {
  const auto refuse = [](const char* field, double value, const char* accepted) {
    return InvalidField(Part::kFacts, field, value, accepted);
  };
  BANDANA_RETURN_IF_ERROR(FedUcbWidth::CheckDimension(facts.dimension));
  if (facts.arms < 1) return refuse("arms", static_cast<double>(facts.arms), "a whole number >= 1");
  if (!Positive(facts.theta_norm)) return refuse("theta_norm", facts.theta_norm, "a finite number > 0");
  if (!Positive(facts.context_norm)) return refuse("context_norm", facts.context_norm, "a finite number > 0");
  const auto [low, high] = facts.rewards;
  if (low < high && std::isfinite(low) && std::isfinite(high)) return absl::OkStatus();
  return refuse("rewards", high - low, "an interval of finite length > 0");
}

absl::Status CheckParams(const FedUcbParams& params) {
  if (!Probability(params.failure)) {
    return InvalidField(Part::kParams, "failure", params.failure, "a number in (0, 1)");
  }
  if (params.most_syncs < 0) {
    return InvalidField(Part::kParams, "most_syncs", static_cast<double>(params.most_syncs),
                        "a whole number >= 0");
  }
  if (params.threshold.has_value() && !Positive(*params.threshold)) {
    return InvalidField(Part::kParams, "threshold", *params.threshold, "\"auto\" or a finite number > 0");
  }
  if (std::all_of(params.paces.begin(), params.paces.end(), [](std::int64_t pace) { return pace >= 1; })) {
    return absl::OkStatus();
  }
  return InvalidField(Part::kParams, "paces", ToText(params.paces),
                      "\"auto\" or a list of whole numbers >= 1");
}

absl::Status CheckShuffled(const FedUcbParams& params, const Privacy& privacy) {
  if (privacy.model != TrustModel::kShuffle) return absl::OkStatus();
  if (params.sync == Sync::kDeterminant) {
    return InvalidField(Part::kParams, "sync", "determinant",
                        "a public schedule, or released, with model = \"shuffle\"");
  }
  if (privacy.calibration == Calibration::kPaper) {
    return InvalidField(Part::kPrivacy, "calibration", "paper", "tight: the paper has no shuffler");
  }
  if (privacy.budgets.empty()) return absl::OkStatus();
  return InvalidField(Part::kPrivacy, "budgets", ToText(privacy.budgets),
                      "auto with model = \"shuffle\": all agents share the noise");
}

absl::Status Check(const FedUcbChoices& choices) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(choices.privacy, TrustModelsOf(choices.form)));
  const std::vector<double>& budgets = choices.privacy.budgets;
  if (!std::all_of(budgets.begin(), budgets.end(), Positive)) {
    return InvalidField(Part::kPrivacy, "budgets", ToText(budgets),
                        "\"auto\" or a list of finite numbers > 0");
  }
  BANDANA_RETURN_IF_ERROR(CheckFacts(choices.facts));
  BANDANA_RETURN_IF_ERROR(CheckParams(choices.params));
  BANDANA_RETURN_IF_ERROR(CheckShuffled(choices.params, choices.privacy));
  if (choices.form == FedUcbForm::kPeers && choices.params.sync == Sync::kReleased) {
    return InvalidField(Part::kParams, "sync", "released",
                        "a schedule that all peers know beforehand, or determinant");
  }
  return absl::OkStatus();
}

absl::StatusOr<PrefixSumMechanism> ChoosePrefixSum(std::optional<PrefixSumMechanism> given,
                                                   std::int64_t steps, bool paper) {
  if (given.has_value()) return *given;
  if (paper) return PrefixSumMechanism::kTree;
  return BestPrefixSum(steps, kToeplitzSteps);
}

// The noise of several silos together.
struct SiloNoise {
  double total = 0;   // standard deviation in a value that they release
  double spread = 1;  // sum of the silos' standard deviations over the total
};

SiloNoise NoiseOf(std::span<const NodeId> silos, const FedUcbSetup& setup) {
  if (setup.is_shuffled()) {
    const double root = std::sqrt(static_cast<double>(silos.size()));
    return {setup.shuffled().noise() * root, root};
  }
  double squares = 0;
  double sum = 0;
  for (const NodeId silo : silos) {
    const double noise = setup.MechanismOf(silo).noise();
    squares += noise * noise;
    sum += noise;
  }
  const double total = std::sqrt(squares);
  return {total, total > 0 ? sum / total : 1};
}

}  // namespace

std::vector<TrustModel> TrustModelsOf(FedUcbForm form) {
  switch (form) {
    case FedUcbForm::kStar:
      return {TrustModel::kNone, TrustModel::kSilo, TrustModel::kShuffle};
    case FedUcbForm::kAlone:
      return {TrustModel::kNone, TrustModel::kSilo};
    case FedUcbForm::kPeers:
      return {TrustModel::kNone, TrustModel::kPeer};
  }
  return {};
}

absl::StatusOr<std::shared_ptr<const FedUcbSetup>> FedUcbSetup::Create(FedUcbChoices choices) {
  BANDANA_RETURN_IF_ERROR(Check(choices));
  // The schedule is that of one estimator, by how often it is used.
  BANDANA_ASSIGN_OR_RETURN(
      const SyncSchedule schedule,
      SyncSchedule::Create({.sync = choices.params.sync,
                            .horizon = (choices.facts.horizon + choices.gamma - 1) / choices.gamma,
                            .agents = choices.facts.people,
                            .batch = choices.params.batch,
                            .most = choices.params.most_syncs}));
  std::shared_ptr<FedUcbSetup> setup(new FedUcbSetup(std::move(choices), schedule));
  BANDANA_RETURN_IF_ERROR(setup->MakeMechanisms());
  BANDANA_RETURN_IF_ERROR(setup->MakeGroups());
  return setup;
}

FedUcbSetup::FedUcbSetup(FedUcbChoices choices, const SyncSchedule& schedule)
    : choices_(std::move(choices)),
      schedule_(schedule),
      failure_(choices_.params.failure),
      reward_bound_(std::max(std::abs(choices_.facts.rewards.low), std::abs(choices_.facts.rewards.high))),
      epsilons_(choices_.privacy.budgets) {
  if (epsilons_.empty()) epsilons_ = {choices_.privacy.epsilon};
}

bool FedUcbSetup::has_paper_noise() const {
  return is_private() && choices_.privacy.calibration == Calibration::kPaper;
}

absl::Status FedUcbSetup::MakeMechanisms() {
  const Facts& facts = choices_.facts;
  const Privacy& privacy = choices_.privacy;
  const std::int64_t steps = schedule_.releases();
  if (!is_private()) {
    BANDANA_ASSIGN_OR_RETURN(
        RegressionPrefixSum bare,
        RegressionPrefixSum::CreateBare({steps, facts.dimension, facts.context_norm, reward_bound_, 1},
                                        NoPrivacy()));
    mechanisms_.push_back(std::move(bare));
    return absl::OkStatus();
  }
  if (!has_paper_noise()) {  // the weight for the narrowest width at the end of a run
    reward_weight_ =
        BestRewardWeight(facts.dimension, facts.context_norm, reward_bound_, facts.theta_norm, failure_, 2);
  }
  BANDANA_ASSIGN_OR_RETURN(const PrefixSumMechanism mechanism,
                           ChoosePrefixSum(choices_.params.prefix_sum, steps, has_paper_noise()));
  RegressionParams params{.nominal = {privacy.epsilon, privacy.delta},
                          .calibration = privacy.calibration,
                          .sampler = privacy.sampler,
                          .mechanism = mechanism,
                          .steps = steps,
                          .dimension = facts.dimension,
                          .context_norm = facts.context_norm,
                          .reward_bound = reward_bound_,
                          .reward_weight = reward_weight_,
                          .records_per_person = privacy.records_per_person.value_or(1)};
  if (privacy.model == TrustModel::kShuffle) {
    BANDANA_ASSIGN_OR_RETURN(shuffled_,
                             ShuffledRegressionSum::Create(
                                 {.sums = params, .silos = facts.people, .collusion = privacy.collusion()}));
  }
  for (const double epsilon : epsilons_) {
    params.nominal.epsilon = epsilon;
    BANDANA_ASSIGN_OR_RETURN(RegressionPrefixSum sums, RegressionPrefixSum::Create(params));
    mechanisms_.push_back(std::move(sums));
  }
  return absl::OkStatus();
}

// Returns how many different sums anybody ever decides by.
Count FedUcbSetup::FormGroups() {
  if (choices_.form == FedUcbForm::kPeers) {
    groups_ = CliqueCover(choices_.graph->Power(choices_.gamma));
    // The sums of a clique change with every bulletin that comes in. Each member takes those of each member,
    // step by step, for every estimator.
    Count squares = 0;
    for (const auto& clique : groups_) squares += static_cast<Count>(clique.size() * clique.size());
    return schedule_.releases() * (squares * choices_.gamma);
  }
  if (choices_.form == FedUcbForm::kStar) groups_.emplace_back();
  for (Count i = 1; i <= choices_.facts.people; ++i) {
    if (choices_.form == FedUcbForm::kAlone) groups_.emplace_back();
    groups_.back().push_back(NodeId{static_cast<std::uint32_t>(i)});
  }
  return schedule_.releases() * static_cast<Count>(groups_.size());
}

absl::Status FedUcbSetup::MakeGroups() {
  const Count sums = FormGroups();
  group_of_.resize(static_cast<std::size_t>(choices_.facts.people));
  for (const auto& silos : groups_) {
    for (const NodeId silo : silos) group_of_[silo.value - 1] = made_groups_.size();
    BANDANA_ASSIGN_OR_RETURN(const Group group, MakeGroup(silos, sums));
    made_groups_.push_back(group);
  }
  return absl::OkStatus();
}

absl::StatusOr<FedUcbSetup::Group> FedUcbSetup::MakeGroup(std::span<const NodeId> silos, Count sums) const {
  const double length = choices_.facts.context_norm;
  const SiloNoise noise = NoiseOf(silos, *this);
  BANDANA_ASSIGN_OR_RETURN(const FedUcbWidth width,
                           MakeWidth(static_cast<Count>(silos.size()), noise.spread, sums));
  const double first_noise = noise.total * std::sqrt(mechanisms_.front().strategy().Variance(1));
  const Regularizer start = width.RegularizerFor(first_noise);
  const auto agents = static_cast<double>(silos.size());  // Theorem 1 has the bounds of one agent's noise
  double threshold = choices_.params.threshold.value_or(
      DeterminantThreshold(schedule_.params().horizon, choices_.facts.dimension, length,
                           start.rho_min / agents, start.rho_max / agents));
  if (choices_.form == FedUcbForm::kPeers) threshold /= 1 + length * length;  // Algorithm 3, line 6
  return Group{width, noise.total, first_noise, threshold};
}

absl::StatusOr<FedUcbWidth> FedUcbSetup::MakeWidth(Count silos, double noise_spread, Count sums) const {
  const Interval rewards = choices_.facts.rewards;
  FedUcbWidthParams params{
      .dimension = choices_.facts.dimension,
      .silos = silos,
      .releases = schedule_.releases(),
      .sums = sums,
      .context_norm = choices_.facts.context_norm,
      .theta_norm = choices_.facts.theta_norm,
      .reward_proxy = (rewards.high - rewards.low) / 2,  // by Hoeffding
      .failure = failure_,
      .shift = choices_.params.shift,
      .width = choices_.params.width,
      .orders = acts_on_raw() ? sums * silos : std::max<Count>(1, sums / schedule_.releases()),
      .noise_spread = noise_spread,
      .moment_ratio = 1 / reward_weight_};
  if (has_paper_noise() && params.shift == Shift::kAgent) {
    params.paper = PaperNoise{choices_.privacy.budget()};
  }
  return FedUcbWidth::Create(params);
}

absl::StatusOr<double> FedUcbSetup::ProbeLevel() const {
  const Group& group = made_groups_.front();
  const Count horizon = choices_.facts.horizon;
  const std::optional<Probe> probe =
      MakeProbe(group.threshold, group.width.StartFor(group.first_noise), choices_.facts.dimension, horizon);
  if (probe.has_value()) return probe->level;
  if (!has_trigger()) return 1;  // any stream will do
  return InvalidField(
      Part::kFacts, "horizon", static_cast<double>(horizon),
      "with contexts = \"probe\", a horizon in which the data of one agent can trigger a sync");
}

DpGuarantee FedUcbSetup::budget() const {
  DpGuarantee largest{0, 0};
  for (const RegressionPrefixSum& mechanism : mechanisms_) {
    largest.epsilon = std::max(largest.epsilon, mechanism.guarantee().epsilon);
    largest.delta = std::max(largest.delta, mechanism.guarantee().delta);
  }
  return largest;
}

std::optional<Declassify> FedUcbSetup::leak() const {
  if (!is_private()) return NoPrivacy();
  if (has_trigger()) return Declassify("sync = determinant: agents watch their own unreleased data");
  if (acts_on_raw()) return Declassify("local = raw: agents act on their own unreleased data");
  return std::nullopt;
}

Count FedUcbSetup::PaceOf(NodeId agent) const {
  const std::vector<std::int64_t>& paces = choices_.params.paces;
  return paces.empty() ? 1 : paces[(agent.value - 1) % paces.size()];
}

std::unique_ptr<Node> FedUcbSetup::MakeController(NodeId first) const {
  const Group& group = GroupOf(first);
  if (is_shuffled()) {
    return std::make_unique<FedUcbController<ShuffledRegressionSum>>(schedule_, group.width, *shuffled_);
  }
  std::vector<double> each;
  for (Count i = 0; i < group.width.params().silos; ++i) {
    each.push_back(MechanismOf(NodeId{first.value + static_cast<std::uint32_t>(i)}).noise());
  }
  return std::make_unique<FedUcbController<RegressionPrefixSum>>(schedule_, group.width, MechanismOf(first),
                                                                 first, group.noise, std::move(each));
}

std::unique_ptr<Node> FedUcbSetup::MakeShuffler() const {
  return std::make_unique<SiloShuffler<ShuffledRegressionSum>>(*shuffled_, NodeId{1}, choices_.facts.people);
}

template <class Scalar>
std::unique_ptr<RoundPlayer<Scalar>> FedUcbSetup::MakeAgent(NodeId self) const {
  if (choices_.form == FedUcbForm::kPeers) return MakePeer<Scalar>(self);
  const Group& group = GroupOf(self);
  const FedUcbAgentParams params{.horizon = choices_.facts.horizon,
                                 .silos = group.width.params().silos,
                                 .local = choices_.params.local,
                                 .pace = PaceOf(self),
                                 .triggers = has_trigger(),
                                 .threshold = group.threshold,
                                 .first_noise = group.first_noise};
  if (is_shuffled()) {
    return std::make_unique<FedUcbAgent<ShuffledRegressionSum, Scalar>>(params, group.width, *shuffled_,
                                                                        leak());
  }
  return std::make_unique<FedUcbAgent<RegressionPrefixSum, Scalar>>(params, group.width, MechanismOf(self),
                                                                    leak());
}

template <class Scalar>
std::unique_ptr<RoundPlayer<Scalar>> FedUcbSetup::MakePeer(NodeId self) const {
  const Group& group = GroupOf(self);
  FedUcbPeerParams params{.horizon = choices_.facts.horizon,
                          .clique = groups_[group_of_[self.value - 1]],
                          .gamma = choices_.gamma,
                          .local = choices_.params.local,
                          .pace = PaceOf(self),
                          .triggers = has_trigger(),
                          .threshold = group.threshold,
                          .first_noise = group.first_noise};
  return std::make_unique<FedUcbPeer<RegressionPrefixSum, Scalar>>(std::move(params), schedule_, group.width,
                                                                   MechanismOf(self), leak());
}

template std::unique_ptr<RoundPlayer<double>> FedUcbSetup::MakeAgent(NodeId) const;
template std::unique_ptr<RoundPlayer<float>> FedUcbSetup::MakeAgent(NodeId) const;

}  // namespace bandana
