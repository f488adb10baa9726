#include "bandana/lab/user_parts.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/status.h"
#include "bandana/lab/rewards.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

constexpr Count kPoissonBound = 5;

bool IsPrivate(const Settings& settings) { return settings.Text("privacy.model") == "local"; }

UserContexts ContextsOf(const Settings& settings) {
  const std::string& contexts = settings.Text("environment.contexts");
  if (contexts == "gaussian") return UserContexts::kGaussian;
  return contexts == "margin" ? UserContexts::kMargin : UserContexts::kSphere;
}

// About one context in a hundred that is normal is longer: |x|^2 d is chi-squared, nearly normal.
double ContextBound(const Settings& settings) {
  if (const auto given = settings.NumberOrAuto("environment.context_bound")) return *given;
  if (ContextsOf(settings) != UserContexts::kGaussian) return 1;
  constexpr double kOneInAHundred = 2.33;
  return std::sqrt(1 + kOneInAHundred *
                           std::sqrt(2 / static_cast<double>(settings.Integer("environment.dimension"))));
}

Interval RewardsOf(const Settings& settings, const MeanFunction& mean, double most_mean) {
  if (mean.link() == Link::kPoisson) return {0, static_cast<double>(mean.bound())};
  if (mean.link() != Link::kIdentity) return {0, 1};
  const RewardModel model = MakeRewardModel(settings);
  if (const auto support = model.support()) return *support;
  constexpr double kSpreads = 3;
  const double bound =
      settings.NumberOrAuto("environment.reward_bound").value_or(most_mean + kSpreads * model.sd);
  return {-bound, bound};
}

double RewardProxy(const Settings& settings, const MeanFunction& mean, const Interval& rewards) {
  if (mean.link() == Link::kIdentity) return MakeRewardModel(settings).proxy();
  return (rewards.high - rewards.low) / 2;  // Hoeffding
}

UserFrame MakeFrame(const Settings& settings, const UserSpace& space) {
  UserFrame frame{.horizon = settings.Integer("horizon"),
                  .dimension = space.dimension,
                  .arms = space.arms,
                  .multi = space.multi};
  if (!space.multi) return frame;
  const auto horizon =
      static_cast<double>(space.rounds > 0 ? std::min(space.rounds, frame.horizon) : frame.horizon);
  const double rounds = std::min(2 * std::pow(horizon, 2.0 / 3), horizon / 10);
  const auto fallback = std::max<Count>(1, static_cast<Count>(rounds / static_cast<double>(space.arms)));
  frame.warm_up = settings.IntegerOrAuto("algorithm.warm_up").value_or(fallback);
  frame.elimination_gap =
      settings.Has("algorithm.elimination_gap") ? settings.Number("algorithm.elimination_gap") : HUGE_VAL;
  return frame;
}

Calibration CalibrationOf(const Settings& settings) {
  return settings.Text("privacy.calibration") == "paper" ? Calibration::kPaper : Calibration::kTight;
}

Sampler SamplerOf(const Settings& settings) {
  return settings.Text("privacy.sampler") == "exact" ? Sampler::kExact : Sampler::kFast;
}

OutOfRange OutOfRangeOf(const Settings& settings) {
  return settings.Text("privacy.out_of_range") == "zero" ? OutOfRange::kZero : OutOfRange::kClip;
}

SlotBudget SlotBudgetOf(const Settings& settings) {
  const std::string slots = settings.Has("privacy.slots") ? settings.Text("privacy.slots") : "full";
  return slots == "half" ? SlotBudget::kHalf : slots == "split" ? SlotBudget::kSplit : SlotBudget::kFull;
}

Declassify NoPrivacy() { return Declassify("privacy.model = none"); }

absl::StatusOr<LocalGradient> MakeGradient(const Settings& settings, const UserSpace& space) {
  LocalGradientParams params{.epsilon = 0,
                             .randomizer = settings.Text("algorithm.randomizer") == "duchi"
                                               ? L2BallRandomizer::kDuchi
                                               : L2BallRandomizer::kPrivUnit,
                             .sampler = Sampler::kFast,
                             .calibration = Calibration::kTight,
                             .dimension = space.dimension,
                             .slots = space.multi ? space.arms : 1,
                             .slot_budget = SlotBudgetOf(settings),
                             .context_norm = space.context_bound,
                             .rewards = space.rewards,
                             .means = space.mean.Range(space.theta_norm * space.context_bound),
                             .out_of_range = OutOfRangeOf(settings),
                             .lift = true};
  if (!IsPrivate(settings)) return LocalGradient::CreateBare(params.space(), NoPrivacy());
  params.epsilon = settings.Number("privacy.epsilon");
  params.sampler = SamplerOf(settings);
  params.calibration = CalibrationOf(settings);
  return LocalGradient::Create(params);
}

// `bounds` of the sides.
absl::StatusOr<LocalRegression> MakeRegression(const Settings& settings, const UserSpace& space,
                                               const std::vector<double>& bounds) {
  LocalRegressionParams params{.nominal = {},
                               .calibration = Calibration::kTight,
                               .sampler = Sampler::kFast,
                               .dimension = space.dimension,
                               .slots = space.multi ? space.arms : 1,
                               .slot_budget = SlotBudgetOf(settings),
                               .context_norm = space.context_bound,
                               .rewards = space.rewards,
                               .side_bounds = bounds,
                               .side_weights = {},
                               .out_of_range = OutOfRangeOf(settings)};
  if (!IsPrivate(settings)) return LocalRegression::CreateBare(params.space(), NoPrivacy());
  const bool paper = CalibrationOf(settings) == Calibration::kPaper;  // which has no weights
  for (const double bound : bounds) {
    const double weight = settings.Number("algorithm.reward_weight") * space.context_bound / bound;
    params.side_weights.push_back(paper ? 1 : weight);
  }
  params.nominal = {settings.Number("privacy.epsilon"), settings.Number("privacy.delta")};
  params.sampler = SamplerOf(settings);
  params.calibration = CalibrationOf(settings);
  return LocalRegression::Create(params);
}

// The reward less that of <x, theta> = 0.
double Centre(const UserSpace& space) { return space.mean(0); }

double FarthestFromCentre(const UserSpace& space) {
  return std::max(space.rewards.high - Centre(space), Centre(space) - space.rewards.low);
}

std::vector<double> GlocBounds(const UserSpace& space) {
  const Interval means = space.mean.Range(space.theta_norm * space.context_bound);
  return {space.theta_norm * space.context_bound,
          std::max(means.high - space.rewards.low, space.rewards.high - means.low)};
}

absl::StatusOr<RegressionReporter> MakeReporter(const Settings& settings, const UserSpace& space) {
  BANDANA_ASSIGN_OR_RETURN(LocalRegression regression,
                           MakeRegression(settings, space, {FarthestFromCentre(space)}));
  return RegressionReporter(std::move(regression), Centre(space));
}

UserRegressionParams MakeRegressionParams(const Settings& settings, const UserSpace& space) {
  const Value& shift = *settings.Find("algorithm.gram_shift");
  const auto* scale = std::get_if<double>(&shift);
  const bool exact = IsPrivate(settings) && SamplerOf(settings) == Sampler::kExact;
  return {.frame = MakeFrame(settings, space),
          .shift = {.scale = scale == nullptr ? 1 : *scale, .paper = scale == nullptr},
          .lazy = settings.Number("algorithm.lazy"),
          .crowds = !exact};
}

}  // namespace

absl::StatusOr<MeanFunction> MeanFunctionOf(const Settings& settings) {
  const Link link = LinkOf(settings);
  if (link != Link::kPoisson) return MeanFunction::Create(link, 0);
  const double bound = settings.NumberOrAuto("environment.reward_bound").value_or(kPoissonBound);
  if (bound != std::floor(bound) || bound > MeanFunction::kMostBound) {
    return InvalidOption("environment.reward_bound", fmt::format("{}", bound),
                         fmt::format("a whole number from 1 to {} with environment.link = \"poisson\"",
                                     MeanFunction::kMostBound));
  }
  return MeanFunction::Create(link, static_cast<Count>(bound));
}

absl::Status CheckUserNames(const Settings& settings) {
  const std::string& kind = settings.Text("environment.kind");
  const std::string& name = settings.Text("algorithm.name");
  if (kind != "glm" && kind != "contextual-linear" && kind != "replay") {
    return InvalidOption("environment.kind", kind,
                         fmt::format("contextual-linear, glm or replay with algorithm.name = \"{}\"", name));
  }
  const std::string& model = settings.Text("privacy.model");
  const bool open = name == "lin-ucb" || name == "thompson-sampling";
  if (model != "none" && (model != "local" || open)) {
    return InvalidOption("privacy.model", model,
                         fmt::format("{} with algorithm.name = \"{}\"", open ? "none" : "none, local", name));
  }
  if (!settings.Has("environment.contexts")) return absl::OkStatus();
  const std::string& contexts = settings.Text("environment.contexts");
  if (contexts != "sphere" && contexts != "gaussian" && contexts != "margin") {
    return InvalidOption("environment.contexts", contexts,
                         fmt::format("sphere, gaussian, margin with algorithm.name = \"{}\"", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const GlmProblem>> MakeGlmProblem(const Settings& settings,
                                                                 std::uint32_t replicate) {
  BANDANA_RETURN_IF_ERROR(CheckUserNames(settings));
  BANDANA_ASSIGN_OR_RETURN(const MeanFunction mean, MeanFunctionOf(settings));
  GlmProblemParams params{
      .dimension = settings.Integer("environment.dimension"),
      .arms = settings.Integer("environment.actions"),
      .parameters =
          settings.Text("environment.parameters") == "multi" ? ParameterKind::kMulti : ParameterKind::kSingle,
      .mean = mean,
      .contexts = ContextsOf(settings),
      .margin = settings.Has("environment.margin") ? settings.Number("environment.margin") : 0,
      .theta_norm = settings.Number("environment.theta_norm")};
  if (settings.Has("environment.reward")) params.reward = MakeRewardModel(settings);
  if (mean.link() != Link::kIdentity) params.reward = {.kind = RewardKind::kBernoulli};
  BANDANA_ASSIGN_OR_RETURN(
      GlmProblem problem,
      GlmProblem::Draw(params, static_cast<std::uint64_t>(settings.Integer("seed")), replicate));
  return std::make_shared<const GlmProblem>(std::move(problem));
}

absl::StatusOr<UserSpace> MakeUserSpace(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const MeanFunction mean, MeanFunctionOf(settings));
  UserSpace space{.dimension = settings.Integer("environment.dimension"),
                  .arms = settings.Integer("environment.actions"),
                  .multi = settings.Text("environment.parameters") == "multi",
                  .mean = mean,
                  .theta_norm = settings.Number("environment.theta_norm"),
                  .context_bound = ContextBound(settings)};
  space.rewards = RewardsOf(settings, mean, space.theta_norm * space.context_bound);
  space.reward_proxy = RewardProxy(settings, mean, space.rewards);
  return space;
}

absl::StatusOr<LdpSgd> MakeLdpSgd(const Settings& settings, const UserSpace& space) {
  BANDANA_ASSIGN_OR_RETURN(const LocalGradient gradient, MakeGradient(settings, space));
  const auto* average = std::get_if<double>(settings.Find("algorithm.average"));
  return LdpSgd::Create({.frame = MakeFrame(settings, space),
                         .mean = space.mean,
                         .theta_norm = space.theta_norm,
                         .least_slope = space.mean.SmallestSlope(space.theta_norm * space.context_bound),
                         .step = settings.Number("algorithm.step"),
                         .delay = settings.Number("algorithm.delay"),
                         .average = average == nullptr ? std::nullopt : std::optional(*average)},
                        gradient);
}

absl::StatusOr<LdpOls> MakeLdpOls(const Settings& settings, const UserSpace& space) {
  BANDANA_ASSIGN_OR_RETURN(RegressionReporter reporter, MakeReporter(settings, space));
  return LdpOls::Create(MakeRegressionParams(settings, space), std::move(reporter));
}

absl::StatusOr<LdpUcb> MakeLdpUcb(const Settings& settings, const UserSpace& space) {
  BANDANA_ASSIGN_OR_RETURN(RegressionReporter reporter, MakeReporter(settings, space));
  return LdpUcb::Create({.regression = MakeRegressionParams(settings, space),
                         .bonus = settings.Number("algorithm.bonus"),
                         .theta_norm = space.theta_norm,
                         .context_norm = space.context_bound,
                         .reward_proxy = space.reward_proxy},
                        std::move(reporter));
}

absl::StatusOr<LdpGloc> MakeLdpGloc(const Settings& settings, const UserSpace& space) {
  BANDANA_ASSIGN_OR_RETURN(LocalRegression regression, MakeRegression(settings, space, GlocBounds(space)));
  UserRegressionParams params = MakeRegressionParams(settings, space);
  params.crowds = false;
  return LdpGloc::Create({.regression = params,
                          .mean = space.mean,
                          .theta_norm = space.theta_norm,
                          .least_slope = space.mean.SmallestSlope(space.theta_norm * space.context_bound),
                          .step = settings.Number("algorithm.step"),
                          .bonus = settings.Number("algorithm.bonus")},
                         std::move(regression));
}

absl::StatusOr<ThompsonSampling> MakeThompsonSampling(const Settings& settings, const UserSpace& space) {
  BANDANA_ASSIGN_OR_RETURN(RegressionReporter reporter, MakeReporter(settings, space));
  return ThompsonSampling::Create({.regression = MakeRegressionParams(settings, space),
                                   .spread = settings.Number("algorithm.spread"),
                                   .reward_proxy = space.reward_proxy},
                                  std::move(reporter));
}

absl::StatusOr<std::vector<Claim>> UserClaims(const Settings& settings, const UserSpace& space) {
  if (!IsPrivate(settings)) return std::vector<Claim>{};
  const std::string& name = settings.Text("algorithm.name");
  if (name == "ldp-sgd") {
    BANDANA_ASSIGN_OR_RETURN(const LocalGradient gradient, MakeGradient(settings, space));
    return gradient.claims();
  }
  BANDANA_ASSIGN_OR_RETURN(
      const LocalRegression regression,
      MakeRegression(settings, space,
                     name == "ldp-gloc" ? GlocBounds(space) : std::vector{FarthestFromCentre(space)}));
  return regression.claims();
}

}  // namespace bandana::lab
