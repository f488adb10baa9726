#include <memory>
#include <utility>

#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/audit/catalog.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"

/// Whole runs of DP-DPE, on an instance so small that it runs tens of thousands of times. The first client
/// asked in phase 2 has the smallest or the largest possible rewards. All others have the means of their
/// arms, which the adversary knows. The adversary sees the transcript: the plan and the released averages of
/// every phase.
namespace bandana::audit {
namespace {

// The phase of the changed client. The phase before it must not matter; those after it may reveal the client.
constexpr Epoch kPhase = 2;
constexpr Count kHorizon = 30;
constexpr Count kPopulation = 12;
constexpr std::int64_t kDpDpeDraws = 20'000;

// In a plane, there are two good arms and a bad one. Noise decides when the bad one is eliminated.
absl::StatusOr<std::shared_ptr<const LinearProblem>> Problem() {
  ActionMatrix actions(3, 2);
  actions << 1, 0, 0, 1, -0.6, -0.6;
  Vector theta(2);
  theta << 0.6, 0.5;
  BANDANA_ASSIGN_OR_RETURN(LinearProblem problem,
                           LinearProblem::Create(std::move(actions), std::move(theta)));
  return std::make_shared<const LinearProblem>(std::move(problem));
}

class NeighbouringClients final : public SlotWorld {
 public:
  NeighbouringClients(const std::shared_ptr<const LinearProblem>& problem, Neighbour neighbour)
      : problem_(problem),
        facts_({.horizon = kHorizon,
                .people = kPopulation,
                .arms = problem->actions().rows(),
                .dimension = problem->actions().cols(),
                .actions = std::shared_ptr<const ActionMatrix>(problem, &problem->actions()),
                .reward = {.kind = RewardKind::kRademacher}}),
        extreme_(neighbour == Neighbour::kSecond ? 1 : -1) {}

  const Facts& facts() const override { return facts_; }

  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    if (epoch == kPhase && !changed_) changed_ = client;
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      const double average = changed_ == client ? extreme_ : problem_->means()[pulls[i].arm];
      rewards[i] = {pulls[i].count, average * static_cast<double>(pulls[i].count)};
    }
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<const LinearProblem> problem_;
  Facts facts_;
  double extreme_;
  std::optional<NodeId> changed_;
};

// Writes the transcript as four numbers. The first is the averages of the client's phase minus the others'
// part, along the direction in which the client moves them. The second is the number of completed phases. The
// last two are the numbers of actions left after the client's phase and at the end.
void Look(const LinearProblem& problem, const std::vector<PhaseRecord>& phases, std::span<double> view) {
  std::fill(view.begin(), view.end(), 0.0);
  view[1] = static_cast<double>(phases.size());
  view[3] = static_cast<double>(phases.empty() ? problem.actions().rows()
                                               : static_cast<Count>(phases.back().active.size()));
  for (const PhaseRecord& phase : phases) {
    if (phase.epoch != kPhase) continue;
    for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
      const double others = problem.means()[phase.pulls[i].arm] * static_cast<double>(phase.clients - 1);
      view[0] += phase.averages[i] * static_cast<double>(phase.clients) - others;
    }
    view[0] /= static_cast<double>(phase.pulls.size());
    view[2] = static_cast<double>(phase.active.size());
  }
}

// Writes what the shuffler of `transport = bits` sees, apart from ciphertexts: for the phases after the
// client's, how many coordinates their queries have and how wide the intervals are, which follows from how
// often each action is played. A query names no action.
void LookAsShuffler(const std::vector<PhaseRecord>& phases, std::span<double> view) {
  std::fill(view.begin(), view.end(), 0.0);
  for (const PhaseRecord& phase : phases) {
    const auto after = static_cast<std::size_t>(phase.epoch - kPhase - 1);
    if (phase.epoch <= kPhase || 2 * after + 1 >= view.size()) continue;
    view[2 * after] = static_cast<double>(phase.pulls.size());
    view[2 * after + 1] = static_cast<double>(phase.pulls.front().count);
  }
}

// Whole runs with `clients` clients per phase. With one client the released averages are its report, which
// the adversary of the local model sees. The adversary is no client, so nobody works with it.
enum class View { kServer, kShuffler };

auto WholeRun(TrustModel model, Count clients, View seen = View::kServer) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const auto problem, Problem());
    const Privacy privacy{
        .model = model, .epsilon = nominal.epsilon, .delta = nominal.delta, .colluding = 0, .loss = 0.05};
    const DpDpeParams params{.clients = ClientSchedule::kFixed, .fixed_clients = clients};
    const Facts facts = NeighbouringClients(problem, Neighbour::kFirst).facts();
    BANDANA_ASSIGN_OR_RETURN(const Federation federation, CreateDpDpe(params, privacy, facts));
    const bool server = seen == View::kServer;
    Target target{.name = name, .claim = federation.claims[server ? 0 : 1], .dimension = 4};
    if (server) target.direction = {1, 0, 0, 0};
    target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
      NeighbouringClients world(problem, neighbour);
      BANDANA_ASSIGN_OR_RETURN(const Outcome outcome, Simulate(federation, world, {.seed = noise()}));
      if (server) Look(*problem, outcome.phases, view);
      if (!server) LookAsShuffler(outcome.phases, view);
      return absl::OkStatus();
    };
    return target;
  };
}

}  // namespace

std::vector<Entry> DpDpeEntries() {
  return {
      {"dp-dpe-central",
       "whole runs of DP-DPE with a trusted server",
       {1, 0.01},
       kDpDpeDraws,
       WholeRun(TrustModel::kCentral, 2)},
      {"dp-dpe-local",
       "whole runs of DP-DPE, each client with its own noise",
       {1, 0.01},
       kDpDpeDraws,
       WholeRun(TrustModel::kLocal, 1)},
      {"dp-dpe-shuffle",
       "whole runs of DP-DPE with sums of shuffled bits",
       {1, 0.01},
       kDpDpeDraws,
       WholeRun(TrustModel::kShuffle, 2)},
      {"dp-dpe-shuffle-shuffler",
       "whole runs of DP-DPE with sums of shuffled bits, against the shuffler, which gets the queries",
       {6, 0.01},
       kDpDpeDraws,
       WholeRun(TrustModel::kShuffle, 2, View::kShuffler)},
  };
}

}  // namespace bandana::audit
