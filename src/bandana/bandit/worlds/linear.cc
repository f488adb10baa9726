#include "bandana/bandit/worlds/linear.h"

#include <utility>

#include "bandana/bandit/net_problem.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/bandit/worlds/reward_options.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

absl::StatusOr<LinearProblem> MakeFiniteProblem(const LinearWorldParams& params, const WorldDraw& draw) {
  if (params.contexts == ActionSource::kFile) {
    BANDANA_ASSIGN_OR_RETURN(ActionMatrix actions, ReadActions(params.file));
    absl::StatusOr<LinearProblem> problem =
        LinearProblem::DrawTheta(std::move(actions), params.theta_norm, draw.seed, draw.replicate);
    if (!problem.ok()) return WithFile(problem.status(), params.file);
    return problem;
  }
  return LinearProblem::Draw({.dimension = params.dimension,
                              .actions = params.actions,
                              .law = params.contexts == ActionSource::kOrthant    ? ActionLaw::kOrthant
                                     : params.contexts == ActionSource::kGaussian ? ActionLaw::kGaussian
                                                                                  : ActionLaw::kSphere,
                              .theta_norm = params.theta_norm},
                             draw.seed, draw.replicate);
}

absl::StatusOr<LinearProblem> MakeNetProblem(const LinearWorldParams& params, const NetChoice& net,
                                             const WorldDraw& draw) {
  const NetParams of_net{
      .set = *net.set, .dimension = params.dimension, .radius = net.radius, .most_entries = net.most_entries};
  if (!net.sampled) return NetProblem(of_net, params.theta_norm, draw.seed, draw.replicate);
  return SampledNetProblem(of_net, params.net_samples, params.theta_norm, draw.seed, draw.replicate);
}

// P2 takes 1/T, so that a net costs a regret of at most 1 (Eq. 19). Where the best action's neighbour is
// closer in reward than in distance, a wider net costs no more, and its fewer actions make narrower widths.
absl::Status ChooseRadius(Count dimension, double horizon, NetChoice& net) {
  net.radius = NetRadiusFor(*net.set, horizon, 1);
  net.most_entries = kAutoNetEntries;
  const NetParams costs_one{
      .set = *net.set, .dimension = dimension, .radius = net.radius, .most_entries = net.most_entries};
  if (NetSize(costs_one).ok()) return absl::OkStatus();
  absl::StatusOr<double> least = SmallestNetRadius(*net.set, dimension, net.most_entries);
  if (!least.ok()) {
    net.most_entries = kMostNetEntries;
    least = SmallestNetRadius(*net.set, dimension, net.most_entries);
  }
  if (!least.ok()) return least.status();
  net.radius = *least;
  return absl::OkStatus();
}

bool IsFinite(const LinearWorldParams& p) { return !p.action_set.has_value(); }
bool IsDrawn(const LinearWorldParams& p) { return IsFinite(p) && p.contexts != ActionSource::kFile; }

OptionsFor<LinearWorldParams> LinearOptions(OptionsFor<LinearWorldParams> options, bool has_link) {
  using P = LinearWorldParams;
  options
      .Choice<std::optional<ActionSet>>(
          "action_set", Claims::kKept, &P::action_set,
          {{"finite", std::nullopt, "Finitely many actions, drawn or read from a file."},
           {"ball", ActionSet::kBall, "All of the unit ball."},
           {"sphere", ActionSet::kSphere, "All of the unit sphere."},
           {"box", ActionSet::kBox, "All of the cube of side 2/sqrt(d)."}},
          "Which actions there are. An infinite set is played through a net, and regret is "
          "measured against the best of the whole set.")
      .Choice<ActionSource>(
          "contexts", Claims::kKept, &P::contexts,
          {{"sphere", ActionSource::kSphere, "The actions are uniform on the unit sphere."},
           {"orthant", ActionSource::kOrthant,
            "Actions, and theta, are uniform on the part of the unit sphere that has no negative entry."},
           {"gaussian", ActionSource::kGaussian,
            "The actions are normal, scaled so that the longest has norm 1."},
           {"file", ActionSource::kFile, "The actions are read from `file`."}},
          "How the actions are drawn.")
      .When(IsFinite, "with action_set = finite")
      .Path("file", Claims::kKept, &P::file,
            "The file of the actions: one per line, numbers separated by commas.")
      .Required()
      .When([](const P& p) { return IsFinite(p) && p.contexts == ActionSource::kFile; },
            "with contexts = file")
      .Integer("dimension", Claims::kKept, &P::dimension, 1, "The dimension d of an action.")
      .Required()
      .When([](const P& p) { return IsDrawn(p) || !IsFinite(p); }, "unless contexts = file")
      .Integer("actions", Claims::kKept, &P::actions, 1, "The number k of actions.")
      .Required()
      .When(IsDrawn, "with action_set = finite, unless contexts = file")
      .Number("theta_norm", Claims::kKept, &P::theta_norm, InHalfOpen(0, 1), "a number in (0, 1]",
              "The norm of theta.");
  AddRewardOptions(options, {RewardKind::kGaussian, RewardKind::kRademacher, RewardKind::kBernoulli,
                             RewardKind::kUniform});
  // With a link, rewards are 1 or 0, unless the link is the identity.
  const auto if_linear = [&] {
    if (has_link) options.When([](const P& p) { return p.link == Link::kIdentity; }, "with link = identity");
  };
  const auto is_gaussian = [](const P& p) { return p.reward == RewardKind::kGaussian; };
  if_linear();
  options
      .Number("reward_sd", Claims::kKept, &P::reward_sd, NonNegative, "a finite number >= 0",
              "The standard deviation of a reward.")
      .When(is_gaussian, "with reward = gaussian");
  if_linear();
  options
      .Number(
          "reward_bound", Claims::kKept, &P::reward_bound,
          [](double value) { return value >= 1 && std::isfinite(value); }, "a finite number >= 1",
          "The bound to which clients clip their averages. auto: each phase chooses the interval that suits "
          "its noise. With width = paper: 1 + 3 standard deviations of an average. With calibration = "
          "paper: 1.")
      .When(is_gaussian, "with reward = gaussian");
  if_linear();
  options
      .Number("client_sd", Claims::kKept, &P::client_sd, NonNegative, "a finite number >= 0",
              "How far clients differ: each has its own theta_u = theta + N(0, client_sd^2 I).")
      .Integer("population", Claims::kChanged, &P::population, 1,
               "How many clients there are. Each takes part at most once. auto: 100000, or the horizon where "
               "every round has a new client.")
      .In("algorithm")
      .Choice<NetKind>("net", Claims::kKept, &P::net,
                       {{"auto", NetKind::kAuto,
                         "If the set is infinite, a net of it is played; a finite set is played as it is."},
                        {"none", NetKind::kNone, "The set is finite and is played as it is."},
                        {"sampled", NetKind::kSampled,
                         "A finite set is thinned out; from an infinite one actions are drawn."}},
                       "Which actions the algorithm plays.")
      .Number(
          "net_radius", Claims::kKept, &P::net_radius, InHalfOpen(0, kMostNetRadius),
          "a number in (0, sqrt(2)]",
          "The largest distance from any action to the nearest action of the net. auto: the largest radius "
          "that costs a regret of at most 1, or the smallest whose net has 2^22 numbers; 1/T if sampled.")
      .When(
          [](const P& p) { return (!IsFinite(p) && p.net == NetKind::kAuto) || p.net == NetKind::kSampled; },
          "with an infinite set or net = sampled")
      .Integer("net_samples", Claims::kKept, &P::net_samples, 1,
               "How many actions are drawn from an infinite set.")
      .When([](const P& p) { return !IsFinite(p) && p.net == NetKind::kSampled; },
            "with an infinite set and net = sampled");
  return options;
}

}  // namespace

absl::StatusOr<std::optional<NetChoice>> NetOf(const LinearWorldParams& params, Count horizon) {
  NetChoice net{.set = params.action_set, .sampled = params.net == NetKind::kSampled};
  if (!net.set.has_value() && !net.sampled) return std::nullopt;
  if (params.net == NetKind::kNone) {
    return InvalidField(Part::kParams, {.message = "an infinite action set needs a net",
                                        .key = "net",
                                        .value = "none",
                                        .accepted = "auto, sampled; or action_set = finite"});
  }
  const auto rounds = static_cast<double>(horizon);
  if (params.net_radius.has_value()) {
    net.radius = *params.net_radius;
  } else if (net.sampled) {
    net.radius = 1 / rounds;
  } else {
    BANDANA_RETURN_IF_ERROR(ChooseRadius(params.dimension, params.theta_norm * rounds, net));
  }
  if (net.sampled && net.set.has_value()) return net;
  net.cost = rounds * params.theta_norm * (net.sampled ? net.radius : NetLoss(*net.set, net.radius));
  return net;
}

absl::StatusOr<std::shared_ptr<const LinearProblem>> MakeLinearProblem(const LinearWorldParams& params,
                                                                       const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<NetChoice> net, NetOf(params, draw.horizon));
  const bool infinite = net.has_value() && net->set.has_value();
  BANDANA_ASSIGN_OR_RETURN(LinearProblem problem,
                           infinite ? MakeNetProblem(params, *net, draw) : MakeFiniteProblem(params, draw));
  if (net.has_value() && !infinite) {
    BANDANA_ASSIGN_OR_RETURN(problem, ThinnedProblem(problem, net->radius));
  }
  return std::make_shared<const LinearProblem>(std::move(problem).Through(params.link));
}

absl::StatusOr<std::unique_ptr<World>> MakeLinearWorld(const LinearWorldParams& params,
                                                       const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(auto problem, MakeLinearProblem(params, draw));
  const Count fallback = draw.one_client_per_round ? draw.horizon : kDefaultPopulation;
  BANDANA_ASSIGN_OR_RETURN(
      LinearPopulation population,
      LinearPopulation::Create({.problem = std::move(problem),
                                .reward = {.kind = params.reward, .sd = params.reward_sd},
                                .client_sd = params.client_sd,
                                .size = params.population.value_or(fallback),
                                .seed = draw.seed,
                                .replicate = draw.replicate,
                                .horizon = draw.horizon,
                                .reward_bound = params.reward_bound}));
  return std::make_unique<LinearPopulation>(std::move(population));
}

namespace {

// Tells about the net of actions that is played, and a bound on the regret that it can cost.
absl::StatusOr<std::vector<Statement>> DescribeNet(const std::any& params, Count horizon) {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<NetChoice> net,
                           NetOf(std::any_cast<const LinearWorldParams&>(params), horizon));
  if (!net.has_value()) return std::vector<Statement>{};
  const std::string set(net->set.has_value() ? NameOf(*net->set) : "finite");
  return std::vector<Statement>{
      {"net",
       {{"set", set}, {"sampled", net->sampled}, {"radius", net->radius}, {"regret_at_most", net->cost}}}};
}

// Fills in what a link other than the identity prescribes: rewards are 1 or 0.
absl::StatusOr<std::unique_ptr<World>> MakeGlmWorld(const LinearWorldParams& given, const WorldDraw& draw) {
  LinearWorldParams params = given;
  if (params.link != Link::kIdentity) {
    params.reward = RewardKind::kBernoulli;
    params.reward_bound = std::nullopt;
  }
  return MakeLinearWorld(params, draw);
}

}  // namespace

WorldKind LinearWorldKind() {
  WorldKind kind =
      WithParams(WorldKind{.name = "linear",
                           .sentence = "Actions are vectors, and the mean reward of x is <theta, x>. Clients "
                                       "may have a theta of their own, near the common one.",
                           .time = TimeModel::kSlot},
                 LinearOptions(OptionsFor<LinearWorldParams>("environment"), false), &MakeLinearWorld);
  kind.describe = &DescribeNet;
  return kind;
}

WorldKind GlmWorldKind() {
  OptionsFor<LinearWorldParams> options("environment");
  options.Choice<Link>("link", Claims::kKept, &LinearWorldParams::link,
                       {{"logistic", Link::kLogistic, "mu(s) = 1 / (1 + exp(-s))."},
                        {"identity", Link::kIdentity, "mu(s) = s."},
                        {"probit", Link::kProbit, "mu(s) is the normal distribution function."}},
                       "The link mu: the mean reward of x is mu(<theta, x>).");
  WorldKind kind = WithParams(
      WorldKind{
          .name = "glm",
          .sentence =
              "The mean reward of x is mu(<theta, x>) with a link mu. Rewards are 1 or 0 unless the link "
              "is the identity. Clients "
              "may have a theta of their own, near the common one.",
          .time = TimeModel::kSlot},
      LinearOptions(options, true), &MakeGlmWorld);
  kind.describe = &DescribeNet;
  kind.defaults = LinearWorldParams{.link = Link::kLogistic};
  return kind;
}

}  // namespace bandana
