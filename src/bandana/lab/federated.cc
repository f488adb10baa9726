#include "bandana/lab/federated.h"

#include <cmath>
#include <memory>
#include <utility>

#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/federation/silo_shuffler.h"
#include "bandana/lab/federated_parts.h"
#include "bandana/lab/spec.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/sim/round_simulator.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

struct Run {
  const Settings& settings;
  const FederatedParts& parts;
  const RoundContexts& contexts;
  sim::RoundSimParams params;
  RoundRecorder& recorder;
};

template <class Agent, class Scalar>
absl::Status RunAgents(const Run& run, Node& controller, Node* shuffler,
                       std::vector<std::unique_ptr<Agent>>& agents, NodeId first) {
  BANDANA_RETURN_IF_ERROR(
      (sim::RoundSimulator<Agent, Scalar>::RunStar(run.params, controller, shuffler, agents, first,
                                                   HasTrigger(run.settings), run.contexts, run.recorder)));
  run.recorder.Repair(agents.front()->policy().repairs());
  return absl::OkStatus();
}

// The agents of a group and their controller.
template <class Scalar>
absl::Status RunStar(const Run& run, const std::vector<NodeId>& group) {
  std::vector<std::unique_ptr<FedUcbAgent<RegressionPrefixSum, Scalar>>> agents;
  for (const NodeId agent : group) agents.push_back(run.parts.MakeAgent<Scalar>(agent));
  const auto controller = run.parts.MakeController(group.front());
  return RunAgents<FedUcbAgent<RegressionPrefixSum, Scalar>, Scalar>(run, *controller, nullptr, agents,
                                                                     group.front());
}

// The same with a shuffler between.
template <class Scalar>
absl::Status RunShuffledStar(const Run& run) {
  std::vector<std::unique_ptr<FedUcbAgent<ShuffledRegressionSum, Scalar>>> agents;
  for (const NodeId agent : run.parts.cliques().front()) {
    agents.push_back(run.parts.MakeShuffledAgent<Scalar>(agent));
  }
  const auto controller = run.parts.MakeShuffledController();
  SiloShuffler<ShuffledRegressionSum> shuffler(run.parts.shuffled(), NodeId{1},
                                               static_cast<Count>(agents.size()));
  return RunAgents<FedUcbAgent<ShuffledRegressionSum, Scalar>, Scalar>(run, *controller, &shuffler, agents,
                                                                       NodeId{1});
}

template <class Scalar>
absl::Status RunPeers(const Run& run) {
  using Peer = FederatedParts::Peer<Scalar>;
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::uint32_t i = 1; i <= run.parts.graph().nodes(); ++i) {
    peers.push_back(run.parts.MakePeer<Scalar>(NodeId{i}));
  }
  BANDANA_RETURN_IF_ERROR((sim::RoundSimulator<Peer, Scalar>::RunPeers(run.params, run.parts.graph(), peers,
                                                                       {}, run.contexts, run.recorder)));
  Count repairs = 0;
  for (const auto& peer : peers) repairs += peer->repairs();
  run.recorder.Repair(repairs);
  return absl::OkStatus();
}

template <class Scalar>
absl::Status RunAs(const Run& run) {
  if (IsPeers(run.settings)) return RunPeers<Scalar>(run);
  if (IsShuffled(run.settings)) return RunShuffledStar<Scalar>(run);
  for (const auto& group : run.parts.cliques()) BANDANA_RETURN_IF_ERROR(RunStar<Scalar>(run, group));
  return absl::OkStatus();
}

absl::Status CheckChoices(const Settings& settings) {
  const std::string& name = settings.Text("algorithm.name");
  if (const std::string& kind = settings.Text("environment.kind"); kind != "contextual-linear") {
    return InvalidOption("environment.kind", kind,
                         fmt::format("contextual-linear with algorithm.name = \"{}\"", name));
  }
  if (const std::string& contexts = settings.Text("environment.contexts");
      contexts != "gap" && contexts != "sphere" && contexts != "probe") {
    return InvalidOption("environment.contexts", contexts,
                         fmt::format("gap, sphere, probe with algorithm.name = \"{}\"", name));
  }
  const bool gap = settings.Text("environment.contexts") == "gap";
  if (gap && !(settings.Number("environment.gap") <= 0.3)) {
    return InvalidOption("environment.gap", ToText(*settings.Find("environment.gap")),
                         "a number in [0, 0.3]");
  }
  if (const std::string& reward = settings.Text("environment.reward");
      reward != "bernoulli" && (gap || reward != "rademacher")) {
    return InvalidOption(
        "environment.reward", reward,
        gap ? "bernoulli with contexts = \"gap\"" : "bernoulli, rademacher: rewards must be bounded");
  }
  if (const std::string& reward = settings.Text("environment.reward"); !gap && reward == "bernoulli") {
    return InvalidOption("environment.reward", reward,
                         "rademacher unless contexts = \"gap\": means may be negative");
  }
  if (settings.Text("environment.contexts") == "probe" && name != "fed-ucb") {
    return InvalidOption("environment.contexts", "probe", "gap, sphere unless algorithm.name = \"fed-ucb\"");
  }
  const std::string& model = settings.Text("privacy.model");
  const std::string accepted = IsPeers(settings)   ? "none, peer"
                               : IsAlone(settings) ? "none, silo"
                                                   : "none, silo, shuffle";
  if (accepted.find(model) == std::string::npos) {
    return InvalidOption("privacy.model", model,
                         fmt::format("{} with algorithm.name = \"{}\"", accepted, name));
  }
  if (IsShuffled(settings)) {
    if (HasTrigger(settings)) {
      return InvalidOption("algorithm.sync", "determinant",
                           "a public schedule, or released, with privacy.model = \"shuffle\"");
    }
    if (settings.Text("privacy.calibration") == "paper") {
      return InvalidOption("privacy.calibration", "paper", "tight: the paper has no shuffler");
    }
    if (!std::holds_alternative<std::string>(*settings.Find("privacy.budgets"))) {
      return InvalidOption("privacy.budgets", ToText(*settings.Find("privacy.budgets")),
                           "auto with privacy.model = \"shuffle\": all share the noise");
    }
  }
  if (IsPeers(settings) && settings.Text("algorithm.sync") == "released") {
    return InvalidOption("algorithm.sync", "released",
                         "a schedule that all peers know beforehand, or determinant");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFederated(const Settings& settings) {
  BANDANA_RETURN_IF_ERROR(CheckChoices(settings));
  BANDANA_RETURN_IF_ERROR(MakeRoundContexts(settings, 0).status());
  return FederatedParts::Create(settings).status();
}

std::string FederatedVoidReason(const Settings& settings) {
  if (!IsPrivate(settings) || !HasTrigger(settings)) return "";
  return "no guarantee: synchronisation times depend on unreleased data";
}

absl::StatusOr<std::vector<Claim>> FederatedClaims(const Settings& settings) {
  if (!IsPrivate(settings) || HasTrigger(settings)) return std::vector<Claim>{};
  if (IsShuffled(settings)) {
    BANDANA_ASSIGN_OR_RETURN(const ShuffledRegressionSum shuffled, MakeShuffledPrivatizer(settings));
    return shuffled.claims();
  }
  BANDANA_ASSIGN_OR_RETURN(const auto privatizers, MakePrivatizers(settings));
  const std::vector<double> budgets = BudgetsOf(settings);
  const std::string logged =
      ActsOnRaw(settings)
          ? "; for logged streams alone, whose later records do not depend on earlier ones (local = raw)"
          : "";
  const std::string who = IsPeers(settings)   ? "all other peers, colluding"
                          : IsAlone(settings) ? "all later users of the agent, colluding (joint privacy)"
                                              : "the controller and all other agents, colluding";
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < privatizers.size(); ++i) {
    for (Claim claim : privatizers[i].claims()) {
      claim.adversary = who + logged;
      claim.unit = "one record (x, y) of one agent";
      if (budgets.size() > 1) {
        claim.unit +=
            fmt::format(" (agents {}, {}, ...: epsilon {})", i + 1, i + 1 + budgets.size(), budgets[i]);
      }
      claims.push_back(claim);
    }
  }
  // Whoever meets several agents has a record at each: independent Gaussian releases, of which the squares of
  // the sensitivities over the noise add up.
  const Count agents = AgentsOf(settings);
  if (agents > 1 && !claims.empty()) {
    double squares = 0;
    for (Count i = 0; i < agents; ++i) {
      DpGuarantee each = privatizers[static_cast<std::size_t>(i) % privatizers.size()].guarantee();
      each.epsilon = std::max(each.epsilon, 1e-6);  // the paper's noise may deliver (0, delta)
      BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(each));
      squares += 1 / (multiplier * multiplier);
    }
    Claim composed = claims.front();
    const double delta = settings.Number("privacy.delta");
    composed.guarantee = {GaussianEpsilon(delta, 1 / std::sqrt(squares)), delta};
    composed.unit = fmt::format("one person who has a record at each of the {} agents", agents);
    composed.adversary = "whoever sees the releases of all agents" + logged;
    claims.push_back(composed);
  }
  return claims;
}

absl::StatusOr<FederatedOutcome> RunFederated(const Settings& settings, std::uint32_t replicate, int threads,
                                              bool decisions, const std::atomic<bool>& stop) {
  BANDANA_ASSIGN_OR_RETURN(const RoundContexts contexts, MakeRoundContexts(settings, replicate));
  BANDANA_ASSIGN_OR_RETURN(const auto parts, FederatedParts::Create(settings));
  RoundRecorder recorder(AgentsOf(settings), Checkpoints(settings), decisions);
  const Run run{settings,
                *parts,
                contexts,
                {.seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                 .replicate = replicate,
                 .horizon = settings.Integer("horizon"),
                 .budget_per_silo = parts->budget(),
                 .threads = threads,
                 .stop = &stop},
                recorder};
  BANDANA_RETURN_IF_ERROR(settings.Text("environment.precision") == "float" ? RunAs<float>(run)
                                                                            : RunAs<double>(run));
  return FederatedOutcome{recorder.Checkpoints(), recorder.decisions()};
}

}  // namespace bandana::lab
