#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/arm_schedule.h"
#include "bandana/algorithms/ddp_mab.h"
#include "bandana/algorithms/hdp_mab.h"
#include "bandana/bandit/arm_problem.h"
#include "bandana/bandit/arm_world.h"
#include "bandana/federation/dissemination.h"
#include "bandana/lab/graphs.h"
#include "bandana/lab/settings.h"

/// From resolved settings to the roles of cdp-mab, ddp-mab, hdp-mab and of agents by themselves, for the
/// simulator and for processes.
namespace bandana::lab {

/// Whether agents exchange anything.
bool Talks(const Settings& settings);

/// Agents that report in a round: ceil(p M), or one where nobody talks.
Count ReportingOf(const Settings& settings);

absl::StatusOr<SiloArmSums> MakeArmPrivatizer(const Settings& settings);
absl::StatusOr<ArmProblem> MakeArmProblem(const Settings& settings, std::uint32_t replicate);

/// What the roles of one run share, and what they are made from. It must outlive them. Roles of one of these
/// are for one thread.
class ArmParts {
 public:
  static absl::StatusOr<std::unique_ptr<const ArmParts>> Create(const Settings& settings,
                                                                std::uint32_t replicate = 0);

  ArmParts(const ArmParts&) = delete;
  ArmParts& operator=(const ArmParts&) = delete;

  const std::shared_ptr<const ArmProblem>& problem() const { return problem_; }
  absl::StatusOr<ArmWorld> MakeWorld() const;
  const SiloArmSums& privatizer() const { return privatizer_; }
  const ArmSchedule& schedule() const { return schedule_; }
  const Graph& graph() const { return graph_; }  ///< between agents
  bool has_server() const;

  std::unique_ptr<HdpMabServer> MakeServer() const;
  std::unique_ptr<NetworkPlayer> MakeAgent(NodeId self) const;

  /// The paper's cost of one round of communication.
  double PaperCost() const;

 private:
  ArmParts(const Settings& settings, std::uint32_t replicate, std::shared_ptr<const ArmProblem> problem,
           SiloArmSums privatizer, const ArmSchedule& schedule, Graph graph);
  std::optional<Declassify> leak() const;

  Settings settings_;
  std::uint32_t replicate_;
  std::shared_ptr<const ArmProblem> problem_;
  SiloArmSums privatizer_;
  ArmSchedule schedule_;
  Graph graph_;
  std::optional<DisseminationClock> clock_;  // where agents are peers
};

}  // namespace bandana::lab
