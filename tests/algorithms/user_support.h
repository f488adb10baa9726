#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bandana/algorithms/users/ldp_gloc.h"
#include "bandana/algorithms/users/ldp_ols.h"
#include "bandana/algorithms/users/ldp_sgd.h"
#include "bandana/algorithms/users/ldp_ucb.h"
#include "bandana/algorithms/users/thompson_sampling.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/bandit/worlds/user_rounds.h"
#include "bandana/sim/user_simulator.h"
#include "tests/federation/hand_user.h"

/// Helpers for the tests of P5's learners: small environments, and learners with and without privacy.
namespace bandana::test {

/// A world whose rounds are written down: contexts and rewards of all arms.
class WrittenRounds final : public UserWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  struct Round {
    ActionMatrix contexts;
    std::vector<double> rewards;
  };
  WrittenRounds(std::vector<Round> rounds, bool multi) : rounds_(std::move(rounds)), multi_(multi) {}

  bool Next() override { return ++at_ < static_cast<int>(rounds_.size()); }
  std::span<const double> Context(ArmId arm) override {
    const ActionMatrix& contexts = Contexts();
    return {contexts.data() + (multi_ ? 0 : arm) * contexts.cols(),
            static_cast<std::size_t>(contexts.cols())};
  }
  const ActionMatrix& Contexts() override { return rounds_[static_cast<std::size_t>(at_)].contexts; }
  std::optional<double> Reward(ArmId arm) override {
    return rounds_[static_cast<std::size_t>(at_)].rewards[static_cast<std::size_t>(arm)];
  }
  double Gap(ArmId) const override { return 0; }

 private:
  std::vector<Round> rounds_;
  bool multi_;
  int at_ = -1;
};

/// Returns random rounds with rewards in [-1, 1].
inline std::vector<WrittenRounds::Round> RandomRounds(Count rounds, Count arms, Count dimension, bool multi,
                                                      CoinGen& coin) {
  std::vector<WrittenRounds::Round> written;
  for (Count t = 0; t < rounds; ++t) {
    ActionMatrix contexts(multi ? 1 : arms, dimension);
    for (Eigen::Index i = 0; i < contexts.size(); ++i) contexts.data()[i] = StandardNormal(coin);
    contexts.rowwise().normalize();
    contexts *= 1 - 0x1p-50;
    std::vector<double> rewards;
    for (Count a = 0; a < arms; ++a) rewards.push_back(2 * UniformUnit(coin) - 1);
    written.push_back({std::move(contexts), std::move(rewards)});
  }
  return written;
}

inline Declassify InATest() { return Declassify("a test"); }

struct LocalWorld {
  Count dimension = 2;
  Count slots = 1;
  Interval rewards{-1, 1};
  std::optional<double> epsilon;  ///< no privacy if empty
};

inline LocalGradient Gradient(const LocalWorld& world,
                              L2BallRandomizer randomizer = L2BallRandomizer::kPrivUnit,
                              Sampler sampler = Sampler::kFast) {
  const LocalGradientParams params{.epsilon = world.epsilon.value_or(1),
                                   .randomizer = randomizer,
                                   .sampler = sampler,
                                   .calibration = Calibration::kTight,
                                   .dimension = world.dimension,
                                   .slots = world.slots,
                                   .slot_budget = SlotBudget::kFull,
                                   .context_norm = 1,
                                   .rewards = world.rewards,
                                   .means = {-1, 1},
                                   .out_of_range = OutOfRange::kClip,
                                   .lift = true};
  return world.epsilon.has_value() ? LocalGradient::Create(params).value()
                                   : LocalGradient::CreateBare(params.space(), InATest()).value();
}

inline LocalRegression Regression(const LocalWorld& world, std::vector<double> bounds = {1},
                                  Sampler sampler = Sampler::kFast) {
  const LocalRegressionParams params{.nominal = {world.epsilon.value_or(1), 0.01},
                                     .calibration = Calibration::kTight,
                                     .sampler = sampler,
                                     .dimension = world.dimension,
                                     .slots = world.slots,
                                     .slot_budget = SlotBudget::kFull,
                                     .context_norm = 1,
                                     .rewards = world.rewards,
                                     .side_bounds = bounds,
                                     .side_weights = std::vector<double>(bounds.size(), 1),
                                     .out_of_range = OutOfRange::kClip};
  return world.epsilon.has_value() ? LocalRegression::Create(params).value()
                                   : LocalRegression::CreateBare(params.space(), InATest()).value();
}

inline RegressionReporter Reporter(const LocalWorld& world, Sampler sampler = Sampler::kFast) {
  return {Regression(world, {1}, sampler), 0};
}

inline std::shared_ptr<const GlmProblem> Problem(Count dimension, Count arms, bool multi = false,
                                                 std::uint64_t seed = 5) {
  GlmProblemParams params{.dimension = dimension, .arms = arms};
  params.parameters = multi ? ParameterKind::kMulti : ParameterKind::kSingle;
  params.reward = {.kind = RewardKind::kUniform};
  return std::make_shared<const GlmProblem>(GlmProblem::Draw(params, seed, 0).value());
}

/// One round of a world that has moved to it: the user chooses, reports, and the server learns. Returns the
/// arm.
template <class Learner>
ArmId PlayRound(Learner& learner, UserWorld& world, UserContext& user, typename Learner::Device& device) {
  const ArmId arm = learner.Choose(world, user.coin(), device);
  const Raw record(LocalRecord{world.Context(arm), *world.Reward(arm), arm});
  const Count users = learner.Report(user, arm, record, device).value();
  if (users > 0) learner.Learn(device.message, users);
  return arm;
}

/// Regret of a learner after so many rounds.
template <class Learner, class World>
double RegretOf(Learner& learner, World world, Count rounds, std::uint64_t seed = 3) {
  RoundRecorder recorder(1, {rounds});
  sim::UserSimulator<Learner, World> simulator({.seed = seed}, learner, world);
  EXPECT_TRUE(simulator.Run(rounds, recorder).ok());
  return recorder.Checkpoints().back().regret;
}

}  // namespace bandana::test
