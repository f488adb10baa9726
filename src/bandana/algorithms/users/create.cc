#include "bandana/algorithms/users/create.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bandana/algorithms/users/ldp_gloc.h"
#include "bandana/algorithms/users/ldp_ols.h"
#include "bandana/algorithms/users/ldp_sgd.h"
#include "bandana/algorithms/users/ldp_ucb.h"
#include "bandana/algorithms/users/thompson_sampling.h"
#include "bandana/core/status.h"
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"

namespace bandana {
namespace {

const std::vector<TrustModel>& NoneOrLocal() {
  static const std::vector<TrustModel> models = {TrustModel::kNone, TrustModel::kLocal};
  return models;
}

absl::Status CheckInputs(const Privacy& privacy, const std::vector<TrustModel>& models, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, models));
  if (!Positive(facts.theta_norm)) {
    return InvalidField(Part::kFacts, "theta_norm", facts.theta_norm, "a finite number > 0");
  }
  if (!Positive(facts.context_norm)) {
    return InvalidField(Part::kFacts, "context_norm", facts.context_norm, "a finite number > 0");
  }
  if (!(facts.reward_proxy >= 0 && std::isfinite(facts.reward_proxy))) {
    return InvalidField(Part::kFacts, "reward_proxy", facts.reward_proxy, "a finite number >= 0");
  }
  return absl::OkStatus();
}

// Infinity, which drops no arm, is for learners that have no such option.
absl::Status CheckGap(double elimination_gap, const Facts& facts) {
  if (!facts.multi || Positive(elimination_gap)) return absl::OkStatus();
  return InvalidField(Part::kParams, "elimination_gap", elimination_gap, "a finite number > 0");
}

UserModelShape ShapeOf(const Facts& facts, std::optional<Count> warm_up, double elimination_gap) {
  UserModelShape shape{
      .horizon = facts.horizon, .dimension = facts.dimension, .arms = facts.arms, .multi = facts.multi};
  if (!shape.multi) return shape;
  const auto horizon = static_cast<double>(
      facts.rounds_that_count > 0 ? std::min(facts.rounds_that_count, facts.horizon) : facts.horizon);
  const double rounds = std::min(2 * std::pow(horizon, 2.0 / 3), horizon / 10);
  const auto fallback = std::max<Count>(1, static_cast<Count>(rounds / static_cast<double>(facts.arms)));
  shape.warm_up = warm_up.value_or(fallback);
  shape.elimination_gap = elimination_gap;
  return shape;
}

double LargestPredictor(const Facts& facts) { return facts.theta_norm * facts.context_norm; }

// The mean reward at <x, theta> = 0.
double CentreOf(const Facts& facts) { return facts.mean(0); }

double FarthestFromCentre(const Facts& facts) {
  return std::max(facts.rewards.high - CentreOf(facts), CentreOf(facts) - facts.rewards.low);
}

absl::StatusOr<LocalGradient> MakeGradient(L2BallRandomizer randomizer, const Privacy& privacy,
                                           const Facts& facts) {
  const LocalGradientParams params{.epsilon = privacy.epsilon,
                                   .randomizer = randomizer,
                                   .sampler = privacy.sampler,
                                   .calibration = privacy.calibration,
                                   .dimension = facts.dimension,
                                   .slots = facts.multi ? facts.arms : 1,
                                   .slot_budget = privacy.slots,
                                   .context_norm = facts.context_norm,
                                   .rewards = facts.rewards,
                                   .means = facts.mean.Range(LargestPredictor(facts)),
                                   .out_of_range = privacy.out_of_range,
                                   .lift = true};
  if (!privacy.is_private()) return LocalGradient::CreateBare(params.space(), NoPrivacy());
  return LocalGradient::Create(params);
}

// `bounds` are those of the side values.
absl::StatusOr<LocalRegression> MakeRegression(double reward_weight, const Privacy& privacy,
                                               const Facts& facts, const std::vector<double>& bounds) {
  if (!Positive(reward_weight)) {
    return InvalidField(Part::kParams, "reward_weight", reward_weight, "a finite number > 0");
  }
  LocalRegressionParams params{.nominal = privacy.budget(),
                               .calibration = privacy.calibration,
                               .sampler = privacy.sampler,
                               .dimension = facts.dimension,
                               .slots = facts.multi ? facts.arms : 1,
                               .slot_budget = privacy.slots,
                               .context_norm = facts.context_norm,
                               .rewards = facts.rewards,
                               .side_bounds = bounds,
                               .side_weights = {},
                               .out_of_range = privacy.out_of_range};
  if (!privacy.is_private()) return LocalRegression::CreateBare(params.space(), NoPrivacy());
  const bool paper = privacy.calibration == Calibration::kPaper;  // which has no weights
  for (const double bound : bounds) {
    params.side_weights.push_back(paper ? 1 : reward_weight * facts.context_norm / bound);
  }
  return LocalRegression::Create(params);
}

template <class P>
absl::StatusOr<RegressionReporter> MakeReporter(const P& params, const Privacy& privacy, const Facts& facts) {
  double weight = 1;  // baselines without noise have no other
  if constexpr (requires { params.reward_weight; }) weight = params.reward_weight;
  BANDANA_ASSIGN_OR_RETURN(LocalRegression regression,
                           MakeRegression(weight, privacy, facts, {FarthestFromCentre(facts)}));
  return RegressionReporter(std::move(regression), CentreOf(facts));
}

template <class P>
UserRegressionRules RulesOf(const P& params, const Privacy& privacy, const Facts& facts,
                            double elimination_gap = HUGE_VAL) {
  const bool exact = privacy.is_private() && privacy.sampler == Sampler::kExact;
  GramShift shift{.scale = 0, .paper = false};  // without noise there is nothing to shift
  if constexpr (requires { params.gram_shift; }) {
    shift = {.scale = params.gram_shift.value_or(1), .paper = !params.gram_shift.has_value()};
  }
  return {.shape = ShapeOf(facts, params.warm_up, elimination_gap),
          .shift = shift,
          .lazy = params.lazy,
          .combine_messages = !exact};
}

template <class P>
absl::StatusOr<LdpUcb> MakeUcb(const P& params, const Privacy& privacy, const Facts& facts) {
  BANDANA_ASSIGN_OR_RETURN(RegressionReporter reporter, MakeReporter(params, privacy, facts));
  return LdpUcb::Create({.regression = RulesOf(params, privacy, facts),
                         .bonus = params.bonus,
                         .theta_norm = facts.theta_norm,
                         .context_norm = facts.context_norm,
                         .reward_proxy = facts.reward_proxy},
                        std::move(reporter));
}

// Every call of the federation's function makes a copy of the learner.
template <class Learner>
absl::StatusOr<Federation> Assemble(absl::StatusOr<Learner> made, const Facts& facts) {
  if (!made.ok()) return made.status();
  Federation federation{.topology = Topology::Star(facts.horizon), .claims = made->mechanism().claims()};
  if (!made->mechanism().bare()) {
    federation.budget = made->mechanism().guarantee();
    federation.charges_clients = true;
    federation.notes = facts.notes;
    federation.claims = Narrowed(std::move(federation.claims), facts.notes);
  }
  federation.roles = UserRoles{[learner = *std::move(made)]() -> std::unique_ptr<UserLearner> {
    return std::make_unique<UserLearnerOf<Learner>>(learner);
  }};
  return federation;
}

}  // namespace

absl::StatusOr<Federation> CreateLdpSgd(const LdpSgdParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckInputs(privacy, NoneOrLocal(), facts));
  BANDANA_RETURN_IF_ERROR(CheckGap(params.elimination_gap, facts));
  BANDANA_ASSIGN_OR_RETURN(const LocalGradient gradient, MakeGradient(params.randomizer, privacy, facts));
  return Assemble(LdpSgd::Create({.shape = ShapeOf(facts, params.warm_up, params.elimination_gap),
                                  .mean = facts.mean,
                                  .theta_norm = facts.theta_norm,
                                  .least_slope = facts.mean.SmallestSlope(LargestPredictor(facts)),
                                  .step = params.step,
                                  .steps = params.steps,
                                  .delay = params.delay,
                                  .projection = params.projection,
                                  .average = params.average},
                                 gradient),
                  facts);
}

absl::StatusOr<Federation> CreateLdpOls(const LdpOlsParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckInputs(privacy, NoneOrLocal(), facts));
  BANDANA_RETURN_IF_ERROR(CheckGap(params.elimination_gap, facts));
  BANDANA_ASSIGN_OR_RETURN(RegressionReporter reporter, MakeReporter(params, privacy, facts));
  UserRegressionRules rules = RulesOf(params, privacy, facts, params.elimination_gap);
  if (rules.shift.paper) {
    // The theorems have sigma, where the printed noise of the matrix is 2 C_B sigma.
    if (privacy.calibration == Calibration::kPaper) rules.shift.scale = 1 / (2 * facts.context_norm);
    rules.shift.arms = static_cast<double>(rules.shape.slots());
  }
  return Assemble(LdpOls::Create(rules, std::move(reporter)), facts);
}

absl::StatusOr<Federation> CreateLdpUcb(const LdpUcbParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckInputs(privacy, NoneOrLocal(), facts));
  return Assemble(MakeUcb(params, privacy, facts), facts);
}

absl::StatusOr<Federation> CreateLdpGloc(const LdpGlocParams& params, const Privacy& privacy,
                                         const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckInputs(privacy, NoneOrLocal(), facts));
  const Interval means = facts.mean.Range(LargestPredictor(facts));
  const std::vector<double> bounds = {
      LargestPredictor(facts), std::max(means.high - facts.rewards.low, facts.rewards.high - means.low)};
  BANDANA_ASSIGN_OR_RETURN(LocalRegression regression,
                           MakeRegression(params.reward_weight, privacy, facts, bounds));
  UserRegressionRules rules = RulesOf(params, privacy, facts);
  rules.combine_messages = false;
  return Assemble(LdpGloc::Create({.regression = rules,
                                   .mean = facts.mean,
                                   .theta_norm = facts.theta_norm,
                                   .least_slope = facts.mean.SmallestSlope(LargestPredictor(facts)),
                                   .step = params.step,
                                   .bonus = params.bonus},
                                  std::move(regression)),
                  facts);
}

absl::StatusOr<Federation> CreateThompsonSampling(const ThompsonSamplingParams& params,
                                                  const Privacy& privacy, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckInputs(privacy, {TrustModel::kNone}, facts));
  BANDANA_ASSIGN_OR_RETURN(RegressionReporter reporter, MakeReporter(params, privacy, facts));
  return Assemble(ThompsonSampling::Create({.regression = RulesOf(params, privacy, facts),
                                            .spread = params.spread,
                                            .reward_proxy = facts.reward_proxy},
                                           std::move(reporter)),
                  facts);
}

absl::StatusOr<Federation> CreateContextLinUcb(const ContextLinUcbParams& params, const Privacy& privacy,
                                               const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckInputs(privacy, {TrustModel::kNone}, facts));
  return Assemble(MakeUcb(params, privacy, facts), facts);
}

}  // namespace bandana
