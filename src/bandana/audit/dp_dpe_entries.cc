#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/audit/catalog.h"
#include "bandana/audit/shuffler_tap.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/core/status.h"
#include "bandana/privacy/wire.h"
#include "bandana/sim/simulate.h"

/// Whole runs of DP-DPE, on instances so small that they run tens of thousands of times. The first client
/// that is asked in a certain phase has rewards at the ends of their interval, on either side. All others
/// have the means of their arms, which the adversary knows. The server's adversary sees the transcript: the
/// plan and the released averages of every phase. The shuffler sees the mix requests.
namespace bandana::audit {
namespace {

constexpr std::int64_t kDpDpeDraws = 20'000;
constexpr std::int64_t kShufflerDraws = 12'000;  // with twenty clients per phase

struct Instance {
  std::shared_ptr<const LinearProblem> problem;
  std::vector<double> extremes;  // the changed client's rewards, by arm, under the second neighbour
  // The phase of the changed client. Phases before it must not matter; those after it may reveal the client.
  Epoch phase = 1;
  Count clients = 1;  // per phase
  Count horizon = 1;
  RewardModel reward = {.kind = RewardKind::kRademacher};

  Facts facts() const {
    return {.horizon = horizon,
            .people = 8 * clients,
            .arms = problem->actions().rows(),
            .dimension = problem->actions().cols(),
            .actions = std::shared_ptr<const ActionMatrix>(problem, &problem->actions()),
            .reward = reward};
  }
};

absl::StatusOr<std::shared_ptr<const LinearProblem>> Problem(ActionMatrix actions, double theta0,
                                                             double theta1) {
  Vector theta(2);
  theta << theta0, theta1;
  BANDANA_ASSIGN_OR_RETURN(LinearProblem problem,
                           LinearProblem::Create(std::move(actions), std::move(theta)));
  return std::make_shared<const LinearProblem>(std::move(problem));
}

// In a plane, there are two good arms and a bad one. Noise decides when the bad one is eliminated. With one
// client per phase the released averages are its report, which the adversary of the local model sees.
absl::StatusOr<Instance> ThreeArms(Count clients) {
  ActionMatrix actions(3, 2);
  actions << 1, 0, 0, 1, -0.6, -0.6;
  BANDANA_ASSIGN_OR_RETURN(auto problem, Problem(std::move(actions), 0.6, 0.5));
  return Instance{
      .problem = std::move(problem), .extremes = {1, 1, 1}, .phase = 2, .clients = clients, .horizon = 30};
}

// Two arms with normal rewards. The intervals of a phase lie around the estimates of the last one, and after
// phase 4 the second arm is eliminated or not. The client's averages are cut to the ends of its intervals.
absl::StatusOr<Instance> TwoArms() {
  ActionMatrix actions(2, 2);
  actions << 1, 0, 0, 1;
  BANDANA_ASSIGN_OR_RETURN(auto problem, Problem(std::move(actions), 0.5, 0.2));
  return Instance{.problem = std::move(problem),
                  .extremes = {100, -100},
                  .phase = 4,
                  .clients = 20,
                  .horizon = 120,
                  .reward = {.kind = RewardKind::kGaussian, .sd = 0.5}};
}

class NeighbouringClients final : public SlotWorld {
 public:
  NeighbouringClients(const Instance& instance, Neighbour neighbour)
      : instance_(&instance), facts_(instance.facts()), sign_(neighbour == Neighbour::kSecond ? 1 : -1) {}

  const Facts& facts() const override { return facts_; }

  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    if (epoch == instance_->phase && !changed_) changed_ = client;
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      const ArmId arm = pulls[i].arm;
      const double extreme = sign_ * instance_->extremes[static_cast<std::size_t>(arm)];
      const double average = changed_ == client ? extreme : instance_->problem->means()[arm];
      rewards[i] = {pulls[i].count, average * static_cast<double>(pulls[i].count)};
    }
    return absl::OkStatus();
  }

  /// Returns the client that differs between the neighbours; empty before it was asked.
  std::optional<NodeId> changed() const { return changed_; }

 private:
  const Instance* instance_;
  Facts facts_;
  double sign_;
  std::optional<NodeId> changed_;
};

// Writes the transcript as four numbers. The first is the averages of the client's phase minus the others'
// part, along the direction in which the client moves them. The second is the number of completed phases. The
// last two are the numbers of actions left after the client's phase and at the end.
void LookAsServer(const Instance& instance, const std::vector<PhaseRecord>& phases, std::span<double> view) {
  const LinearProblem& problem = *instance.problem;
  view[1] = static_cast<double>(phases.size());
  view[3] = static_cast<double>(phases.empty() ? problem.actions().rows()
                                               : static_cast<Count>(phases.back().active.size()));
  for (const PhaseRecord& phase : phases) {
    if (phase.epoch != instance.phase) continue;
    for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
      const double others = problem.means()[phase.pulls[i].arm] * static_cast<double>(phase.clients - 1);
      view[0] += phase.averages[i] * static_cast<double>(phase.clients) - others;
    }
    view[0] /= static_cast<double>(phase.pulls.size());
    view[2] = static_cast<double>(phase.active.size());
  }
}

// Writes what the shuffler of `transport = bits` sees in the phase after the client's, apart from
// ciphertexts: the mix request, with the number of coordinates, the first two intervals, and the number of
// clients. A query names no action.
ShufflerTap::See MixRequestAfter(Epoch phase, std::span<double> view) {
  return [phase, view](const Message& message) {
    const auto* sent = std::get_if<std::shared_ptr<const MixRequest>>(&message.body);
    if (sent == nullptr || (*sent)->epoch != phase + 1) return;
    const MixRequest& request = **sent;
    view[0] = static_cast<double>(request.query.bounds.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(2, request.query.bounds.size()); ++i) {
      view[1 + 2 * i] = request.query.bounds[i].low;
      view[2 + 2 * i] = request.query.bounds[i].high;
    }
    view[5] = static_cast<double>(request.clients.size());
  };
}

// Adds up each client's report in the client's phase. If the only other client of the phase works with the
// server, it subtracts its own report from the totals, and the first client's report is left.
ShufflerTap::See ReportsOf(Epoch phase, std::map<NodeId, double>& reports) {
  return [phase, &reports](const Message& message) {
    const auto* share = std::get_if<Share>(&message.body);
    if (share == nullptr || share->epoch != phase) return;
    for (const std::int64_t units : Wire::Units(share->report)) {
      reports[message.origin] += static_cast<double>(units);
    }
  };
}

enum class View { kServer, kShuffler };

absl::StatusOr<Target> WholeRun(const std::string& name, DpGuarantee nominal, TrustModel model, View seen,
                                absl::StatusOr<Instance> made) {
  BANDANA_RETURN_IF_ERROR(made.status());
  const auto instance = std::make_shared<const Instance>(*std::move(made));
  const Privacy privacy{.model = model, .epsilon = nominal.epsilon, .delta = nominal.delta, .loss = 0.05};
  const DpDpeParams params{.clients = ClientSchedule::kFixed, .fixed_clients = instance->clients};
  BANDANA_ASSIGN_OR_RETURN(const Federation federation, CreateDpDpe(params, privacy, instance->facts()));
  const bool server = seen == View::kServer;
  Target target{.name = name, .claim = federation.claims[server ? 0 : 1], .dimension = server ? 4u : 6u};
  // The client moves the estimates of the two arms, and so the intervals, in opposite directions.
  target.direction = server ? std::vector<double>{1, 0, 0, 0} : std::vector<double>{0, 1, 1, -1, -1, 0};
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    std::fill(view.begin(), view.end(), 0.0);
    Federation tapped = federation;
    std::map<NodeId, double> reports;
    if (model == TrustModel::kShuffle) {
      auto& roles = std::get<SlotRoles>(tapped.roles);
      roles.shuffler = [shuffler = roles.shuffler, see = server ? ReportsOf(instance->phase, reports)
                                                                : MixRequestAfter(instance->phase, view)] {
        return std::make_unique<ShufflerTap>(shuffler(), see);
      };
    }
    NeighbouringClients world(*instance, neighbour);
    BANDANA_ASSIGN_OR_RETURN(const Outcome outcome, Simulate(tapped, world, {.seed = noise()}));
    if (server) LookAsServer(*instance, outcome.phases, view);
    if (server && model == TrustModel::kShuffle && world.changed()) view[0] = reports[*world.changed()];
    return absl::OkStatus();
  };
  return target;
}

auto AgainstServer(TrustModel model, Count clients) {
  return [=](const std::string& name, DpGuarantee nominal) {
    return WholeRun(name, nominal, model, View::kServer, ThreeArms(clients));
  };
}

absl::StatusOr<Target> AgainstShuffler(const std::string& name, DpGuarantee nominal) {
  return WholeRun(name, nominal, TrustModel::kShuffle, View::kShuffler, TwoArms());
}

}  // namespace

std::vector<Entry> DpDpeEntries() {
  return {
      {"dp-dpe-central",
       "whole runs of DP-DPE with a trusted server",
       {1, 0.01},
       kDpDpeDraws,
       AgainstServer(TrustModel::kCentral, 2)},
      {"dp-dpe-local",
       "whole runs of DP-DPE, each client with its own noise",
       {1, 0.01},
       kDpDpeDraws,
       AgainstServer(TrustModel::kLocal, 1)},
      {"dp-dpe-shuffle",
       "whole runs of DP-DPE with sums of shuffled bits; one of two clients subtracts its own report",
       {1, 0.01},
       kDpDpeDraws,
       AgainstServer(TrustModel::kShuffle, 2)},
      {"dp-dpe-shuffle-shuffler",
       "whole runs of DP-DPE with sums of shuffled bits, against the shuffler, which gets the queries",
       {2, 0.01},
       kShufflerDraws,
       AgainstShuffler},
  };
}

}  // namespace bandana::audit
