#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"
#include "bandana/algorithms/fed_ucb/sync_schedule.h"
#include "bandana/federation/clique_cover.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/node.h"
#include "bandana/federation/round_player.h"
#include "bandana/privacy/regression_prefix_sum.h"
#include "bandana/privacy/shuffled_regression.h"

namespace bandana {

/// Says which agents add up their released sums.
enum class FedUcbForm {
  kStar,   ///< fed-ucb: all agents, through a controller
  kAlone,  ///< private-lin-ucb: each agent its own, as a group of one with a controller
  kPeers,  ///< fed-ucb-p2p: the peers of a clique, without a controller
};

/// Returns the trust models that a form takes.
std::vector<TrustModel> TrustModelsOf(FedUcbForm form);

struct FedUcbChoices {
  FedUcbForm form = FedUcbForm::kStar;
  FedUcbParams params;
  Privacy privacy;
  Facts facts;
  int gamma = 1;               ///< 1 unless kPeers
  std::optional<Graph> graph;  ///< set with kPeers
};

/// Everything that the roles of one federation share, and the functions that make them. Roles hold references
/// into it and must not outlive it.
class FedUcbSetup {
 public:
  static absl::StatusOr<std::shared_ptr<const FedUcbSetup>> Create(FedUcbChoices choices);

  FedUcbSetup(const FedUcbSetup&) = delete;
  FedUcbSetup& operator=(const FedUcbSetup&) = delete;

  const FedUcbChoices& choices() const { return choices_; }
  bool is_private() const { return choices_.privacy.is_private(); }
  bool is_shuffled() const { return shuffled_.has_value(); }
  bool acts_on_raw() const { return choices_.params.local == LocalData::kRaw; }
  bool has_trigger() const { return schedule_.triggered(); }

  const std::vector<double>& epsilons() const { return epsilons_; }  ///< which the agents take in turn
  const RegressionPrefixSum& MechanismOf(NodeId agent) const {
    return mechanisms_[(agent.value - 1) % mechanisms_.size()];
  }
  std::span<const RegressionPrefixSum> mechanisms() const { return mechanisms_; }  ///< one for each epsilon
  const ShuffledRegressionSum& shuffled() const { return *shuffled_; }             ///< if is_shuffled
  const Cliques& groups() const { return groups_; }  ///< agents that add up their sums
  DpGuarantee budget() const;                        ///< the largest of any agent

  /// Returns the level of contexts that give the determinant trigger away. See probe.h.
  absl::StatusOr<double> ProbeLevel() const;

  /// Makes the controller of the group that begins with `first`.
  std::unique_ptr<Node> MakeController(NodeId first) const;
  std::unique_ptr<Node> MakeShuffler() const;
  template <class Scalar>
  std::unique_ptr<RoundPlayer<Scalar>> MakeAgent(NodeId self) const;

 private:
  struct Group {
    FedUcbWidth width;
    double noise = 0;        // standard deviation of all its silos' noise in a released value
    double first_noise = 0;  // the same in their first sums
    double threshold = 0;    // D of the trigger
  };

  FedUcbSetup(FedUcbChoices choices, const SyncSchedule& schedule);
  absl::Status MakeMechanisms();
  absl::Status MakeGroups();
  Count FormGroups();
  absl::StatusOr<Group> MakeGroup(std::span<const NodeId> silos, Count sums) const;
  absl::StatusOr<FedUcbWidth> MakeWidth(Count silos, double noise_spread, Count sums) const;
  bool has_paper_noise() const;
  const Group& GroupOf(NodeId agent) const { return made_groups_[group_of_[agent.value - 1]]; }
  std::optional<Declassify> leak() const;
  Count PaceOf(NodeId agent) const;
  template <class Scalar>
  std::unique_ptr<RoundPlayer<Scalar>> MakePeer(NodeId self) const;

  FedUcbChoices choices_;
  SyncSchedule schedule_;
  double failure_;
  double reward_bound_;       // B
  double reward_weight_ = 1;  // of a reward beside its context in one release
  std::vector<double> epsilons_;
  std::vector<RegressionPrefixSum> mechanisms_;
  std::optional<ShuffledRegressionSum> shuffled_;
  Cliques groups_;
  std::vector<Group> made_groups_;  // in the order of groups_
  std::vector<std::size_t> group_of_;
};

}  // namespace bandana
