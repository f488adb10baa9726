#pragma once

#include <functional>
#include <string>

#include "bandana/lab/exhibits/comparisons.h"

/// P2's four algorithms as its exhibits compare them: along epsilon, beside the non-private regret.
namespace bandana::lab::p2 {

struct Curve {
  const char* name;
  const char* model;
  const char* shuffle;  ///< or nothing
};
inline constexpr Curve kCentral{"Algorithm 1", "central", nullptr};
inline constexpr Curve kLocal{"Algorithm 2", "local", nullptr};
inline constexpr Curve kAmplified{"Algorithm 3", "shuffle", "amplified"};
inline constexpr Curve kSum{"Algorithm 4", "shuffle", "sum"};

/// What is known of a claim beforehand; a reason where it is not expected to hold.
struct Known {
  bool expected = true;
  std::string reason;
};

/// At the largest epsilon the curve is within 10 % of the non-private regret.
PaperClaim Converges(const Curve& curve, const std::string& paper, const Known& known = {});

/// At every epsilon from `lowest` it is within a factor of 2 of the non-private regret.
PaperClaim FollowsNonPrivate(const Curve& curve, double lowest, const std::string& paper,
                             const Known& known = {});

/// Below, where there is room for it: at large epsilon all of them are as good as non-private.
Finding BelowAtSmallEpsilon(const Named& a, const Named& b);

using Comparison = std::function<Finding(const Named&, const Named&)>;
PaperClaim Compared(const std::string& claim, const Curve& a, const Curve& b, const Comparison& compare,
                    const std::string& paper, const Known& known = {});

}  // namespace bandana::lab::p2
