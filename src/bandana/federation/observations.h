#pragma once

#include <map>
#include <string>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The record of a completed phase of elimination. It is public: all of it follows from released values.
struct PhaseRecord {
  Epoch epoch = 0;
  std::vector<Pull> pulls;
  Count rounds = 0;
  Count clients = 0;
  std::vector<Interval> bounds;  ///< to which averages, or single rewards, were clipped
  double privacy_stddev = 0;
  double width = 0;
  std::vector<double> averages;  ///< released; or the clients' mean estimate, as they sent it
  Vector estimate;
  std::vector<ArmId> active;  ///< after the elimination

  template <class Archive>
  void State(Archive& a) {
    a(epoch, pulls, rounds, clients, bounds, privacy_stddev, width, averages, estimate, active);
  }
};

/// The decision that a peer or a server made after a sync about arms (P4). Public.
struct ArmRound {
  Epoch epoch = 0;
  Count clock = 0;          ///< slot in which it was made
  Count agents = 0;         ///< whose sums it rests on
  std::vector<ArmId> arms;  ///< that are left
  ArmId best = 0;
  double half_width = 0;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, clock, agents, arms, best, half_width);
  }
};

/// Everything that roles tell about themselves. It follows from released values or public facts alone.
class Observations {
 public:
  std::map<std::string, double> numbers;  ///< by metric
  std::vector<PhaseRecord> phases;
  std::vector<ArmId> active;  ///< arms that are left
  std::vector<ArmRound> arm_rounds;
  std::vector<NodeId> sinks;  ///< agents that speak for others to the server
};

}  // namespace bandana
