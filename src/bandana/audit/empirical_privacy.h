#pragma once

#include <cstdint>

/// What counts of one event say about (epsilon, delta). Under (epsilon, delta)-DP every event has
///   P <= exp(epsilon) Q + delta,
/// where P and Q are its probabilities under two neighbours, either way round. So limits P_low <= P and
/// Q_high >= Q refute every epsilon below ln((P_low - delta)/Q_high), and every delta below P_low -
/// exp(epsilon) Q_high.
namespace bandana::audit {

/// How often an event was seen in `trials` draws under each neighbour. The event must have been fixed without
/// looking at these draws.
struct EventCounts {
  std::int64_t likely = 0;    ///< under the neighbour that it speaks for
  std::int64_t unlikely = 0;  ///< under the other
  std::int64_t trials = 0;
};

/// The largest epsilon refuted at `delta`, 0 if none: at most the true one with probability at least
/// 1 - 2 level.
double EpsilonLowerBound(const EventCounts& counts, double delta, double level);

/// The largest delta refuted at `epsilon`, 0 if none: at most the true one with probability at least
/// 1 - 2 level.
double DeltaLowerBound(const EventCounts& counts, double epsilon, double level);

}  // namespace bandana::audit
