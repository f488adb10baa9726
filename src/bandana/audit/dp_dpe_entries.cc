#include <memory>
#include <utility>

#include "bandana/algorithms/dp_dpe.h"
#include "bandana/audit/catalog.h"
#include "bandana/bandit/recorder.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/sim/simulator.h"

/// DP-DPE as a whole, on an instance so small that it runs tens of thousands of times. The first client asked
/// in phase 2 has the least or the largest rewards there are, all others have their arms' means, which the
/// adversary knows. The adversary sees the transcript: phase by phase the plan and the released averages.
namespace bandana::audit {
namespace {

constexpr Epoch kPhase =
    2;  // one phase before it that must not matter, and some after it that may give it away
constexpr Count kHorizon = 30;
constexpr Count kPopulation = 12;
constexpr std::int64_t kDraws = 20'000;

// `clients` in each phase.
DpDpeParams Params(Count clients) {
  return {.horizon = kHorizon,
          .beta = std::nullopt,
          .schedule = ClientSchedule::kFixed,
          .fixed_clients = clients,
          .population = kPopulation,
          .clip = {.reward = {.kind = RewardKind::kRademacher}, .client_sd = 0, .fixed_bound = std::nullopt}};
}

// In a plane, two good arms and a bad one: noise decides when the bad one goes.
absl::StatusOr<std::shared_ptr<const LinearProblem>> Problem() {
  ActionMatrix actions(3, 2);
  actions << 1, 0, 0, 1, -0.6, -0.6;
  Vector theta(2);
  theta << 0.6, 0.5;
  BANDANA_ASSIGN_OR_RETURN(LinearProblem problem,
                           LinearProblem::Create(std::move(actions), std::move(theta)));
  return std::make_shared<const LinearProblem>(std::move(problem));
}

class NeighbouringClients final : public Environment {
 public:
  NeighbouringClients(const LinearProblem& problem, Neighbour neighbour)
      : problem_(problem), extreme_(neighbour == Neighbour::kSecond ? 1 : -1) {}

  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    if (epoch == kPhase && !changed_) changed_ = client;
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      const double average = changed_ == client ? extreme_ : problem_.means()[pulls[i].arm];
      rewards[i] = {pulls[i].count, average * static_cast<double>(pulls[i].count)};
    }
    return absl::OkStatus();
  }

 private:
  const LinearProblem& problem_;
  double extreme_;
  std::optional<NodeId> changed_;
};

// The transcript in four numbers: the averages of the client's phase less what the others gave, along the
// direction in which the client moves them; how many phases completed; and the actions left after its phase
// and at the end.
void Look(const LinearProblem& problem, const EliminationPolicy& policy, std::span<double> view) {
  std::fill(view.begin(), view.end(), 0.0);
  view[1] = static_cast<double>(policy.history().size());
  view[3] = static_cast<double>(policy.active().size());
  for (const PhaseRecord& phase : policy.history()) {
    if (phase.epoch != kPhase) continue;
    for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
      const double others = problem.means()[phase.pulls[i].arm] * static_cast<double>(phase.clients - 1);
      view[0] += phase.averages[i] * static_cast<double>(phase.clients) - others;
    }
    view[0] /= static_cast<double>(phase.pulls.size());
    view[2] = static_cast<double>(phase.active.size());
  }
}

template <class P>
absl::Status Run(const DpDpeParams& params, const P& privatizer,
                 const std::shared_ptr<const LinearProblem>& problem, Neighbour neighbour, NoiseGen& noise,
                 std::span<double> view) {
  const std::shared_ptr<const ActionMatrix> actions(problem, &problem->actions());
  BANDANA_ASSIGN_OR_RETURN(auto server,
                           EliminationServer<P>::Create(DpDpeRules(params, *actions), actions, privatizer));
  NeighbouringClients clients(*problem, neighbour);
  Recorder recorder(*problem, {});
  const sim::SimParams sim_params{
      .seed = noise(), .topology = TopologyFor<P>(kPopulation), .budget_per_client = privatizer.guarantee()};
  BANDANA_RETURN_IF_ERROR((sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      sim_params, server, privatizer, clients, recorder)));
  Look(*problem, server.policy(), view);
  return absl::OkStatus();
}

template <class P>
absl::StatusOr<P> Make(DpGuarantee nominal) {
  if constexpr (std::is_same_v<P, ShuffleSumMean>) {
    return P::Create({.nominal = nominal,
                      .calibration = Calibration::kTight,
                      .sampler = Sampler::kExact,
                      .transport = Transport::kBits,
                      .honest_fraction = 1,
                      .loss = 0.05});
  } else {
    return P::Create({nominal, Calibration::kTight, Sampler::kExact});
  }
}

// With one client a phase the released averages are its report, which is what the local model's adversary
// sees.
template <class P>
auto WholeRun(Count clients) {
  return [clients](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const P privatizer, Make<P>(nominal));
    BANDANA_ASSIGN_OR_RETURN(const auto problem, Problem());
    const DpDpeParams params = Params(clients);
    BANDANA_RETURN_IF_ERROR(DpDpeRules(params, problem->actions()).status());
    Target target{
        .name = name, .claim = privatizer.claims().front(), .dimension = 4, .direction = {1, 0, 0, 0}};
    target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
      return Run(params, privatizer, problem, neighbour, noise, view);
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
       kDraws,
       WholeRun<CentralGaussianMean>(2)},
      {"dp-dpe-local",
       "whole runs of DP-DPE, each client with its own noise",
       {1, 0.01},
       kDraws,
       WholeRun<LocalGaussianMean>(1)},
      {"dp-dpe-shuffle",
       "whole runs of DP-DPE with sums of shuffled bits",
       {1, 0.01},
       kDraws,
       WholeRun<ShuffleSumMean>(2)},
  };
}

}  // namespace bandana::audit
