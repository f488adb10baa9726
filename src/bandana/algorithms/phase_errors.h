#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/clipping.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/noise_law.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// How a phase's pulls fall on clients.
enum class Sampling {
  kWatch,  ///< each client sees every pull and answers every coordinate (P1)
  kDeal,   ///< each client sees one pull and answers one coordinate (PE, P2)
};

/// What a client sends of a phase that it has watched.
enum class ClientReport {
  kAverages,  ///< of each action that was played (P1, Algorithm 1)
  kEstimate,  ///< its own least squares estimate (P1, Section VIII): as many numbers as the actions' rank
};

/// The error of a phase's averages, given the design and the past: all public. A coordinate's average over
/// its clients is its mean reward + reward noise + <mean xi, x> + privacy noise + clipping.
struct PhaseErrors {
  Sampling sampling = Sampling::kWatch;
  std::vector<Count> clients;     ///< of each coordinate; under kWatch the same for all
  std::vector<NoiseLaw> privacy;  ///< of each number of the release; empty: none
  ClipRule rule;                  ///< and with it the reward's proxy and the clients' spread
  double misspecification = 0;    ///< |mean reward of x - <theta, x>| <= it for every active x
  std::vector<Interval> bounds;   ///< that averages are clipped to; empty: the rule's
  std::vector<Interval> means;    ///< where each mean reward is known to lie; empty: [-1, 1]
  ClientReport report = ClientReport::kAverages;

  /// Of what a phase makes of them; the rest are rules.
  template <class Archive>
  void State(Archive& a) {
    a(clients, privacy, bounds, means);
  }
};

/// What a release to this query will have for noise, as far as it is known before: laws of its averages.
using NoiseForecast = std::function<absl::StatusOr<std::vector<NoiseLaw>>(const MeanQuery&)>;

}  // namespace bandana
