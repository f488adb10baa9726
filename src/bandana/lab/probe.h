#pragma once

#include <optional>

#include "bandana/algorithms/fed_ucb_width.h"
#include "bandana/core/ids.h"

/// Two neighbouring streams that P3's trigger tells apart (RoundLaw::kProbe): agent 1's record of the first
/// round is at e_1 in world a and at 0 in world b, its later ones are at s e_1.
///
/// Until the first synchronisation S = shift I and V = S + q e_1 e_1', where q is the sum of the squares of
/// what agent 1 has recorded. With base = shift + rho_max - rho_min line 12 of Algorithm 1 asks in round t
/// for
///   t (d ln(base/shift) + ln(1 + q/base)) >= D,  or  q >= q*(t) = base (exp(D/t - d ln(base/shift)) - 1),
/// which falls in t, while q grows: no noise is in it. After round t
///   q = 1 + (t - 1) s^2 in world a,  q = (t - 1) s^2 in world b,
/// and with (t - 1) s^2 = q*(t) - 1/2 agents synchronise after round t at the latest in world a, and later in
/// world b.
namespace bandana::lab {

struct Probe {
  double level;  ///< s
  Count round;   ///< t
};

/// With the least t for which 0 <= s <= 1, so that the rounds before it are of use; none if that is not
/// before the horizon.
std::optional<Probe> MakeProbe(double threshold, const Regularizer& start, Count dimension, Count horizon);

}  // namespace bandana::lab
