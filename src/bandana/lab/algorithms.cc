#include "bandana/lab/algorithms.h"

#include <algorithm>
#include <memory>

#include "bandana/algorithms/dp_dpe.h"
#include "bandana/algorithms/pe.h"
#include "bandana/algorithms/private_elimination.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/lab/contexts.h"
#include "bandana/lab/rewards.h"

namespace bandana::lab {
namespace {

constexpr Count kWatchers = 100'000;  // P1's population

Width WidthOf(const Settings& settings) {
  return settings.Text("algorithm.width") == "paper" ? Width::kPaper : Width::kExact;
}

DpDpeParams MakeDpDpeParams(const Settings& settings) {
  const bool fixed = settings.Text("algorithm.clients") == "fixed";
  return {.horizon = settings.Integer("horizon"),
          .alpha = settings.Has("algorithm.alpha") ? settings.Number("algorithm.alpha") : 0,
          .beta = settings.NumberOrAuto("algorithm.beta"),
          .report = settings.Text("algorithm.report") == "estimate" ? ClientReport::kEstimate
                                                                    : ClientReport::kAverages,
          .width = WidthOf(settings),
          .schedule = fixed ? ClientSchedule::kFixed : ClientSchedule::kGrowing,
          .fixed_clients = fixed ? settings.IntegerOrAuto("algorithm.fixed_clients") : std::nullopt,
          .population = PopulationOf(settings),
          .clip = MakeClipRule(settings)};
}

// Which mechanisms have a proof for a client's estimate.
absl::Status CheckReport(const Settings& settings) {
  if (settings.Text("algorithm.report") == "averages") return absl::OkStatus();
  const bool shuffled = settings.Text("privacy.model") == "shuffle";
  const bool laplace = settings.Has("privacy.noise") && settings.Text("privacy.noise") == "laplace";
  if (!shuffled && !laplace) return absl::OkStatus();
  return InvalidOption("algorithm.report", "estimate",
                       "averages; estimate with privacy.model = \"none\", or \"central\" or \"local\" and "
                       "privacy.noise = \"gaussian\"");
}

PeParams MakePeParams(const Settings& settings) {
  return {.horizon = settings.Integer("horizon"),
          .beta = settings.NumberOrAuto("algorithm.beta"),
          .width = WidthOf(settings),
          .population = PopulationOf(settings),
          .clip = MakeClipRule(settings)};
}

PrivateEliminationParams MakePrivateEliminationParams(const Settings& settings) {
  return {.horizon = settings.Integer("horizon"),
          .beta = settings.NumberOrAuto("algorithm.beta"),
          .width = WidthOf(settings),
          .core_set = settings.Boolean("algorithm.core_set"),
          .population = PopulationOf(settings),
          .clip = MakeClipRule(settings)};
}

absl::StatusOr<EliminationRules> PaperRules(const Settings& settings, const ActionMatrix& actions) {
  const std::string& name = settings.Text("algorithm.name");
  if (name == "dp-dpe") {
    BANDANA_RETURN_IF_ERROR(CheckReport(settings));
    return DpDpeRules(MakeDpDpeParams(settings), actions);
  }
  if (name == "pe") return PeRules(MakePeParams(settings), actions);
  BANDANA_CHECK(name == "private-elimination");
  return PrivateEliminationRules(MakePrivateEliminationParams(settings), actions);
}

}  // namespace

std::span<const Algorithm> Algorithms() {
  static const std::vector<Algorithm> algorithms = {
      {.name = "dp-dpe",
       .summary = "P1, Algorithm 1: distributed phased elimination; models none, central, local, shuffle",
       .client_a_round = false},
      {.name = "pe", .summary = "P1, Section VII-B: phased elimination with a new client every round"},
      {.name = "private-elimination",
       .summary = "P2, Algorithms 1-4 (central, local, shuffle amplified, shuffle sum): batched elimination"},
      {.name = "lin-ucb",
       .summary = "P1, Section VII-B: LinUCB with a new client every round; with contexts P5's baseline; "
                  "model none",
       .elimination = false},
      {.name = "fed-ucb",
       .summary =
           "P3, Algorithm 1: agents with contexts of their own and a controller; models none, silo, shuffle",
       .elimination = false,
       .federated = true},
      {.name = "fed-ucb-p2p",
       .summary = "P3, Algorithm 3: the same among peers on a graph; models none, peer",
       .elimination = false,
       .federated = true},
      {.name = "private-lin-ucb",
       .summary =
           "each agent by itself (Shariff and Sheffet 2018; LinUCB under model none); models none, silo",
       .elimination = false,
       .federated = true},
      {.name = "cdp-mab",
       .summary = "P4, Algorithm 1: agents with arms in common and a server; models none, silo",
       .elimination = false,
       .arms = true},
      {.name = "ddp-mab",
       .summary =
           "P4, Algorithm 3: the same among peers on a graph, by GIS, flooding or gossip; models none, peer",
       .elimination = false,
       .arms = true},
      {.name = "hdp-mab",
       .summary = "P4, Algorithm 5: components of agents, whose sinks report to a server; models none, silo",
       .elimination = false,
       .arms = true},
      {.name = "single-mab",
       .summary = "P4: every agent eliminates arms by itself and nobody talks; models none, silo",
       .elimination = false,
       .arms = true},
      {.name = "ucb1",
       .summary = "every agent by itself (Auer, Cesa-Bianchi, Fischer 2002); model none",
       .elimination = false,
       .arms = true},
      {.name = "successive-elimination",
       .summary = "every agent by itself (Even-Dar, Mannor, Mansour 2006); model none",
       .elimination = false,
       .arms = true},
      {.name = "ldp-sgd",
       .summary =
           "P5, Algorithms 1 and 2 by stochastic gradients: a new user every round; models none, local",
       .elimination = false,
       .users = true},
      {.name = "ldp-ols",
       .summary = "P5, Algorithms 1 and 2 by least squares; models none, local",
       .elimination = false,
       .users = true},
      {.name = "ldp-ucb",
       .summary = "LinUCB with local privacy (Zheng et al. 2020), P5's baseline; models none, local",
       .elimination = false,
       .users = true},
      {.name = "ldp-gloc",
       .summary =
           "online-to-confidence-set conversion with local privacy (Zheng et al. 2020), P5's baseline; "
           "models none, local",
       .elimination = false,
       .users = true},
      {.name = "thompson-sampling",
       .summary = "thetas drawn by every user (Agrawal and Goyal 2013); model none",
       .elimination = false,
       .users = true},
  };
  return algorithms;
}

const Algorithm& AlgorithmOf(const Settings& settings) {
  const std::span<const Algorithm> algorithms = Algorithms();
  const auto it = std::find_if(algorithms.begin(), algorithms.end(), [&](const Algorithm& algorithm) {
    return algorithm.name == settings.Text("algorithm.name");
  });
  BANDANA_CHECK(it != algorithms.end());
  return *it;
}

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : Algorithms()) names.push_back(algorithm.name);
  return names;
}

bool HasUsers(const Settings& settings) {
  if (AlgorithmOf(settings).users) return true;
  const std::string& kind = settings.Text("environment.kind");
  return settings.Text("algorithm.name") == "lin-ucb" &&
         (kind == "contextual-linear" || kind == "glm" || kind == "replay");
}

Count PopulationOf(const Settings& settings) {
  const std::optional<std::int64_t> given = settings.IntegerOrAuto("environment.population");
  if (given.has_value()) return *given;
  return AlgorithmOf(settings).client_a_round ? settings.Integer("horizon") : kWatchers;
}

absl::Status CheckContexts(const Settings& settings) {
  if (!HasContexts(settings)) return absl::OkStatus();
  if (!AlgorithmOf(settings).client_a_round) {
    return InvalidOption(
        "algorithm.name", settings.Text("algorithm.name"),
        "with contexts, an algorithm with a new client every round: private-elimination, pe");
  }
  if (settings.Text("environment.reward") == "gaussian") {
    return InvalidOption("environment.reward", "gaussian",
                         "with contexts, rewards in [-1, 1]: rademacher, bernoulli, uniform");
  }
  return absl::OkStatus();
}

namespace {

// LinUCB learns from every single reward and hides none of it.
absl::Status CheckLinUcb(const Settings& settings, const ActionMatrix& actions) {
  if (const std::string& model = settings.Text("privacy.model"); model != "none") {
    return InvalidOption("privacy.model", model, "none with algorithm.name = \"lin-ucb\"");
  }
  if (LinkOf(settings) != Link::kIdentity || HasContexts(settings)) {
    return InvalidOption("environment.kind", settings.Text("environment.kind"),
                         "linear with algorithm.name = \"lin-ucb\"");
  }
  return ValidateLinUcb(MakeLinUcbParams(settings), actions);
}

}  // namespace

absl::StatusOr<EliminationRules> MakeRules(const Settings& settings, const ActionMatrix& actions) {
  if (!AlgorithmOf(settings).elimination) {
    return InvalidOption("algorithm.name", settings.Text("algorithm.name"), "an elimination algorithm here");
  }
  BANDANA_RETURN_IF_ERROR(CheckContexts(settings));
  BANDANA_ASSIGN_OR_RETURN(EliminationRules rules, PaperRules(settings, actions));
  rules.warm_start = settings.Boolean("algorithm.warm_start");
  rules.link = LinkOf(settings);
  if (HasContexts(settings)) {
    BANDANA_ASSIGN_OR_RETURN(const auto policies, MakePolicies(settings));
    rules.misspecification = policies->misspecification();
  }
  return rules;
}

LinUcbParams MakeLinUcbParams(const Settings& settings) {
  return {.horizon = settings.Integer("horizon"),
          .beta = settings.NumberOrAuto("algorithm.beta"),
          .population = PopulationOf(settings),
          .reward = MakeRewardModel(settings),
          .client_sd = settings.Number("environment.client_sd")};
}

absl::Status CheckAlgorithm(const Settings& settings, const ActionMatrix& actions) {
  if (settings.Text("algorithm.name") == "lin-ucb") return CheckLinUcb(settings, actions);
  BANDANA_ASSIGN_OR_RETURN(EliminationRules rules, MakeRules(settings, actions));
  return EliminationPolicy::Create(std::move(rules), std::make_shared<const ActionMatrix>(actions)).status();
}

}  // namespace bandana::lab
