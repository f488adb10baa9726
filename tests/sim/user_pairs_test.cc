#include "bandana/sim/user_pairs.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "bandana/algorithms/users/create.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "bandana/bandit/worlds/lending_rounds.h"
#include "bandana/bandit/worlds/logged_rounds.h"
#include "bandana/bandit/worlds/replay_users.h"
#include "bandana/sim/simulate.h"
#include "tests/support.h"

namespace bandana::sim {
namespace {

constexpr Count kHorizon = 1'000;
constexpr std::uint64_t kSeed = 4;

/// Another class around a world: the simulator cannot know the pair.
class OpaqueWorld final : public UserWorld {
 public:
  explicit OpaqueWorld(std::unique_ptr<UserWorld> world) : world_(std::move(world)) {}

  const Facts& facts() const override { return world_->facts(); }
  const ActionMatrix& Contexts() override { return world_->Contexts(); }
  void Scores(std::span<const double> thetas, std::span<double> scores) override {
    world_->Scores(thetas, scores);
  }
  bool Next() override { return world_->Next(); }
  std::optional<double> Reward(ArmId arm) override { return world_->Reward(arm); }
  std::span<const double> Context(ArmId arm) override { return world_->Context(arm); }
  double Gap(ArmId arm) const override { return world_->Gap(arm); }
  std::unique_ptr<UserWorld> ScoresOnly() const override {
    auto cheaper = world_->ScoresOnly();
    return cheaper == nullptr ? nullptr : std::make_unique<OpaqueWorld>(std::move(cheaper));
  }
  double EstimationError(std::span<const double> thetas) const override {
    return world_->EstimationError(thetas);
  }
  absl::Status Measure(GreedyPolicy greedy, std::map<std::string, double>& series) override {
    return world_->Measure(greedy, series);
  }

 private:
  std::unique_ptr<UserWorld> world_;
};

using MakeWorld = std::function<std::unique_ptr<UserWorld>()>;

std::unique_ptr<UserWorld> GlmWorld(ParameterKind parameters, UserContexts contexts) {
  return MakeGlmUsers({.dimension = 3,
                       .actions = contexts == UserContexts::kMargin ? 2 : 4,
                       .link = contexts == UserContexts::kMargin ? Link::kIdentity : Link::kLogistic,
                       .parameters = parameters,
                       .contexts = contexts},
                      {.horizon = kHorizon, .seed = kSeed})
      .value();
}

std::unique_ptr<UserWorld> LendingWorld() {
  return MakeReplayUsers({.log = ReplayLog::kAutoLending, .loans = 300, .actions = 5},
                         {.horizon = kHorizon, .seed = kSeed})
      .value();
}

LoggedData RandomLog(Count rounds) {
  test::Coins coins(9);
  LoggedData::Params params{.num_actions = 3, .dimension = 2};
  for (Count t = 0; t < rounds; ++t) {
    for (int i = 0; i < 2; ++i) params.contexts.push_back(UniformUnit(coins.gen) - 0.5);
    params.actions.push_back(static_cast<ArmId>(UniformBelow(3, coins.gen)));
    params.rewards.push_back(UniformUnit(coins.gen) < 0.4 ? 1 : 0);
    params.pscores.push_back(1.0 / 3);
  }
  return LoggedData::Create(std::move(params)).value();
}

std::unique_ptr<UserWorld> LogWorld(bool held_out) {
  const LoggedData log = RandomLog(3'000);
  Facts facts{
      .horizon = kHorizon, .arms = 3, .dimension = 2, .mean = MeanFunction(Link::kLogistic), .multi = true};
  auto features = LoggedFeatures::Create(log, ParameterKind::kMulti, 1).value();
  auto replay = Replay::Create(std::make_shared<const LoggedData>(log.Part(0, 2'000))).value();
  return std::make_unique<LoggedRounds>(
      std::move(replay), std::move(features), kSeed, 0, std::move(facts),
      held_out ? std::make_shared<const LoggedData>(log.Part(2'000, 3'000)) : nullptr);
}

std::vector<std::pair<std::string, MakeWorld>> Worlds() {
  constexpr auto kSingle = ParameterKind::kSingle;
  return {{"drawn, projected", [] { return GlmWorld(kSingle, UserContexts::kSphere); }},
          {"drawn with a margin", [] { return GlmWorld(kSingle, UserContexts::kMargin); }},
          {"drawn, a theta for each arm",
           [] { return GlmWorld(ParameterKind::kMulti, UserContexts::kGaussian); }},
          {"log", [] { return LogWorld(false); }},
          {"log with a held-out part", [] { return LogWorld(true); }},
          {"lending", LendingWorld}};
}

std::vector<std::pair<std::string, Federation>> Learners(const Facts& facts) {
  const Privacy local{.model = TrustModel::kLocal, .epsilon = 3, .delta = 0.01, .sampler = Sampler::kFast};
  const Privacy none{.model = TrustModel::kNone, .none_because = "a test"};
  return {{"ldp-sgd", CreateLdpSgd({}, local, facts).value()},
          {"ldp-ols", CreateLdpOls({}, local, facts).value()},
          {"ldp-ucb", CreateLdpUcb({}, local, facts).value()},
          {"ldp-gloc", CreateLdpGloc({}, local, facts).value()},
          {"thompson-sampling", CreateThompsonSampling({}, none, facts).value()},
          {"lin-ucb", CreateContextLinUcb({}, none, facts).value()}};
}

void ExpectSameBits(double a, double b, const std::string& what) {
  EXPECT_TRUE(std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b))
      << what << ": " << a << " and " << b;
}

void ExpectSame(const Outcome& fast, const Outcome& plain) {
  EXPECT_EQ(fast.decisions, plain.decisions);
  ASSERT_EQ(fast.checkpoints.size(), plain.checkpoints.size());
  for (std::size_t i = 0; i < fast.checkpoints.size(); ++i) {
    const Checkpoint& a = fast.checkpoints[i];
    const Checkpoint& b = plain.checkpoints[i];
    EXPECT_EQ(a.t, b.t);
    EXPECT_EQ(a.rounds, b.rounds);
    EXPECT_EQ(a.reals, b.reals);
    ExpectSameBits(a.regret, b.regret, "regret");
    ExpectSameBits(a.best_action_rate, b.best_action_rate, "best_action_rate");
    ASSERT_EQ(a.series.size(), b.series.size());
    for (const auto& [name, value] : a.series) ExpectSameBits(value, b.series.at(name), name);
  }
}

TEST(UserPairsTest, APairOfItsOwnPlaysAsTheAbstractClassesDo) {
  const SimulateOptions options{.seed = kSeed, .checkpoints = {10, 200, 500, kHorizon}, .decisions = true};
  for (const auto& [world_name, make] : Worlds()) {
    for (const auto& [name, federation] : Learners(make()->facts())) {
      SCOPED_TRACE(name + " in " + world_name);
      const auto world = make();
      OpaqueWorld opaque(make());
      const auto fast = SimulateUsers(federation, *world, options);
      const auto plain = SimulateUsers(federation, opaque, options);
      ASSERT_TRUE(fast.ok()) << fast.status();
      ASSERT_TRUE(plain.ok()) << plain.status();
      ExpectSame(*fast, *plain);
    }
  }
}

TEST(UserPairsTest, EveryPairThatShipsHasARunOfItsOwn) {
  const auto is_abstract = [](const UserRun& run) {
    return typeid(run) == typeid(UserSimulator<UserLearner, UserWorld>);
  };
  for (const auto& [world_name, make] : Worlds()) {
    for (const auto& [name, federation] : Learners(make()->facts())) {
      SCOPED_TRACE(name + " in " + world_name);
      const auto learner = std::get<UserRoles>(federation.roles).learner();
      const auto world = make();
      EXPECT_FALSE(is_abstract(*MakeUserRun({}, *learner, *world)));
      if (const auto cheaper = world->ScoresOnly(); cheaper != nullptr && !learner->looks_at_contexts()) {
        EXPECT_FALSE(is_abstract(*MakeUserRun({}, *learner, *cheaper)));
      }
      OpaqueWorld opaque(make());
      EXPECT_TRUE(is_abstract(*MakeUserRun({}, *learner, opaque)));
    }
  }
}

}  // namespace
}  // namespace bandana::sim
