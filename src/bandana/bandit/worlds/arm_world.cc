#include "bandana/bandit/worlds/arm_world.h"

#include <algorithm>
#include <utility>

#include "bandana/core/archive.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kMostPulls = Count{1} << 53;  // a double holds their sum exactly

// The most words that an agent draws in a run, because a sum of rewards takes a few words whatever its count.
// A saved state that says more would keep its reader busy for years.
constexpr std::uint64_t kMostDrawn = std::uint64_t{1} << 30;

absl::Status CheckReward(RewardKind kind, const ArmProblem& problem) {
  if (kind == RewardKind::kBernoulli) return absl::OkStatus();
  if (kind == RewardKind::kUniform && problem.lowest_mean() >= 0.5) return absl::OkStatus();
  return InvalidField(Part::kParams, {.message = "rewards of arms must be in [0, 1]",
                                      .key = "reward",
                                      .accepted = "bernoulli; or uniform if all means are 0.5 or more"});
}

Facts FactsOf(const ArmWorld::Params& params) {
  Facts facts;
  facts.horizon = params.horizon;
  facts.people = params.problem->agents();
  facts.arms = params.problem->arms();
  facts.reward = {.kind = params.reward};
  facts.smallest_gap = params.problem->smallest_gap();
  facts.agents_differ = params.problem->agents_differ();
  facts.public_seed = params.seed;
  return facts;
}

}  // namespace

OptionsFor<MabParams> MabOptions() {
  using P = MabParams;
  const auto drawn = [](const P& params) { return params.means.empty(); };
  OptionsFor<P> options("environment");
  options
      .Numbers("means", Claims::kKept, &P::means, InClosed(0, 1), "numbers in [0, 1]",
               "The mean reward of each arm, averaged over all agents. auto: drawn uniformly from [0, 1].")
      .Integer("actions", Claims::kKept, &P::actions, 1, "How many arms there are.")
      .Required()
      .When(drawn, "with means = auto")
      .Number("gap", Claims::kKept, &P::gap, InClosed(0, 1), "a number in [0, 1]",
              "The best arm's mean exceeds every other mean by at least this much.")
      .When(drawn, "with means = auto")
      .Number("heterogeneous", Claims::kKept, &P::heterogeneous, InClosed(0, 1), "a number in [0, 1]",
              "How much an arm's mean differs between agents. 0: not at all. 1: as much as means in [0, 1] "
              "with the same average can.")
      .Choice<RewardKind>(
          "reward", Claims::kKept, &P::reward,
          {{"bernoulli", RewardKind::kBernoulli, "A reward is 1 with the arm's mean as probability, else 0."},
           {"uniform", RewardKind::kUniform,
            "A reward is uniform around the arm's mean, with 1 as its largest value; no mean may be below "
            "0.5."}},
          "The law of a reward given its mean.")
      .In("federation")
      .Integer("agents", Claims::kChanged, &P::agents, 1, "How many agents there are.")
      .Required();
  return options;
}

absl::StatusOr<std::unique_ptr<World>> MakeMab(const MabParams& params, const WorldDraw& draw) {
  PhiloxSource bits({.seed = draw.seed,
                     .replicate = draw.replicate,
                     .epoch = 1,  // graphs have 0
                     .stream = Stream::kInstance});
  CoinGen coin(bits);
  const bool counted = params.actions > 0 || params.means.empty();
  BANDANA_ASSIGN_OR_RETURN(
      ArmProblem problem,
      ArmProblem::Draw({.agents = params.agents,
                        .arms = counted ? params.actions : static_cast<Count>(params.means.size()),
                        .gap = params.gap,
                        .heterogeneous = params.heterogeneous,
                        .means = params.means},
                       coin));
  BANDANA_ASSIGN_OR_RETURN(
      ArmWorld world, ArmWorld::Create({.problem = std::make_shared<const ArmProblem>(std::move(problem)),
                                        .reward = params.reward,
                                        .horizon = draw.horizon,
                                        .seed = draw.seed,
                                        .replicate = draw.replicate}));
  return std::make_unique<ArmWorld>(std::move(world));
}

WorldKind MabKind() {
  return WithParams(WorldKind{.name = "mab",
                              .sentence = "Agents pull arms that all share, and each arm has a mean reward.",
                              .time = TimeModel::kTick},
                    MabOptions(), &MakeMab);
}

ArmWorld::ArmWorld(Params params)
    : params_(std::move(params)),
      facts_(FactsOf(params_)),
      coins_(static_cast<std::size_t>(params_.problem->agents())) {}

absl::StatusOr<ArmWorld> ArmWorld::Create(Params params) {
  BANDANA_CHECK(params.problem != nullptr);
  BANDANA_RETURN_IF_ERROR(CheckReward(params.reward, *params.problem));
  return ArmWorld(std::move(params));
}

CoinGen& ArmWorld::CoinOf(NodeId agent) {
  auto& coins = coins_[agent.value - 1];
  if (coins == nullptr) {
    coins = std::make_unique<Coins>(StreamKey{
        .seed = params_.seed, .replicate = params_.replicate, .node = agent, .stream = Stream::kReward});
  }
  return coins->gen;
}

std::string ArmWorld::Save() const {
  std::vector<std::uint64_t> drawn;
  for (const auto& coins : coins_) drawn.push_back(coins == nullptr ? 0 : coins->gen.drawn());
  StateWriter writer;
  writer.Sized(drawn);
  return writer.Take();
}

absl::Status ArmWorld::Restore(std::string_view saved) {
  std::vector<std::uint64_t> drawn(coins_.size());
  StateReader reader(saved);
  reader.Sized(drawn);
  for (const std::uint64_t words : drawn) {
    reader.Check(words <= kMostDrawn, "an agent has drawn more rewards than a run can have");
  }
  BANDANA_RETURN_IF_ERROR(reader.Finish());
  for (std::uint32_t agent = 1; agent <= drawn.size(); ++agent) {
    coins_[agent - 1].reset();
    if (drawn[agent - 1] > 0) CoinOf(NodeId{agent}).Skip(drawn[agent - 1]);
  }
  return absl::OkStatus();
}

absl::Status ArmWorld::Answer(NodeId agent, Epoch, std::span<const Pull> pulls,
                              std::span<RewardSum> rewards) {
  BANDANA_CHECK(pulls.size() == rewards.size());
  if (!problem().Contains(agent)) {
    return absl::InvalidArgumentError(
        fmt::format("agent {} does not exist; there are {} agents", agent.value, problem().agents()));
  }
  CoinGen& coin = CoinOf(agent);
  const RewardModel model{params_.reward};
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const auto [arm, count] = pulls[i];
    if (!problem().Contains(arm)) {
      return absl::InvalidArgumentError(
          fmt::format("arm {} does not exist; there are {} arms", arm, problem().arms()));
    }
    if (!(count >= 0 && count <= kMostPulls)) {
      return absl::InvalidArgumentError(fmt::format("{} pulls of arm {} are not possible", count, arm));
    }
    const double mean = problem().Mean(agent, arm);
    const double sum = count == 1 ? model.Draw(mean, coin) : model.DrawSum(mean, count, coin);
    // Rounding may move a sum of uniform rewards out of its range.
    rewards[i] = {count, std::clamp(sum, 0.0, static_cast<double>(count))};
  }
  return absl::OkStatus();
}

}  // namespace bandana
