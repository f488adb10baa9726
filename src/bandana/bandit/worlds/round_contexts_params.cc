#include <memory>
#include <string>
#include <utility>

#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/options.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kMostGap = 0.3;
constexpr Count kMost = 1'000'000;

std::string NameOf(RewardKind reward) {
  switch (reward) {
    case RewardKind::kGaussian:
      return "gaussian";
    case RewardKind::kRademacher:
      return "rademacher";
    case RewardKind::kBernoulli:
      return "bernoulli";
    case RewardKind::kUniform:
      return "uniform";
  }
  return "";
}

absl::Status CheckCount(const char* field, Count value, Count least) {
  if (value >= least && value <= kMost) return absl::OkStatus();
  return InvalidField(Part::kParams, field, fmt::format("{}", value),
                      fmt::format("a whole number from {} to {}", least, kMost));
}

absl::Status CheckReward(const RoundContextsParams& params) {
  const bool gap = params.contexts == RoundLaw::kGap;
  const auto refuse = [&](const char* accepted) {
    return InvalidField(Part::kParams, "reward", NameOf(params.reward), accepted);
  };
  if (gap && params.reward != RewardKind::kBernoulli) return refuse("bernoulli with contexts = \"gap\"");
  if (gap || params.reward == RewardKind::kRademacher) return absl::OkStatus();
  if (params.reward == RewardKind::kBernoulli) {
    return refuse("rademacher unless contexts = \"gap\": means may be negative");
  }
  return refuse("bernoulli, rademacher: rewards must be bounded");
}

absl::Status CheckProbe(const RoundContextsParams& params) {
  if (params.contexts != RoundLaw::kProbe) return absl::OkStatus();
  if (!params.probe_level.has_value()) {
    return InvalidField(Part::kParams, "contexts", "probe",
                        "gap or sphere; probe only with fed-ucb, which sets probe_level");
  }
  if (*params.probe_level >= 0 && *params.probe_level <= 1) return absl::OkStatus();
  return InvalidField(Part::kParams, "probe_level", *params.probe_level, "a number in [0, 1]");
}

}  // namespace

absl::Status CheckRoundContexts(const RoundContextsParams& params) {
  const bool gap = params.contexts == RoundLaw::kGap;
  const Count least = gap ? 2 : 1;
  BANDANA_RETURN_IF_ERROR(CheckCount("dimension", params.dimension, least));
  BANDANA_RETURN_IF_ERROR(CheckCount("actions", params.actions, least));
  if (gap && !(params.gap >= 0 && params.gap <= kMostGap)) {
    return InvalidField(Part::kParams, "gap", params.gap, fmt::format("a number in [0, {}]", kMostGap));
  }
  BANDANA_RETURN_IF_ERROR(CheckReward(params));
  BANDANA_RETURN_IF_ERROR(CheckProbe(params));
  if (gap || (params.theta_norm > 0 && params.theta_norm <= 1)) return absl::OkStatus();
  return InvalidField(Part::kParams, "theta_norm", params.theta_norm, "a number in (0, 1]");
}

Facts RoundContexts::FactsOf(const RoundContextsParams& params) {
  const RewardModel reward{.kind = params.reward};
  return {.horizon = params.horizon,
          .people = params.agents,
          .arms = params.actions,
          .dimension = params.dimension,
          .reward = reward,
          .rewards = reward.support().value_or(Interval{-1, 1}),
          .theta_norm = 1,
          .context_norm = 1,
          .public_seed = params.seed};
}

OptionsFor<RoundContextsParams> RoundContextsOptions() {
  using P = RoundContextsParams;
  const auto gap = [](const P& p) { return p.contexts == RoundLaw::kGap; };
  const auto probe = [](const P& p) { return p.contexts == RoundLaw::kProbe; };
  OptionsFor<P> options("environment");
  options
      .Choice<RoundLaw>(
          "contexts", Claims::kKept, &P::contexts,
          {{"gap", RoundLaw::kGap,
            "One arm of each round is better than the others by a gap (P3, Section 4.4)."},
           {"sphere", RoundLaw::kSphere, "The arms are uniform on the unit sphere."},
           {"probe", RoundLaw::kProbe,
            "The records of agent 1 are chosen so that the round of the first sync tells whether its first "
            "record is there. Only fed-ucb can be probed."}},
          "How the arms of a round are drawn.")
      .Integer("dimension", Claims::kKept, &P::dimension, 1, "The dimension d of the arms.")
      .Required()
      .Integer("actions", Claims::kKept, &P::actions, 1, "The number K of arms in one round.")
      .Required()
      .Number(
          "gap", Claims::kKept, &P::gap, InClosed(0, kMostGap), "a number in [0, 0.3]",
          "The mean of the best arm is in [0.6 + gap, 0.7 + gap], and those of the others are in [0.5, 0.6].")
      .When(gap, "with contexts = gap")
      .Choice<ProbeWorld>("world", Claims::kKept, &P::world,
                          {{"a", ProbeWorld::kA, "The first record of agent 1 is there."},
                           {"b", ProbeWorld::kB, "The first record of agent 1 is 0."}},
                          "Which of the two neighbouring streams the agents meet.")
      .When(probe, "with contexts = probe")
      .Choice<Precision>(
          "precision", Claims::kKept, &P::precision,
          {{"double", Precision::kDouble, "Decision sets have 64-bit numbers."},
           {"float", Precision::kFloat, "Decision sets have 32-bit numbers, which is faster."}},
          "The precision of decision sets and of the indices that are computed from them.")
      .Number("theta_norm", Claims::kKept, &P::theta_norm, InHalfOpen(0, 1), "a number in (0, 1]",
              "The norm of theta.")
      .When([gap](const P& p) { return !gap(p); }, "unless contexts = gap")
      .Choice<RewardKind>("reward", Claims::kKept, &P::reward,
                          {{"rademacher", RewardKind::kRademacher, "A reward is 1 or -1."},
                           {"bernoulli", RewardKind::kBernoulli, "A reward is 1 or 0, with contexts = gap."}},
                          "The law of a reward, given its mean.")
      .In("federation")
      .Integer("agents", Claims::kChanged, &P::agents, 1, "The number M of agents.")
      .Required();
  return options;
}

namespace {

absl::StatusOr<std::unique_ptr<World>> MakeRoundContexts(const RoundContextsParams& given,
                                                         const WorldDraw& draw) {
  RoundContextsParams params = given;
  params.horizon = draw.horizon;
  params.seed = draw.seed;
  params.replicate = draw.replicate;
  BANDANA_ASSIGN_OR_RETURN(RoundContexts contexts, RoundContexts::Create(params));
  return std::make_unique<RoundContexts>(std::move(contexts));
}

}  // namespace

WorldKind RoundContextsKind() {
  return WithParams(WorldKind{.name = "contextual-linear",
                              .sentence = "Every agent meets new arms in every round; the mean reward of "
                                          "arm x is <theta, x>.",
                              .time = TimeModel::kRound},
                    RoundContextsOptions(), &MakeRoundContexts);
}

}  // namespace bandana
