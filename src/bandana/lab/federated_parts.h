#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/fed_ucb.h"
#include "bandana/algorithms/fed_ucb_p2p.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/round_contexts.h"
#include "bandana/bandit/round_environment.h"
#include "bandana/federation/clique_cover.h"
#include "bandana/federation/graph.h"
#include "bandana/lab/graphs.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/shuffled_regression.h"

/// From resolved settings to the roles of fed-ucb, fed-ucb-p2p and private-lin-ucb, for the simulator and for
/// processes.
namespace bandana::lab {

bool IsPrivate(const Settings& settings);
bool IsShuffled(const Settings& settings);  ///< privacy.model = shuffle
bool IsPeers(const Settings& settings);     ///< fed-ucb-p2p
bool IsAlone(const Settings& settings);     ///< private-lin-ucb: every agent is a group of its own
bool ActsOnRaw(const Settings& settings);   ///< algorithm.local = raw
bool HasTrigger(const Settings& settings);  ///< algorithm.sync = determinant
std::vector<double> BudgetsOf(const Settings& settings);  ///< epsilons, which the agents take in turn

/// One for each budget; without a shuffler.
absl::StatusOr<std::vector<RegressionPrefixSum>> MakePrivatizers(const Settings& settings);

/// Of privacy.model = shuffle.
absl::StatusOr<ShuffledRegressionSum> MakeShuffledPrivatizer(const Settings& settings);

/// The decision sets of a replicate.
absl::StatusOr<RoundContexts> MakeRoundContexts(const Settings& settings, std::uint32_t replicate);

/// What the roles of one run share, and what they are made from. It must outlive them.
class FederatedParts {
 public:
  template <class P>
  using Controller = FedUcbController<P>;
  template <class P, class Scalar>
  using Agent = FedUcbAgent<P, Scalar>;
  template <class Scalar>
  using Peer = FedUcbPeer<RegressionPrefixSum, Scalar>;

  static absl::StatusOr<std::unique_ptr<const FederatedParts>> Create(const Settings& settings);

  FederatedParts(const FederatedParts&) = delete;
  FederatedParts& operator=(const FederatedParts&) = delete;

  const SyncSchedule& schedule() const { return schedule_; }
  const RegressionPrefixSum& PrivatizerOf(NodeId agent) const {
    return privatizers_[(agent.value - 1) % privatizers_.size()];
  }
  DpGuarantee budget() const;                         ///< the largest
  const Graph& graph() const { return *graph_; }      ///< of peers
  const Cliques& cliques() const { return groups_; }  ///< who adds sums up with whom

  /// Of the contexts that give a determinant trigger away (lab/probe.h).
  absl::StatusOr<double> ProbeLevel() const;

  /// Of the group that begins with `first`.
  std::unique_ptr<Controller<RegressionPrefixSum>> MakeController(NodeId first) const;
  template <class Scalar>
  std::unique_ptr<Agent<RegressionPrefixSum, Scalar>> MakeAgent(NodeId self) const;

  /// Of privacy.model = shuffle: what all agents share, with a shuffler between them and the controller.
  const ShuffledRegressionSum& shuffled() const { return *shuffled_; }
  std::unique_ptr<Controller<ShuffledRegressionSum>> MakeShuffledController() const;
  template <class Scalar>
  std::unique_ptr<Agent<ShuffledRegressionSum, Scalar>> MakeShuffledAgent(NodeId self) const;

  template <class Scalar>
  std::unique_ptr<Peer<Scalar>> MakePeer(NodeId self) const;

 private:
  struct Group {
    FedUcbWidth width;
    double noise = 0;        // of all its silos in a released value
    double first_noise = 0;  // in their first sums
    double threshold = 0;    // of the trigger
  };

  FederatedParts(const Settings& settings, const SyncSchedule& schedule,
                 std::vector<RegressionPrefixSum> privatizers)
      : settings_(settings), schedule_(schedule), privatizers_(std::move(privatizers)) {}
  absl::Status MakeGroups();
  FedUcbAgentParams AgentParamsOf(NodeId self) const;
  absl::StatusOr<FedUcbWidth> MakeWidth(std::span<const NodeId> group, double spread, Count sums) const;
  const Group& GroupOf(NodeId agent) const { return *group_of_[agent.value - 1]; }
  std::optional<Declassify> leak() const;
  Count PaceOf(NodeId agent) const;

  Settings settings_;
  SyncSchedule schedule_;
  std::vector<RegressionPrefixSum> privatizers_;
  std::optional<ShuffledRegressionSum> shuffled_;
  std::optional<Graph> graph_;
  Cliques groups_;
  std::vector<std::unique_ptr<Group>> of_groups_;
  std::vector<const Group*> group_of_;
};

/// RoundContexts as one process of a deployment meets them.
class RoundContextsWorld final : public RoundWorld {
 public:
  /// `contexts` must outlive it.
  RoundContextsWorld(const RoundContexts& contexts, Count horizon);

  const DecisionSet<double>& Set(NodeId agent, Count round) override;
  double Reward(NodeId agent, Count round, ArmId arm) override;

 private:
  const RoundContexts& contexts_;
  Count horizon_;
  DecisionBlock<double> block_;
  NodeId agent_;
  Count first_ = 0;
  DecisionSet<double> set_;
};

}  // namespace bandana::lab
