#include "bandana/bandit/worlds/round_contexts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "bandana/bandit/context_coordinates.h"
#include "bandana/bandit/context_law.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

RoundContexts Contexts(RoundContextsParams params) {
  if (params.contexts == RoundLaw::kGap) params.reward = RewardKind::kBernoulli;
  auto contexts = RoundContexts::Create(params);
  EXPECT_TRUE(contexts.ok()) << contexts.status();
  return *std::move(contexts);
}

DecisionBlock<double> Drawn(const RoundContexts& contexts, Count rounds, Count first = 1,
                            NodeId agent = {1}) {
  DecisionBlock<double> block(rounds, contexts.params().actions, contexts.params().dimension);
  contexts.Draw(agent, first, block);
  return block;
}

template <class Scalar>
Vector Arm(const DecisionSet<Scalar>& set, ArmId arm) {
  Vector x(set.dimension);
  for (Eigen::Index j = 0; j < set.dimension; ++j) x[j] = set.at(arm, j);
  return x;
}

/// Returns the direction of an arm's part that is orthogonal to theta.
Vector Across(const RoundContexts& contexts, const DecisionSet<double>& set, ArmId arm) {
  const Vector t = contexts.theta().normalized();
  const Vector x = Arm(set, arm);
  return (x - x.dot(t) * t).normalized();
}

/// Returns the distribution function of one coordinate of a uniform point of the unit sphere in R^d.
auto CoordinateCdf(Count dimension) {
  return [dimension](double t) { return 1 - SphereCoordinateTail(dimension, t); };
}

TEST(RoundContextsTest, RejectsBadParametersByName) {
  const auto key = [](const RoundContextsParams& params) {
    const auto contexts = RoundContexts::Create(params);
    const auto error = InputErrorOf(contexts.status());
    return error.has_value() ? error->key : "";
  };
  const RoundContextsParams good{
      .contexts = RoundLaw::kGap, .dimension = 5, .actions = 4, .reward = RewardKind::kBernoulli};
  EXPECT_EQ(key(good), "");
  const auto with = [](RoundContextsParams params, const auto& change) {
    change(params);
    return params;
  };
  for (const Count bad : {-1, 0, 1}) {
    EXPECT_EQ(key(with(good, [=](auto& p) { p.dimension = bad; })), "dimension");
    EXPECT_EQ(key(with(good, [=](auto& p) { p.actions = bad; })), "actions");
  }
  for (const double bad : {-0.01, 0.31, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(key(with(good, [=](auto& p) { p.gap = bad; })), "gap");
  }
  EXPECT_EQ(key(with(good, [](auto& p) { p.gap = 0.3; })), "");
  for (const RewardKind bad : {RewardKind::kGaussian, RewardKind::kRademacher}) {
    EXPECT_EQ(key(with(good, [=](auto& p) { p.reward = bad; })), "reward");
  }
  const RoundContextsParams sphere{.dimension = 1, .actions = 1};
  EXPECT_EQ(key(sphere), "");
  EXPECT_EQ(key(with(sphere, [](auto& p) { p.reward = RewardKind::kBernoulli; })), "reward");
  for (const double bad : {0.0, -1.0, 1.01, kNan}) {
    EXPECT_EQ(key(with(sphere, [=](auto& p) { p.theta_norm = bad; })), "theta_norm");
  }
}

TEST(RoundContextsTest, ProbesNeedALevel) {
  RoundContextsParams params{.contexts = RoundLaw::kProbe, .dimension = 2, .actions = 2};
  const auto key = [&] { return InputErrorOf(RoundContexts::Create(params).status())->key; };
  EXPECT_EQ(key(), "contexts");
  for (const double bad : {-0.1, 1.1, kNan}) {
    params.probe_level = bad;
    EXPECT_EQ(key(), "probe_level");
  }
  params.probe_level = 0.5;
  EXPECT_TRUE(RoundContexts::Create(params).ok());
}

TEST(RoundContextsTest, ThetasNormIsUniformOnItsInterval) {
  for (const double gap : {0.0, 0.05, 0.2}) {
    const double least = std::max(0.8, 0.7 + gap);
    std::vector<double> norms;
    for (std::uint32_t replicate = 0; replicate < 2000; ++replicate) {
      norms.push_back(
          Contexts(
              {.contexts = RoundLaw::kGap, .dimension = 3, .actions = 2, .gap = gap, .replicate = replicate})
              .theta()
              .norm());
    }
    EXPECT_TRUE(
        test::FitsCdf(norms, [&](double x) { return std::clamp((x - least) / (1 - least), 0.0, 1.0); }));
  }
  EXPECT_NEAR(Contexts({.contexts = RoundLaw::kGap, .dimension = 3, .actions = 2, .gap = 0.3}).theta().norm(),
              1, 1e-15);
  EXPECT_NEAR(Contexts({.dimension = 4, .actions = 2, .theta_norm = 0.5}).theta().norm(), 0.5, 1e-15);
}

TEST(RoundContextsTest, UnitVectorsWithTheMeansTheySay) {
  for (const RoundLaw law : {RoundLaw::kGap, RoundLaw::kSphere}) {
    for (Count d = law == RoundLaw::kGap ? 2 : 1; d <= 25; ++d) {
      for (const Count arms : {2, 7, 8, 9, 16, 17, 23, 40}) {
        const RoundContexts contexts =
            Contexts({.contexts = law, .dimension = d, .actions = arms, .gap = 0.25, .seed = 5});
        const DecisionBlock<double> block = Drawn(contexts, 3);
        DecisionBlock<float> rounded(3, arms, d);
        contexts.Draw({1}, 1, rounded);
        for (Count round = 0; round < 3; ++round) {
          double best = -1;
          for (ArmId arm = 0; arm < arms; ++arm) {
            const Vector x = Arm(block.set(round), arm);
            EXPECT_LE(x.norm(), 1);
            EXPECT_NEAR(x.norm(), 1, 1e-13);
            EXPECT_NEAR(x.dot(contexts.theta()), block.means(round)[arm], 1e-13);
            best = std::max(best, block.means(round)[arm]);
            const Vector y = Arm(rounded.set(round), arm);
            EXPECT_LE(y.norm(), 1);
            for (Eigen::Index j = 0; j < d; ++j) EXPECT_NEAR(x[j], y[j], 0x1p-22 * std::abs(x[j]) + 1e-300);
            EXPECT_EQ(block.means(round)[arm], rounded.means(round)[arm]);
          }
          EXPECT_EQ(block.best_mean(round), best);
          EXPECT_EQ(block.uniform(round), rounded.uniform(round));
          for (Eigen::Index j = 0; j < d; ++j) {
            for (auto pad = static_cast<ArmId>(arms); pad < block.stride(); ++pad) {
              EXPECT_EQ(block.set(round).at(pad, j), 0);
            }
            for (auto pad = static_cast<ArmId>(arms); pad < rounded.stride(); ++pad) {
              EXPECT_EQ(rounded.set(round).at(pad, j), 0);
            }
          }
        }
      }
    }
  }
}

TEST(RoundContextsTest, AnyBlockingGivesTheSameRounds) {
  const RoundContexts contexts = Contexts(
      {.contexts = RoundLaw::kGap, .dimension = 6, .actions = 11, .gap = 0.1, .seed = 3, .replicate = 2});
  constexpr Count kRounds = 24;
  const DecisionBlock<double> whole = Drawn(contexts, kRounds, 100, {7});
  DecisionBlock<double> part(5, 11, 6);
  for (Count at = 0; at < kRounds;) {
    const Count rounds = std::min<Count>(1 + at % 5, kRounds - at);
    part.SetRounds(rounds);
    contexts.Draw({7}, 100 + at, part);
    for (Count i = 0; i < rounds; ++i, ++at) {
      const std::size_t entries = 6 * whole.stride();
      EXPECT_TRUE(std::equal(whole.set(at).entries, whole.set(at).entries + entries, part.set(i).entries));
      EXPECT_TRUE(std::ranges::equal(whole.means(at), part.means(i)));
      EXPECT_EQ(whole.best_mean(at), part.best_mean(i));
      EXPECT_EQ(whole.uniform(at), part.uniform(i));
    }
  }
}

TEST(RoundContextsTest, RoundsAgentsReplicatesAndSeedsDiffer) {
  const RoundContextsParams params{.dimension = 4, .actions = 3, .seed = 1};
  std::set<double> entries, uniforms;
  const auto take = [&](const DecisionBlock<double>& block) {
    for (Count round = 0; round < block.rounds(); ++round) {
      for (ArmId arm = 0; arm < 3; ++arm) entries.insert(block.set(round).at(arm, 0));
      uniforms.insert(block.uniform(round));
    }
  };
  for (const NodeId agent : {NodeId{0}, NodeId{1}, NodeId{2}}) take(Drawn(Contexts(params), 10, 1, agent));
  auto other = params;
  other.replicate = 1;
  take(Drawn(Contexts(other), 10));
  other = params;
  other.seed = 2;
  take(Drawn(Contexts(other), 10));
  EXPECT_EQ(entries.size(), 5 * 10 * 3);
  EXPECT_EQ(uniforms.size(), 5 * 10);
}

// Each comparison of the statistical tests below has a false-alarm rate of 1e-6, and there are fewer than
// 100. Seeds are fixed.

TEST(RoundContextsTest, OneArmStandsOut) {
  constexpr Count kArms = 9, kRounds = 4000;
  for (const double gap : {0.0, 0.25}) {
    const DecisionBlock<double> block =
        Drawn(Contexts({.contexts = RoundLaw::kGap, .dimension = 3, .actions = kArms, .gap = gap, .seed = 8}),
              kRounds);
    std::vector<double> places(kArms), others, best, uniforms;
    for (Count round = 0; round < kRounds; ++round) {
      const auto means = block.means(round);
      const auto largest = std::max_element(means.begin(), means.end()) - means.begin();
      ++places[largest];
      for (Count arm = 0; arm < kArms; ++arm) (arm == largest ? best : others).push_back(means[arm]);
      uniforms.push_back(block.uniform(round));
      EXPECT_EQ(block.Gap(round, static_cast<ArmId>(largest)), 0);
    }
    EXPECT_TRUE(test::FitsCounts(places, std::vector<double>(kArms, double{kRounds} / kArms)));
    const auto uniform = [](double low, double width) {
      return [=](double x) { return std::clamp((x - low) / width, 0.0, 1.0); };
    };
    EXPECT_TRUE(test::FitsCdf(others, uniform(0.5, 0.1)));
    EXPECT_TRUE(test::FitsCdf(best, uniform(0.6 + gap, 0.1)));
    EXPECT_FALSE(test::FitsCdf(best, uniform(0.6 + gap, 0.11)));
    EXPECT_TRUE(test::FitsCdf(uniforms, uniform(0, 1)));
  }
}

TEST(RoundContextsTest, DirectionsAcrossThetaAreUniform) {
  for (const Count d : {3, 4, 10, 11}) {
    SCOPED_TRACE(d);
    const RoundContexts contexts =
        Contexts({.contexts = RoundLaw::kGap, .dimension = d, .actions = 21, .gap = 0.1, .seed = 9});
    constexpr Count kRounds = 150;
    const DecisionBlock<double> block = Drawn(contexts, kRounds);
    const Vector t = contexts.theta().normalized();
    for (Eigen::Index j = 0; j < d; ++j) {
      const Vector axis = (Vector::Unit(d, j) - t[j] * t).normalized();
      std::vector<double> low, high;
      for (Count round = 0; round < kRounds; ++round) {
        for (ArmId arm = 0; arm < 21; ++arm) {
          const double seen = Across(contexts, block.set(round), arm).dot(axis);
          (block.means(round)[arm] < 0.55 ? low : high).push_back(seen);
        }
      }
      EXPECT_TRUE(test::SameLaw(low, high)) << "direction and mean are dependent";
      low.insert(low.end(), high.begin(), high.end());
      EXPECT_TRUE(test::FitsCdf(low, CoordinateCdf(d - 1))) << j;
      if (d <= 4) {
        EXPECT_FALSE(test::FitsCdf(low, CoordinateCdf(d))) << j;
      }
    }
  }
}

// The inner product of two independent uniform directions has the law of a coordinate of one of them.
TEST(RoundContextsTest, ArmsRoundsAndAgentsAreIndependent) {
  constexpr Count kDimension = 5, kArms = 19, kRounds = 200;
  for (const RoundLaw law : {RoundLaw::kGap, RoundLaw::kSphere}) {
    const RoundContexts contexts =
        Contexts({.contexts = law, .dimension = kDimension, .actions = kArms, .gap = 0.1, .seed = 10});
    const DecisionBlock<double> block = Drawn(contexts, kRounds);
    const DecisionBlock<double> neighbour = Drawn(contexts, kRounds, 1, {2});
    const auto direction = [&](const DecisionBlock<double>& from, Count round, ArmId arm) {
      return law == RoundLaw::kGap ? Across(contexts, from.set(round), arm) : Arm(from.set(round), arm);
    };
    std::vector<double> next_arm, far_arm, next_round, other_agent;
    for (Count round = 0; round + 1 < kRounds; ++round) {
      for (ArmId arm = 0; arm + 8 < kArms; ++arm) {
        const Vector x = direction(block, round, arm);
        next_arm.push_back(x.dot(direction(block, round, arm + 1)));
        far_arm.push_back(x.dot(direction(block, round, arm + 8)));
        next_round.push_back(x.dot(direction(block, round + 1, arm)));
        other_agent.push_back(x.dot(direction(neighbour, round, arm)));
      }
    }
    const auto cdf = CoordinateCdf(law == RoundLaw::kGap ? kDimension - 1 : kDimension);
    for (const auto* sample : {&next_arm, &far_arm, &next_round, &other_agent}) {
      EXPECT_TRUE(test::FitsCdf(*sample, cdf));
    }
  }
}

// Any two coordinates of a uniform point of the sphere have a uniform angle, whether or not one Box-Muller
// step drew them together.
TEST(RoundContextsTest, SphereHasUniformAngles) {
  constexpr Count kRounds = 400, kArms = 13;
  for (const Count d : {2, 3, 5, 6}) {
    const RoundContexts contexts = Contexts({.dimension = d, .actions = kArms, .seed = 11});
    const DecisionBlock<double> block = Drawn(contexts, kRounds);
    for (Eigen::Index j = 0; j < d; ++j) {
      for (Eigen::Index k = j + 1; k < d; ++k) {
        std::vector<double> angles;
        for (Count round = 0; round < kRounds; ++round) {
          for (ArmId arm = 0; arm < kArms; ++arm) {
            angles.push_back(std::atan2(block.set(round).at(arm, k), block.set(round).at(arm, j)));
          }
        }
        EXPECT_TRUE(test::FitsCdf(angles, [](double x) { return 0.5 + x / (2 * std::numbers::pi); }));
      }
    }
  }
}

TEST(RoundContextsTest, RewardsHaveTheirMeans) {
  constexpr Count kRounds = 20'000;
  for (const RoundLaw law : {RoundLaw::kGap, RoundLaw::kSphere}) {
    const RoundContexts contexts =
        Contexts({.contexts = law, .dimension = 2, .actions = 3, .gap = 0.2, .seed = 12});
    const RewardKind kind = contexts.params().reward;
    const DecisionBlock<double> block = Drawn(contexts, kRounds);
    double excess = 0, variance = 0;
    for (Count round = 0; round < kRounds; ++round) {
      const double mean = block.means(round)[1];
      const double reward = contexts.Reward(block, round, 1);
      EXPECT_TRUE(reward == 1 || reward == (kind == RewardKind::kBernoulli ? 0 : -1));
      EXPECT_EQ(reward, contexts.Reward(block, round, 1));
      excess += reward - mean;
      variance += kind == RewardKind::kBernoulli ? mean * (1 - mean) : 1 - mean * mean;
    }
    EXPECT_LE(std::abs(excess), 4.9 * std::sqrt(variance));  // false-alarm rate 1e-6
  }
}

}  // namespace
}  // namespace bandana
