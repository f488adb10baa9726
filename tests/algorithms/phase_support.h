#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "bandana/algorithms/elimination/phase_regression.h"
#include "bandana/core/distributions.h"
#include "tests/support.h"

/// Phases of tests, with their designs and errors.
namespace bandana {

inline Matrix Normal(Eigen::Index rows, Eigen::Index cols, CoinGen& coin) {
  return Matrix::NullaryExpr(rows, cols, [&] { return StandardNormal(coin); });
}

// Draws k actions on the unit sphere of a `rank`-dimensional subspace of d dimensions.
inline ActionMatrix Actions(Eigen::Index k, Eigen::Index d, Eigen::Index rank, CoinGen& coin) {
  ActionMatrix actions = Normal(k, rank, coin) * Normal(rank, d, coin);
  actions.rowwise().normalize();
  return actions;
}

// A phase with its design; it owns the data to which PhaseRegression refers.
struct Phase {
  Phase(ActionMatrix all, std::vector<ArmId> chosen, double rounds)
      : actions(std::move(all)), active(std::move(chosen)) {
    auto made = NearOptimalDesign(actions, active);
    EXPECT_TRUE(made.ok()) << made.status();
    design = *std::move(made);
    for (std::size_t i = 0; i < design.support.size(); ++i) {
      pulls.push_back({design.support[i], static_cast<Count>(std::ceil(rounds * design.weights[i]))});
    }
  }

  std::vector<double> AveragesOf(const Vector& theta) const {
    std::vector<double> averages;
    for (const Pull& pull : pulls) averages.push_back(actions.row(pull.arm).dot(theta));
    return averages;
  }

  PhaseRegression Regression() const { return PhaseRegression(actions, design, pulls); }

  ActionMatrix actions;
  std::vector<ArmId> active;
  Design design;
  std::vector<Pull> pulls;
};

inline std::vector<ArmId> All(Eigen::Index k) {
  std::vector<ArmId> arms(static_cast<std::size_t>(k));
  std::iota(arms.begin(), arms.end(), 0);
  return arms;
}

inline Phase SomePhase(Eigen::Index k, Eigen::Index d, Eigen::Index rank, double rounds, std::uint64_t seed) {
  test::Coins coins(seed);
  return Phase(Actions(k, d, rank, coins.gen), All(k), rounds);
}

inline Vector SomeTheta(Eigen::Index d, std::uint64_t seed) {
  test::Coins coins(seed);
  return Normal(d, 1, coins.gen).normalized();
}

// Errors of a phase whose Gaussian rewards are clipped, or whose Rademacher rewards are not.
inline PhaseErrors SomeErrors(const Phase& phase, bool clipped, double scale = 1) {
  PhaseErrors errors{.clients = std::vector<Count>(phase.pulls.size(), 60),
                     .privacy = std::vector<NoiseLaw>(phase.pulls.size(), {.proxy = 0.02 * scale})};
  for (std::size_t i = 0; i < errors.privacy.size(); i += 2) errors.privacy[i].proxy *= 1.5;
  errors.rule.reward = {clipped ? RewardKind::kGaussian : RewardKind::kRademacher, 0.9 * scale};
  errors.rule.client_sd = 0.3 * scale;
  return errors;
}

inline PhaseErrors Dealt(const Phase& phase, PhaseErrors errors) {
  errors.sampling = Sampling::kDeal;
  for (std::size_t i = 0; i < phase.pulls.size(); ++i) errors.clients[i] = phase.pulls[i].count;
  return errors;
}

}  // namespace bandana
