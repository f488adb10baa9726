#include "bandana/algorithms/elimination/phased_elimination.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "bandana/algorithms/elimination/glm_phase_regression.h"

namespace bandana {
namespace {

constexpr double kScheduleSlack = 1e-9;  // a schedule's count is ceil(x - 1e-9)

constexpr double kMostOverSelection = 10;

// Returns how many clients a phase asks.
Count AskedIn(const EliminationRules& rules, Epoch phase) {
  const Count needed = rules.clients(phase);
  if (rules.over_selection == 0) return needed;
  return static_cast<Count>(CeilCount((1 + rules.over_selection) * static_cast<double>(needed)));
}

Count RoundsOf(const Plan& plan) {
  Count rounds = 0;
  for (const Pull& pull : plan.pulls) rounds += pull.count;
  return rounds;
}

absl::Status CheckPopulation(const EliminationRules& rules, const ActionMatrix& actions) {
  // A phase has at most h_l + |support| rounds, so the phases below complete whatever the designs are.
  const bool small = rules.core_set && rules.design == CoreSetSearch::kSmall;
  const double most_support =
      small ? DesignSupportBound(static_cast<int>(actions.cols())) : static_cast<double>(actions.rows());
  double rounds = 0;
  double clients = 0;
  for (Epoch phase = 1; phase <= rules.phases; ++phase) {
    rounds += rules.rounds(phase) + most_support;
    if (rounds > static_cast<double>(rules.horizon)) break;
    clients += rules.clients == nullptr ? rules.rounds(phase) : static_cast<double>(AskedIn(rules, phase));
    if (clients > static_cast<double>(rules.population)) {
      return InvalidField(Part::kFacts,
                          {.message = fmt::format(
                               "too small for the horizon: phases 1 to {} together need more than {} clients",
                               phase, rules.population),
                           .key = "people",
                           .value = fmt::format("{}", rules.population),
                           .accepted = "a larger population, a smaller alpha or a shorter horizon"});
    }
  }
  return absl::OkStatus();
}

// Checks the assumptions of docs/proofs/glm-width.md.
absl::Status CheckLink(const EliminationRules& rules) {
  if (rules.link == Link::kIdentity) return absl::OkStatus();
  if (rules.link == Link::kPoisson) {
    return InvalidField(Part::kFacts, "mean", "poisson",
                        "identity, logistic or probit: we have no confidence width for counts");
  }
  if (rules.width != Width::kExact) {
    return InvalidField(Part::kParams, "width", "paper",
                        "exact with this link: no paper has a confidence width for it");
  }
  if (rules.clip.reward.kind != RewardKind::kBernoulli) {
    return InvalidField(Part::kFacts, {.message = "with a logistic or probit link, rewards are 1 or 0",
                                       .key = "reward",
                                       .accepted = "bernoulli with this link"});
  }
  if (!(rules.clip.client_sd <= SpreadLink::kMostSpread)) {
    return InvalidField(Part::kFacts, "client_sd", rules.clip.client_sd,
                        fmt::format("at most {} with this link", SpreadLink::kMostSpread));
  }
  return absl::OkStatus();
}

absl::Status CheckReport(const EliminationRules& rules) {
  if (rules.report == ClientReport::kAverages) return absl::OkStatus();
  if (rules.width != Width::kExact) {
    return InvalidField(Part::kParams, "report", "estimate", "averages with width = \"paper\"");
  }
  if (rules.link != Link::kIdentity) {
    return InvalidField(Part::kParams, "report", "estimate", "averages with this link");
  }
  if (rules.clients == nullptr) {
    return InvalidField(Part::kParams, "report", "estimate", "averages if every round has a new client");
  }
  return absl::OkStatus();
}

absl::Status CheckRules(const EliminationRules& rules, const ActionMatrix& actions) {
  if (actions.rows() == 0) return InvalidField(Part::kFacts, "actions", 0, "at least one action");
  if (!(rules.horizon >= 1)) {
    return InvalidField(Part::kFacts, "horizon", static_cast<double>(rules.horizon), "a whole number >= 1");
  }
  if (!(rules.level > 0 && rules.level < 1)) {
    return InvalidField(Part::kParams, "beta", rules.level, "a number in (0, 1)");
  }
  if (rules.clip.fixed_bound.has_value() &&
      !(*rules.clip.fixed_bound >= 1 && std::isfinite(*rules.clip.fixed_bound))) {
    return InvalidField(Part::kFacts, "reward_bound", *rules.clip.fixed_bound,
                        "\"auto\" or a finite number >= 1");
  }
  if (!(rules.over_selection >= 0 && rules.over_selection <= kMostOverSelection)) {
    return InvalidField(Part::kParams, "over_selection", rules.over_selection,
                        fmt::format("a number from 0 to {}", kMostOverSelection));
  }
  if (!(rules.quorum > 0 && rules.quorum <= 1)) {
    return InvalidField(Part::kPrivacy, "quorum", rules.quorum, "a number in (0, 1]");
  }
  BANDANA_RETURN_IF_ERROR(CheckLink(rules));
  BANDANA_RETURN_IF_ERROR(CheckReport(rules));
  constexpr Count kMostClients = 0xffffffff;  // NodeId
  if (!(rules.population >= 1 && rules.population < kMostClients)) {
    return InvalidField(Part::kFacts, "people", static_cast<double>(rules.population),
                        fmt::format("a whole number from 1 to {}", kMostClients - 1));
  }
  return CheckPopulation(rules, actions);
}

}  // namespace

double CeilCount(double x) { return std::ceil(x - kScheduleSlack); }

absl::StatusOr<EliminationPolicy> EliminationPolicy::Create(EliminationRules rules,
                                                            std::shared_ptr<const ActionMatrix> actions) {
  BANDANA_RETURN_IF_ERROR(CheckRules(rules, *actions));
  return EliminationPolicy(std::move(rules), std::move(actions));
}

EliminationPolicy::EliminationPolicy(EliminationRules rules, std::shared_ptr<const ActionMatrix> actions)
    : rules_(std::move(rules)),
      actions_(std::move(actions)),
      active_(static_cast<std::size_t>(actions_->rows())) {
  std::iota(active_.begin(), active_.end(), 0);
}

bool EliminationPolicy::Fits() const {
  const auto is_arm = [&](ArmId arm) { return arm >= 0 && arm < actions_->rows(); };
  const auto are_arms = [&](const std::vector<ArmId>& arms) {
    return std::all_of(arms.begin(), arms.end(), is_arm) &&
           std::adjacent_find(arms.begin(), arms.end(), std::greater_equal<>()) == arms.end();
  };
  for (const auto* design : {&design_, &earlier_}) {
    if (!design->has_value()) continue;
    if (!are_arms((*design)->support) || (*design)->basis.rows() != actions_->cols()) return false;
  }
  if (known_.has_value() &&
      !(known_->estimate.size() == actions_->cols() && known_->regression.Fits(known_->errors))) {
    return false;
  }
  return are_arms(active_) && !active_.empty() && is_arm(best_) && epoch_ >= 0 && rounds_played_ >= 0 &&
         rounds_played_ <= rules_.horizon;
}

bool EliminationPolicy::MayHaveMade(const Plan& plan) const {
  const bool arms = std::all_of(plan.pulls.begin(), plan.pulls.end(), [&](const Pull& pull) {
    return pull.arm >= 0 && pull.arm < actions_->rows() && pull.count >= 1;
  });
  if (!arms || plan.epoch != epoch_) return false;
  if (plan.query.clients == 0) return true;
  return (!design_.has_value() || plan.pulls.size() == design_->support.size()) &&
         plan.query.bounds.size() == plan.pulls.size() &&
         (means_.empty() || means_.size() == plan.pulls.size());
}

Plan EliminationPolicy::Exploit() {
  Plan plan{.epoch = epoch_, .pulls = {{best_, rules_.horizon - rounds_played_}}, .query = {}};
  rounds_played_ = rules_.horizon;
  return plan;
}

absl::StatusOr<Design> EliminationPolicy::NextDesign() const {
  if (!rules_.core_set) return UniformDesign(*actions_, active_);
  if (rules_.design == CoreSetSearch::kFrankWolfe) return FrankWolfeDesign(*actions_, active_);
  const Design* start = rules_.warm_start && earlier_.has_value() ? &*earlier_ : nullptr;
  return NearOptimalDesign(*actions_, active_, {.warm_start = start});
}

absl::StatusOr<Plan> EliminationPolicy::NextPlan() {
  ++epoch_;
  if (epoch_ > rules_.phases) return Exploit();
  if (!design_.has_value()) {
    BANDANA_ASSIGN_OR_RETURN(design_, NextDesign());
  }
  Plan plan{.epoch = epoch_, .pulls = {}, .query = {}};
  Count left = rules_.horizon - rounds_played_;
  bool whole = true;
  for (std::size_t i = 0; i < design_->support.size(); ++i) {
    const double wanted = CeilCount(rules_.rounds(epoch_) * design_->weights[i]);
    const Count count = static_cast<Count>(std::min(std::max(wanted, 1.0), static_cast<double>(left)));
    whole = whole && static_cast<double>(count) >= wanted && count > 0;
    if (count > 0) plan.pulls.push_back({design_->support[i], count});
    left -= count;
  }
  rounds_played_ = rules_.horizon - left;
  if (!whole) return plan;
  if (rules_.clients != nullptr) {
    plan.query.clients = rules_.clients(epoch_);
  } else {
    plan.query.clients = RoundsOf(plan);
    for (const Pull& pull : plan.pulls) plan.query.dealt.push_back(pull.count);
  }
  BANDANA_RETURN_IF_ERROR(ClipPlan(plan));
  plan.query.quorum = rules_.quorum;
  if (rules_.clients != nullptr) {
    plan.query.goal = std::exchange(plan.query.clients, AskedIn(rules_, epoch_));
    if (plan.query.goal == plan.query.clients) plan.query.goal = 0;
  }
  return plan;
}

// Returns the errors of a phase without its privacy noise.
PhaseErrors EliminationPolicy::ErrorsOf(const Plan& plan) const {
  const bool dealt = !plan.query.dealt.empty();
  return {.sampling = dealt ? Sampling::kDeal : Sampling::kWatch,
          .clients = dealt ? plan.query.dealt : std::vector<Count>(plan.pulls.size(), plan.query.clients),
          .rule = rules_.clip,
          .misspecification = rules_.misspecification,
          .bounds = plan.query.bounds,
          .means = means_,
          .report = rules_.report};
}

absl::Status EliminationPolicy::ClipPlan(Plan& plan) {
  means_.clear();
  const bool chosen = rules_.width == Width::kExact && rules_.forecast && rules_.clip.clips();
  if (chosen && known_.has_value()) {
    std::vector<ArmId> arms;
    for (const Pull& pull : plan.pulls) arms.push_back(pull.arm);
    // All intervals together fail with no more than the level of one pair.
    const double level = rules_.level / (2 * static_cast<double>(arms.size()));
    means_ = known_->regression.MeanBounds(known_->estimate, arms, known_->errors, level);
    for (Interval& mean : means_) {
      mean = {std::clamp(mean.low, -kMeanBound, kMeanBound), std::clamp(mean.high, -kMeanBound, kMeanBound)};
    }
  }
  if (chosen) {
    const PhaseRegression regression(*actions_, *design_, plan.pulls);
    BANDANA_ASSIGN_OR_RETURN(plan.query.bounds,
                             regression.ChooseBounds(ErrorsOf(plan), rules_.level, rules_.forecast));
  } else {
    const bool dealt = !plan.query.dealt.empty();
    for (const Pull& pull : plan.pulls) {
      plan.query.bounds.push_back(rules_.clip.BoundsFor(dealt ? 1 : pull.count));
    }
  }
  if (rules_.report == ClientReport::kEstimate) {
    plan.query.map = PhaseRegression(*actions_, *design_, plan.pulls).Report(plan.query.bounds);
  }
  return absl::OkStatus();
}

EliminationPolicy::Conclusion EliminationPolicy::Conclude(const Plan& plan, const PhaseFacts& facts,
                                                          const Released<Mean>& averages) {
  const std::vector<double>& entries = averages.value().entries;
  PhaseErrors errors = ErrorsOf(plan);
  errors.privacy = averages.noise();
  if (rules_.link != Link::kIdentity) {
    const GlmPhaseRegression regression(rules_.link, rules_.clip.client_sd, *actions_, *design_, plan.pulls);
    Vector estimate = regression.Estimate(entries);
    auto survivors = regression.EliminateExactly(entries, estimate, active_, errors, rules_.level);
    return {std::move(estimate), std::move(survivors)};
  }
  PhaseRegression regression(*actions_, *design_, plan.pulls);
  Vector estimate = rules_.report == ClientReport::kEstimate
                        ? regression.EstimateFrom(entries, plan.query.bounds)
                        : regression.Estimate(entries);
  auto survivors = rules_.width == Width::kExact
                       ? regression.EliminateExactly(estimate, active_, errors, rules_.level)
                       : regression.EliminateBy(2 * rules_.paper_width(facts), estimate, active_);
  known_.emplace(Knowledge{std::move(regression), estimate, std::move(errors)});
  return {std::move(estimate), std::move(survivors)};
}

absl::Status EliminationPolicy::Learn(const Plan& plan, const Released<Mean>& averages) {
  const PhaseFacts facts{.epoch = plan.epoch,
                         .target = rules_.rounds(plan.epoch),
                         .rounds = RoundsOf(plan),
                         .clients = plan.query.clients,
                         .dimension = static_cast<int>(actions_->cols()),
                         .actions = static_cast<int>(active_.size()),
                         .pulls = plan.pulls,
                         .privacy = averages.noise(),
                         .privacy_stddev = averages.noise_stddev()};
  auto [estimate, survivors] = Conclude(plan, facts, averages);
  best_ = survivors.best;
  if (survivors.active.size() != active_.size()) earlier_ = std::exchange(design_, std::nullopt);
  active_ = std::move(survivors.active);
  history_.push_back({.epoch = plan.epoch,
                      .pulls = plan.pulls,
                      .rounds = facts.rounds,
                      .clients = facts.clients,
                      .bounds = plan.query.bounds,
                      .privacy_stddev = facts.privacy_stddev,
                      .width = survivors.widest,
                      .averages = averages.value().entries,
                      .estimate = std::move(estimate),
                      .active = active_});
  return absl::OkStatus();
}

}  // namespace bandana
