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

/// How the pulls of a phase are distributed over clients.
enum class Sampling {
  kWatch,  ///< each client sees every pull and answers every coordinate (P1)
  kDeal,   ///< each client sees one pull and answers one coordinate (PE, P2)
};

/// The content of a client's report about a phase that it has watched.
enum class ClientReport {
  kAverages,  ///< its average reward of each action that was played (P1, Algorithm 1)
  kEstimate,  ///< its own least squares estimate (P1, Section VIII): as many numbers as the actions' rank
};

/// The laws of the errors in a phase's averages, given the design and the past. All of this is public. A
/// coordinate is an action x of the support. Its average over its clients is the sum of the mean reward, the
/// reward noise, <mean xi, x>, the privacy noise and the effect of clipping, where xi is the difference
/// between a client's own parameter and theta.
struct PhaseErrors {
  Sampling sampling = Sampling::kWatch;
  std::vector<Count> clients;     ///< how many clients answer each coordinate; all equal under kWatch
  std::vector<NoiseLaw> privacy;  ///< the privacy noise in each number of the release; empty: no noise
  ClipRule rule;                  ///< also has the rewards' proxy and the clients' spread
  double misspecification = 0;    ///< a bound on |mean reward of x - <theta, x>| for every active x
  std::vector<Interval> bounds;   ///< the intervals to which averages are clipped; empty: those of `rule`
  std::vector<Interval> means;    ///< where each mean reward is known to lie; empty: [-1, 1]
  ClientReport report = ClientReport::kAverages;

  /// Saves the fields that change from phase to phase. The others follow from the rules of the run.
  template <class Archive>
  void State(Archive& a) {
    a(clients, privacy, bounds, means);
  }
};

/// Returns the laws of the privacy noise that a release for this query will have, before there is one.
using NoiseForecast = std::function<absl::StatusOr<std::vector<NoiseLaw>>(const MeanQuery&)>;

}  // namespace bandana
