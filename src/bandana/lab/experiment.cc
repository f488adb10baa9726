#include "bandana/lab/experiment.h"

#include <algorithm>
#include <utility>

#include "bandana/bandit/contextual_population.h"
#include "bandana/bandit/linear_population.h"
#include "bandana/bandit/net_problem.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/arms.h"
#include "bandana/lab/contexts.h"
#include "bandana/lab/federated.h"
#include "bandana/lab/nets.h"
#include "bandana/lab/replay.h"
#include "bandana/lab/rewards.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/users.h"
#include "bandana/sim/simulator.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

DpGuarantee NominalOf(const Settings& settings) {
  return {settings.Number("privacy.epsilon"), settings.Number("privacy.delta")};
}

Calibration CalibrationOf(const Settings& settings) {
  return settings.Text("privacy.calibration") == "paper" ? Calibration::kPaper : Calibration::kTight;
}

Sampler SamplerOf(const Settings& settings) {
  return settings.Text("privacy.sampler") == "exact" ? Sampler::kExact : Sampler::kFast;
}

absl::StatusOr<LinearProblem> MakeFiniteProblem(const Settings& settings, std::uint32_t replicate) {
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  const double theta_norm = settings.Number("environment.theta_norm");
  const std::string& contexts = settings.Text("environment.contexts");
  if (contexts == "file") {
    BANDANA_ASSIGN_OR_RETURN(ActionMatrix actions, ReadActions(settings.Text("environment.file")));
    absl::StatusOr<LinearProblem> problem =
        LinearProblem::DrawTheta(std::move(actions), theta_norm, seed, replicate);
    if (!problem.ok()) return WithFile(problem.status(), settings.Text("environment.file"));
    return problem;
  }
  if (contexts == "clusters") {
    return InvalidOption("environment.contexts", contexts,
                         "sphere, orthant, gaussian, file for kind = \"linear\"");
  }
  const LinearProblemParams params{.dimension = settings.Integer("environment.dimension"),
                                   .actions = settings.Integer("environment.actions"),
                                   .law = contexts == "orthant"    ? ActionLaw::kOrthant
                                          : contexts == "gaussian" ? ActionLaw::kGaussian
                                                                   : ActionLaw::kSphere,
                                   .theta_norm = theta_norm};
  return LinearProblem::Draw(params, seed, replicate);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LinearProblem>> MakeProblem(const Settings& settings,
                                                                 std::uint32_t replicate) {
  if (LinkOf(settings) == Link::kPoisson) {
    return InvalidOption("environment.link", "poisson",
                         fmt::format("identity, logistic, probit with algorithm.name = \"{}\"",
                                     settings.Text("algorithm.name")));
  }
  if (HasContexts(settings)) {
    BANDANA_ASSIGN_OR_RETURN(const auto problem, MakeContextualProblem(settings, replicate));
    return problem->shared_linear();
  }
  BANDANA_ASSIGN_OR_RETURN(const std::optional<NetChoice> net, NetOf(settings));
  const bool infinite = net.has_value() && net->set.has_value();
  BANDANA_ASSIGN_OR_RETURN(LinearProblem problem, infinite ? MakeNetProblem(settings, *net, replicate)
                                                           : MakeFiniteProblem(settings, replicate));
  if (net.has_value() && !infinite) {
    BANDANA_ASSIGN_OR_RETURN(problem, ThinnedProblem(problem, net->radius));
  }
  return std::make_shared<const LinearProblem>(std::move(problem).Through(LinkOf(settings)));
}

absl::StatusOr<std::shared_ptr<const ActionMatrix>> LearnersActions(
    const Settings& settings, const std::shared_ptr<const LinearProblem>& problem) {
  if (HasContexts(settings)) {
    BANDANA_ASSIGN_OR_RETURN(const auto policies, MakePolicies(settings));
    return std::shared_ptr<const ActionMatrix>(policies, &policies->responses());
  }
  return std::shared_ptr<const ActionMatrix>(problem, &problem->actions());
}

absl::StatusOr<std::unique_ptr<Environment>> MakePopulation(const Settings& settings, std::uint32_t replicate,
                                                            std::shared_ptr<const LinearProblem> problem) {
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  if (HasContexts(settings)) {
    BANDANA_ASSIGN_OR_RETURN(auto contextual, MakeContextualProblem(settings, replicate));
    BANDANA_ASSIGN_OR_RETURN(ContextualPopulation population,
                             ContextualPopulation::Create({.problem = std::move(contextual),
                                                           .reward = MakeRewardModel(settings),
                                                           .size = PopulationOf(settings),
                                                           .seed = seed,
                                                           .replicate = replicate}));
    return std::make_unique<ContextualPopulation>(std::move(population));
  }
  BANDANA_ASSIGN_OR_RETURN(LinearPopulation population,
                           LinearPopulation::Create({.problem = std::move(problem),
                                                     .reward = MakeRewardModel(settings),
                                                     .client_sd = settings.Number("environment.client_sd"),
                                                     .size = PopulationOf(settings),
                                                     .seed = seed,
                                                     .replicate = replicate}));
  return std::make_unique<LinearPopulation>(std::move(population));
}

GaussianParams MakeGaussianParams(const Settings& settings) {
  return {NominalOf(settings), CalibrationOf(settings), SamplerOf(settings)};
}

LaplaceParams MakeLaplaceParams(const Settings& settings) {
  return {settings.Number("privacy.epsilon"), CalibrationOf(settings), SamplerOf(settings)};
}

ShuffleSumMeanParams MakeShuffleSumParams(const Settings& settings) {
  return {.nominal = NominalOf(settings),
          .calibration = CalibrationOf(settings),
          .sampler = SamplerOf(settings),
          .transport = settings.Text("privacy.transport") == "bits" ? Transport::kBits : Transport::kCounts,
          .honest_fraction = settings.Number("privacy.honest_fraction"),
          .loss = settings.Has("privacy.loss") ? settings.Number("privacy.loss") : 1};
}

ShuffledLaplaceMeanParams MakeShuffledLaplaceParams(const Settings& settings) {
  return {.nominal = NominalOf(settings),
          .calibration = CalibrationOf(settings),
          .sampler = SamplerOf(settings),
          .honest_fraction = settings.Number("privacy.honest_fraction"),
          .most_clients = PopulationOf(settings)};
}

absl::StatusOr<std::vector<Claim>> ClaimsOf(const Settings& settings) {
  if (AlgorithmOf(settings).federated) return FederatedClaims(settings);
  if (AlgorithmOf(settings).arms) return ArmsClaims(settings);
  if (HasUsers(settings)) return UsersClaims(settings);
  return WithPrivatizer(settings, [&](const auto& privatizer) -> absl::StatusOr<std::vector<Claim>> {
    if (HasContexts(settings)) return AsJoint(DealtClaims(privatizer));
    return AlgorithmOf(settings).client_a_round ? DealtClaims(privatizer) : privatizer.claims();
  });
}

std::string VoidReason(const Settings& settings) {
  if (AlgorithmOf(settings).federated) return FederatedVoidReason(settings);
  return ReplayVoidReason(settings);
}

absl::Status CheckPoint(const Settings& settings) {
  if (AlgorithmOf(settings).federated) {
    BANDANA_RETURN_IF_ERROR(CheckFederated(settings));
    return ClaimsOf(settings).status();
  }
  if (AlgorithmOf(settings).arms) {
    BANDANA_RETURN_IF_ERROR(CheckArms(settings));
    return ClaimsOf(settings).status();
  }
  if (HasUsers(settings)) {
    BANDANA_RETURN_IF_ERROR(CheckUsers(settings));
    return ClaimsOf(settings).status();
  }
  if (settings.Text("environment.kind") == "replay") {
    return InvalidOption("environment.kind", "replay",
                         fmt::format("another one with algorithm.name = \"{}\"; this is of ldp-sgd, ldp-ols, "
                                     "ldp-ucb, ldp-gloc, lin-ucb, thompson-sampling",
                                     settings.Text("algorithm.name")));
  }
  if (settings.Text("environment.kind") == "mab") {
    return InvalidOption("environment.kind", "mab",
                         fmt::format("another one with algorithm.name = \"{}\"; this is of {}",
                                     settings.Text("algorithm.name"),
                                     "cdp-mab, ddp-mab, hdp-mab, single-mab, ucb1, successive-elimination"));
  }
  for (const char* key : {"environment.contexts", "privacy.model"}) {
    const std::string* word = settings.Has(key) ? &settings.Text(key) : nullptr;
    if (word != nullptr && (*word == "gap" || *word == "probe" || *word == "silo" || *word == "peer")) {
      return InvalidOption(
          key, *word,
          fmt::format("another one with algorithm.name = \"{}\"; this is of fed-ucb, fed-ucb-p2p, "
                      "private-lin-ucb",
                      settings.Text("algorithm.name")));
    }
  }
  BANDANA_RETURN_IF_ERROR(ClaimsOf(settings).status());
  BANDANA_ASSIGN_OR_RETURN(const auto problem, MakeProblem(settings, 0));
  BANDANA_RETURN_IF_ERROR(MakePopulation(settings, 0, problem).status());
  BANDANA_ASSIGN_OR_RETURN(const auto actions, LearnersActions(settings, problem));
  return CheckAlgorithm(settings, *actions);
}

absl::StatusOr<Outcome> RunReplicate(const Settings& settings, std::uint32_t replicate,
                                     const std::atomic<bool>& stop, int threads, bool decisions) {
  if (AlgorithmOf(settings).federated) {
    BANDANA_ASSIGN_OR_RETURN(FederatedOutcome outcome,
                             RunFederated(settings, replicate, threads, decisions, stop));
    return Outcome{std::move(outcome.checkpoints), {}, std::move(outcome.decisions)};
  }
  if (AlgorithmOf(settings).arms) {
    BANDANA_ASSIGN_OR_RETURN(ArmsOutcome outcome, RunArms(settings, replicate, decisions, stop));
    return Outcome{.checkpoints = std::move(outcome.checkpoints), .pulls = std::move(outcome.pulls)};
  }
  if (HasUsers(settings)) {
    BANDANA_ASSIGN_OR_RETURN(std::vector<Checkpoint> checkpoints, RunUsers(settings, replicate, stop));
    return Outcome{.checkpoints = std::move(checkpoints), .phases = {}};
  }
  BANDANA_ASSIGN_OR_RETURN(const auto problem, MakeProblem(settings, replicate));
  BANDANA_ASSIGN_OR_RETURN(const auto population, MakePopulation(settings, replicate, problem));
  BANDANA_ASSIGN_OR_RETURN(const auto actions, LearnersActions(settings, problem));
  Recorder recorder(*problem, Checkpoints(settings));
  const auto simulate = [&]<class Server, class P>(Server& server, const P& privatizer) {
    const sim::SimParams params{.seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                                .replicate = replicate,
                                .topology = TopologyFor<P>(PopulationOf(settings)),
                                .budget_per_client = privatizer.guarantee(),
                                .stop = &stop};
    return sim::Simulator<Server, EliminationClient<P>>::Run(params, server, privatizer, *population,
                                                             recorder);
  };
  if (settings.Text("algorithm.name") == "lin-ucb") {
    BANDANA_RETURN_IF_ERROR(CheckAlgorithm(settings, *actions));
    const NoPrivacyMean bare(Declassify("privacy.model = none"));
    BANDANA_ASSIGN_OR_RETURN(auto server,
                             LinUcbServer<NoPrivacyMean>::Create(MakeLinUcbParams(settings), *actions, bare));
    BANDANA_RETURN_IF_ERROR(simulate(server, bare));
    return Outcome{recorder.checkpoints(), {}, {}};
  }
  return WithPrivatizer(settings, [&]<class P>(const P& privatizer) -> absl::StatusOr<Outcome> {
    BANDANA_ASSIGN_OR_RETURN(
        auto server, EliminationServer<P>::Create(MakeRules(settings, *actions), actions, privatizer));
    BANDANA_RETURN_IF_ERROR(simulate(server, privatizer));
    return Outcome{recorder.checkpoints(), server.policy().history(), {}};
  });
}

}  // namespace bandana::lab
