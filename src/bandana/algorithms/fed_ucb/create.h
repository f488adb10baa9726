#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"
#include "bandana/algorithms/fed_ucb/sync_schedule.h"
#include "bandana/algorithms/local_data.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/network_params.h"
#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/privacy/privacy_options.h"

/// P3's algorithms, assembled: A. Dubey, A. Pentland, "Differentially-private federated linear bandits",
/// NeurIPS 2020. docs/papers/p3.md lists the departures.
namespace bandana {

/// The parameters of fed-ucb and private-lin-ucb. The paper's choices are other than the defaults: sync =
/// kDeterminant, local = kRaw, shift = kAgent, width = kPaper.
struct FedUcbParams {
  RegressionWidth width = RegressionWidth::kExact;
  Sync sync = Sync::kMLogT;
  Count batch = 0;                  ///< rounds between two syncs, with kBatch
  Count most_syncs = 0;             ///< with kDeterminant; 0: as many as rounds
  std::optional<double> threshold;  ///< D, with kDeterminant; empty: Theorem 1's
  LocalData local = LocalData::kReleased;
  std::optional<PrefixSumMechanism> prefix_sum;  ///< empty: the one with the least noise
  Shift shift = Shift::kGroup;
  double failure = 0.05;            ///< alpha: the probability that some confidence set of the run fails
  std::vector<std::int64_t> paces;  ///< agents play every pace-th round; empty: every round
};

/// The parameters of fed-ucb-p2p.
struct FedUcbP2pParams : FedUcbParams, PeerNetworkParams {
  Count gamma = 1;  ///< how many hops a message travels, and how many estimators take turns
};

/// P3's Algorithm 1: a controller adds up what the agents release, and tells all of them. Takes the models
/// none, silo and shuffle.
absl::StatusOr<Federation> CreateFedUcb(const FedUcbParams& params, const Privacy& privacy,
                                        const Facts& facts);

/// P3's Algorithm 3: peers on a graph tell their neighbours what they release. Takes the models none and
/// peer. The graph is drawn with facts.public_seed.
absl::StatusOr<Federation> CreateFedUcbP2p(const FedUcbP2pParams& params, const Privacy& privacy,
                                           const Facts& facts);

/// Returns the mechanism of prefix sums that a run has, which FedUcbParams::prefix_sum may leave open.
absl::StatusOr<PrefixSumMechanism> FedUcbMechanism(const FedUcbParams& params, const Privacy& privacy,
                                                   const Facts& facts);
absl::StatusOr<PrefixSumMechanism> FedUcbMechanism(const FedUcbP2pParams& params, const Privacy& privacy,
                                                   const Facts& facts);

/// Every agent runs Algorithm 1 alone: the baseline of P3's experiments (R. Shariff, O. Sheffet,
/// "Differentially private contextual linear bandits", NeurIPS 2018). Takes the models none and silo.
absl::StatusOr<Federation> CreatePrivateLinUcb(const FedUcbParams& params, const Privacy& privacy,
                                               const Facts& facts);

}  // namespace bandana
