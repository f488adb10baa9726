#include "bandana/bandit/worlds/glm_users.h"

#include <cmath>
#include <utility>

#include "bandana/bandit/worlds/user_means.h"
#include "bandana/bandit/worlds/user_rounds.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

bool IsLinear(const GlmUsersParams& params) { return params.link == Link::kIdentity; }
bool IsGaussian(const GlmUsersParams& params) {
  return IsLinear(params) && params.reward == RewardKind::kGaussian;
}

RewardModel RewardOf(const GlmUsersParams& params) {
  if (!IsLinear(params)) return {.kind = RewardKind::kBernoulli};
  if (params.reward != RewardKind::kGaussian) return {.kind = params.reward};
  return {.kind = RewardKind::kGaussian, .sd = params.reward_sd};
}

// About one normal context in a hundred is longer: |x|^2 d is chi-squared, which is nearly normal.
double ContextBoundOf(const GlmUsersParams& params) {
  constexpr double kOneInAHundred = 2.33;
  if (params.context_bound.has_value()) return *params.context_bound;
  if (params.contexts != UserContexts::kGaussian) return 1;
  return std::sqrt(1 + kOneInAHundred * std::sqrt(2 / static_cast<double>(params.dimension)));
}

Interval RewardsOf(const GlmUsersParams& params, const MeanFunction& mean, double most_mean) {
  if (mean.link() == Link::kPoisson) return {0, static_cast<double>(mean.bound())};
  if (mean.link() != Link::kIdentity) return {0, 1};
  const RewardModel model = RewardOf(params);
  if (const auto support = model.support()) return *support;
  constexpr double kSpreads = 3;
  const double bound = params.reward_bound.value_or(most_mean + kSpreads * model.sd);
  return {-bound, bound};
}

Facts FactsOf(const GlmUsersParams& params, const MeanFunction& mean, Count horizon) {
  Facts facts{.horizon = horizon,
              .people = horizon,
              .arms = params.actions,
              .dimension = params.dimension,
              .reward = RewardOf(params),
              .theta_norm = params.theta_bound.value_or(params.theta_norm),
              .context_norm = ContextBoundOf(params),
              .mean = mean,
              .multi = params.parameters == ParameterKind::kMulti};
  facts.rewards = RewardsOf(params, mean, facts.theta_norm * facts.context_norm);
  facts.reward_proxy =
      IsLinear(params) ? facts.reward.proxy() : (facts.rewards.high - facts.rewards.low) / 2;  // Hoeffding
  return facts;
}

}  // namespace

OptionsFor<GlmUsersParams> GlmUsersOptions(bool link) {
  using P = GlmUsersParams;
  const std::string linear = link ? "with link = identity" : "";
  const std::string gaussian = link ? "with link = identity and reward = gaussian" : "with reward = gaussian";
  OptionsFor<P> options("environment");
  if (link) {
    options.Choice<Link>("link", Claims::kKept, &P::link, LinkSpellings(),
                         "How the mean reward follows from <theta, x>.");
  }
  options
      .Choice<ParameterKind>("parameters", Claims::kChanged, &P::parameters, ParameterSpellings(),
                             "Whether arms share one theta.")
      .Choice<UserContexts>(
          "contexts", Claims::kChanged, &P::contexts,
          {{"sphere", UserContexts::kSphere, "Contexts are uniform on the unit sphere."},
           {"gaussian", UserContexts::kGaussian, "Contexts are normal, with variance 1/d in each entry."},
           {"margin", UserContexts::kMargin,
            "There are two arms with a margin (P5, Assumptions 4 and 6). If each arm has a theta, all "
            "further "
            "arms are surely inferior (Assumption 5)."}},
          "How the contexts of a user are drawn.")
      .Number(
          "margin", Claims::kKept, &P::margin, InClosed(0.01, 100), "a number in [0.01, 100]",
          "The gap between the two arms is at most h with a probability that grows as h^margin (beta in P5).")
      .When([](const P& p) { return p.contexts == UserContexts::kMargin; }, "with contexts = margin")
      .Integer("dimension", Claims::kChanged, &P::dimension, 1, "The dimension d of contexts and thetas.")
      .Required()
      .Integer("actions", Claims::kKept, &P::actions, 1, "The number K of arms.")
      .Required()
      .Number("theta_norm", Claims::kKept, &P::theta_norm, InHalfOpen(0, 1), "a number in (0, 1]",
              "The length of every theta.")
      .Number("theta_bound", Claims::kKept, &P::theta_bound, Positive, "a finite number > 0",
              "The public bound on the length of every theta, at least theta_norm. Learners look for theta "
              "within it, and users clip "
              "rewards by it. auto: theta_norm, as if the length were known.")
      .Choice<RewardKind>(
          "reward", Claims::kKept, &P::reward,
          {{"gaussian", RewardKind::kGaussian, "Rewards are normal."},
           {"rademacher", RewardKind::kRademacher, "Rewards are +1 or -1."},
           {"bernoulli", RewardKind::kBernoulli, "Rewards are 1 or 0."},
           {"uniform", RewardKind::kUniform, "Rewards are uniform around their mean, within [-1, 1]."}},
          "The law of a reward given its mean.")
      .When(IsLinear, linear)
      .Number("reward_sd", Claims::kKept, &P::reward_sd, NonNegative, "a finite number >= 0",
              "The standard deviation of a reward given its mean.")
      .When(IsGaussian, gaussian)
      .Number("reward_bound", Claims::kKept, &P::reward_bound, AtLeastOne, "a finite number >= 1",
              "Users clip rewards to [-c, c], where c is this bound (c_r in P5). auto: the largest mean plus "
              "three standard deviations.")
      .When(IsGaussian, gaussian);
  if (link) {
    options
        .Number("reward_bound", Claims::kKept, &P::reward_bound, AtLeastOne, "a finite number >= 1",
                "The whole number at which poisson rewards are cut. auto: 5.")
        .When([](const P& p) { return p.link == Link::kPoisson; }, "with link = poisson");
  }
  options.Number("context_bound", Claims::kChanged, &P::context_bound, Positive, "a finite number > 0",
                 "Users shorten longer contexts to this length (C_B in P5). auto: 1; with gaussian contexts, "
                 "a length that about one context in a hundred exceeds.");
  return options;
}

absl::StatusOr<std::unique_ptr<UserWorld>> MakeGlmUsers(const GlmUsersParams& params, const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(const MeanFunction mean, MeanFunctionOf(params.link, params.reward_bound));
  if (params.theta_bound.has_value() && !(*params.theta_bound >= params.theta_norm)) {
    return InvalidField(Part::kParams, "theta_bound", *params.theta_bound, "at least theta_norm");
  }
  BANDANA_ASSIGN_OR_RETURN(
      GlmProblem problem,
      GlmProblem::Draw({.dimension = params.dimension,
                        .arms = params.actions,
                        .parameters = params.parameters,
                        .mean = mean,
                        .contexts = params.contexts,
                        .margin = params.contexts == UserContexts::kMargin ? params.margin : 0,
                        .theta_norm = params.theta_norm,
                        .reward = RewardOf(params)},
                       draw.seed, draw.replicate));
  return std::make_unique<DrawnRounds>(std::make_shared<const GlmProblem>(std::move(problem)), draw.seed,
                                       draw.replicate, FactsOf(params, mean, draw.horizon));
}

namespace {

absl::StatusOr<std::unique_ptr<World>> MakeGlm(const GlmUsersParams& params, const WorldDraw& draw) {
  return MakeGlmUsers(params, draw);
}

}  // namespace

WorldKind LinearUsersKind() {
  WorldKind kind =
      WithParams({.name = "contextual-linear",
                  .sentence = "Every round has a new user with a context of its own, and the mean "
                              "reward is <theta, x>.",
                  .time = TimeModel::kUser},
                 GlmUsersOptions(false), &MakeGlm);
  kind.defaults = GlmUsersParams{.link = Link::kIdentity};
  return kind;
}

WorldKind GlmUsersKind() {
  return WithParams(
      {.name = "glm",
       .sentence = "Every round has a new user with a context of its own, and the mean reward follows "
                   "from <theta, x> through a link.",
       .time = TimeModel::kUser},
      GlmUsersOptions(true), &MakeGlm);
}

}  // namespace bandana
