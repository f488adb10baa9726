#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/arms/arm_schedule.h"
#include "bandana/algorithms/arms/hdp_mab.h"
#include "bandana/algorithms/local_data.h"
#include "bandana/algorithms/width.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/dissemination.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/network_params.h"
#include "bandana/privacy/privacy_options.h"

/// Agents that pull arms which all share, in ticks: P4's algorithms, and two baselines.
/// T. Li, L. Song, "Privacy-preserving communication-efficient federated multi-armed bandits", 2021.
///
/// Each function checks its arguments and returns an algorithm that runs in any world for ticks. The unit of
/// its claims is one reward of one agent. M is the number of agents, Facts::people.
namespace bandana {

/// The smallest gap between means, by which a limited number of syncs is spread. The default: it is unknown,
/// and syncs are spread over all gaps that the horizon can tell.
struct GapChoice {
  bool known = false;           ///< take the world's own, Facts::smallest_gap, which only a simulation has
  std::optional<double> value;  ///< in (0, 1]
};

/// Agents report to a server: Algorithm 1. Trust models: none, silo.
struct CdpMabParams {
  Width width = Width::kExact;
  double bonus = 1;  ///< the factor of the widths, > 0; below 1 they may fail more often than `failure`
  std::optional<double> failure;  ///< probability that some confidence width fails; empty: 1 / (1 + T)
  double participation = 1;       ///< p, in (0, 1]: the share of the agents that report in a sync
  std::optional<Count> rounds;    ///< R, the largest number of syncs; empty: no limit
  GapChoice gap;                  ///< with `rounds` only
  Overrun overrun = Overrun::kBest;
  double cost_server = 25;  ///< c1: cost of a link between an agent and the server
};
OptionsFor<CdpMabParams> CdpMabOptions();
absl::StatusOr<Federation> CreateCdpMab(const CdpMabParams& params, const Privacy& privacy,
                                        const Facts& facts);

/// Peers on a graph, without a server: Algorithm 3. Trust models: none, peer.
struct DdpMabParams {
  Width width = Width::kExact;
  double bonus = 1;  ///< the factor of the widths, > 0; below 1 they may fail more often than `failure`
  LocalData local = LocalData::kReleased;  ///< what an agent chooses by while messages are on their way
  std::optional<double> failure;  ///< probability that some confidence width fails; empty: 1 / (1 + T)
  std::optional<Count> rounds;    ///< R, the largest number of syncs; empty: no limit
  GapChoice gap;                  ///< with `rounds` only
  Overrun overrun = Overrun::kBest;
  Protocol protocol = Protocol::kGis;  ///< how every peer gets everybody's sums
  Count slack = 0;                     ///< extra slots per sync, for routes that losses have made longer
  PeerNetworkParams network;
  double cost_peer = 1;  ///< c2: cost of a link between agents
};
OptionsFor<DdpMabParams> DdpMabOptions();
absl::StatusOr<Federation> CreateDdpMab(const DdpMabParams& params, const Privacy& privacy,
                                        const Facts& facts);

/// The formula for the cost of a component in a sync.
enum class CostRule {
  kPaths,  ///< the sum of the distances to its sink (Theorem 4)
  kEdges,  ///< the number of its edges (Fig. 11)
};

/// Components of agents, each with a sink that reports to a server: Algorithms 4 and 5. Trust models: none,
/// silo.
struct HdpMabParams {
  Width width = Width::kExact;
  double bonus = 1;  ///< the factor of the widths, > 0; below 1 they may fail more often than `failure`
  LocalData local = LocalData::kReleased;  ///< what an agent chooses by while messages are on their way
  std::optional<double> failure;  ///< probability that some confidence width fails; empty: 1 / (1 + T)
  double participation = 1;       ///< p, in (0, 1]: the share of the components that report in a sync
  std::optional<Count> rounds;    ///< R, the largest number of syncs; empty: no limit
  GapChoice gap;                  ///< with `rounds` only
  Overrun overrun = Overrun::kBest;
  Aggregation aggregation = Aggregation::kWeighted;
  CostRule cost_rule = CostRule::kPaths;
  ComponentParams network;
  double cost_server = 25;  ///< c1: cost of a link between an agent and the server
  double cost_peer = 1;     ///< c2: cost of a link between agents
};
OptionsFor<HdpMabParams> HdpMabOptions();
absl::StatusOr<Federation> CreateHdpMab(const HdpMabParams& params, const Privacy& privacy,
                                        const Facts& facts);

/// Agents that do not talk, each with the algorithm of one peer. Trust models: none, silo.
struct SingleMabParams {
  Width width = Width::kExact;
  double bonus = 1;  ///< the factor of the widths, > 0; below 1 they may fail more often than `failure`
  std::optional<double> failure;  ///< probability that some confidence width fails; empty: 1 / (1 + T)
  std::optional<Count> rounds;    ///< R, the largest number of releases; empty: no limit
  GapChoice gap;                  ///< with `rounds` only
  Overrun overrun = Overrun::kBest;
};
OptionsFor<SingleMabParams> SingleMabOptions();
absl::StatusOr<Federation> CreateSingleMab(const SingleMabParams& params, const Privacy& privacy,
                                           const Facts& facts);

/// Agents that do not talk, each with UCB1, which protects nothing. Rewards must be in [0, 1]. Trust model:
/// none.
struct Ucb1Params {
  double bonus = 1;  ///< the factor of the confidence width
};
OptionsFor<Ucb1Params> Ucb1Options();
absl::StatusOr<Federation> CreateUcb1(const Ucb1Params& params, const Privacy& privacy, const Facts& facts);

/// Agents that do not talk, each with successive elimination, which protects nothing. Rewards must be in
/// [0, 1]. Trust model: none.
struct SweepParams {
  double bonus = 1;  ///< the factor of the confidence width
};
OptionsFor<SweepParams> SweepOptions();
absl::StatusOr<Federation> CreateSuccessiveElimination(const SweepParams& params, const Privacy& privacy,
                                                       const Facts& facts);

}  // namespace bandana
