#pragma once

#include <optional>

#include "tests/algorithms/elimination_cases.h"
#include "tests/algorithms/elimination_support.h"

/// Small problems for DP-DPE.
namespace bandana {

using test::ActionsOf;
using test::Bare;
using test::DrawnProblem;
using test::Shared;

inline constexpr DpGuarantee kPlenty{1e30, 1};

inline DpDpeCase Params(Count horizon, double alpha = 0.8) {
  return {.horizon = horizon,
          .alpha = alpha,
          .beta = std::nullopt,
          .population = 100'000,
          .clip = {.reward = {RewardKind::kGaussian, 0.5}, .client_sd = 0.05, .fixed_bound = std::nullopt}};
}

}  // namespace bandana
