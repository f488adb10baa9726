#pragma once

#include <cstdint>

/// Bounds on (epsilon, delta) from the counts of one event. Under (epsilon, delta)-DP every event has
///   P <= exp(epsilon) Q + delta,
///
/// where P and Q are its probabilities under two neighbours, in either order. So limits P_low <= P and Q_high
/// >= Q refute every epsilon below ln((P_low - delta)/Q_high), and every delta below P_low - exp(epsilon)
/// Q_high.
namespace bandana::audit {

/// How often an event was seen in `trials` draws under each neighbour. The event must have been fixed without
/// looking at these draws.
struct EventCounts {
  std::int64_t likely = 0;    ///< under the neighbour for which the event is evidence
  std::int64_t unlikely = 0;  ///< under the other neighbour
  std::int64_t trials = 0;
};

/// Returns the largest epsilon refuted at `delta`, 0 if none. With probability at least 1 - 2 level it is at
/// most the true epsilon.
double EpsilonLowerBound(const EventCounts& counts, double delta, double level);

/// Returns the largest delta refuted at `epsilon`, 0 if none. With probability at least 1 - 2 level it is at
/// most the true delta.
double DeltaLowerBound(const EventCounts& counts, double epsilon, double level);

}  // namespace bandana::audit
