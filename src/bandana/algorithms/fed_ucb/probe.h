#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"
#include "bandana/core/ids.h"

/// Two neighbouring streams that P3's trigger tells apart (RoundLaw::kProbe). Agent 1's record of the first
/// round is at e_1 in world a and at 0 in world b; its later records are at s e_1.
///
/// Until the first sync S = shift I and V = S + q e_1 e_1', where q is the sum of the squares of what agent 1
/// has recorded. With base = shift + rho_max - rho_min, line 12 of Algorithm 1 asks in round t for
///   t (d ln(base/shift) + ln(1 + q/base)) >= D,  or  q >= q*(t) = base (exp(D/t - d ln(base/shift)) - 1),
/// which falls in t, while q grows. There is no noise in it. After round t
///   q = 1 + (t - 1) s^2 in world a,  q = (t - 1) s^2 in world b.
/// With (t - 1) s^2 = q*(t) - 1/2, agents synchronise after round t at the latest in world a, and later in
/// world b.
namespace bandana {

struct Probe {
  double level;  ///< s
  Count round;   ///< t
};

/// Returns the probe with the smallest t for which 0 <= s <= 1, so that the rounds before it are of use.
/// Returns nothing if this t is not before the horizon.
std::optional<Probe> MakeProbe(double threshold, const Regularizer& start, Count dimension, Count horizon);

/// Returns s for fed-ucb with these parameters: RoundContextsParams::probe_level. `facts` are those of the
/// world to be made, RoundContexts::FactsOf. Under a public schedule any stream will do, and s is 1 if there
/// is no probe; with the trigger that is an error.
absl::StatusOr<double> FedUcbProbeLevel(const FedUcbParams& params, const Privacy& privacy,
                                        const Facts& facts);

}  // namespace bandana
