#pragma once

#include <functional>
#include <string>

#include "bandana/lab/exhibits/comparisons.h"

/// P2's four algorithms as its exhibits compare them: by epsilon, and with the non-private regret.
namespace bandana::lab::p2 {

struct Curve {
  const char* name;
  const char* model;
  const char* shuffle;  ///< privacy.shuffle, or null if the model has no such option
};
inline constexpr Curve kCentral{"Algorithm 1", "central", nullptr};
inline constexpr Curve kLocal{"Algorithm 2", "local", nullptr};
inline constexpr Curve kAmplified{"Algorithm 3", "shuffle", "amplified"};
inline constexpr Curve kSum{"Algorithm 4", "shuffle", "sum"};

/// Whether a claim is expected to hold, and the reason if it is not.
struct Known {
  bool expected = true;
  std::string reason;
};

/// Claims that at the largest epsilon the curve is within 10 % of the non-private regret.
PaperClaim Converges(const Curve& curve, const std::string& paper, const Known& known = {});

/// Claims that at every epsilon >= `lowest` the curve is within a factor of 2 of the non-private regret.
PaperClaim FollowsNonPrivate(const Curve& curve, double lowest, const std::string& paper,
                             const Known& known = {});

/// Holds if a is clearly below b at every epsilon <= 1. At larger epsilons all algorithms are about as good
/// as the non-private one, so there is little to compare.
Finding BelowAtSmallEpsilon(const Named& a, const Named& b);

using Comparison = std::function<Finding(const Named&, const Named&)>;
PaperClaim Compared(const std::string& claim, const Curve& a, const Curve& b, const Comparison& compare,
                    const std::string& paper, const Known& known = {});

}  // namespace bandana::lab::p2
