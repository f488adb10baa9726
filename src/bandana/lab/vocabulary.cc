#include "bandana/lab/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/bandit/net.h"
#include "bandana/core/status.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/option_makers.h"

namespace bandana::lab {
namespace {

using namespace options;  // NOLINT(google-build-using-namespace)

// Of the whole graph, or of its components.
Condition InTopology(const std::vector<std::string>& shapes) {
  return Either(When("federation.topology", shapes), When("federation.component_topology", shapes));
}

std::vector<std::string> NamesWhere(bool Algorithm::* is) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : Algorithms()) {
    if (algorithm.*is) names.push_back(algorithm.name);
  }
  return names;
}

// What bandana reproduce p5-tuning finds.
constexpr double kSgdStep = 3;
constexpr double kSgdDelay = 1;
constexpr double kGlocStep = 0.3;
constexpr double kUcbBonus = 0.003;
constexpr double kOlsShift = 2;

std::vector<Option> MakeVocabulary() {
  const auto finite = When("environment.action_set", {"finite"});
  const auto infinite = When("environment.action_set", {"ball", "sphere", "box"});
  const auto drawn =
      When("environment.contexts", {"sphere", "orthant", "gaussian", "clusters", "gap", "probe", "margin"});
  const auto contextual = When("environment.kind", {"contextual-linear"});
  const auto gaussian_reward = When("environment.reward", {"gaussian"});
  const auto dp_dpe = When("algorithm.name", {"dp-dpe"});
  const auto batched = When("algorithm.name", {"private-elimination"});
  const auto elimination = When("algorithm.name", NamesWhere(&Algorithm::elimination));
  const auto federated = When("algorithm.name", NamesWhere(&Algorithm::federated));
  const auto peers = When("algorithm.name", {"fed-ucb-p2p"});
  const auto arms = When("algorithm.name", NamesWhere(&Algorithm::arms));
  // A new user every round, who has a context of its own (P5).
  const auto users = Either(When("algorithm.name", NamesWhere(&Algorithm::users)),
                            Both(When("algorithm.name", {"lin-ucb"}),
                                 When("environment.kind", {"contextual-linear", "glm", "replay"})));
  const auto replay = When("environment.kind", {"replay"});
  const auto log_file = When("environment.log", {"obp"});
  const auto lending = When("environment.log", {"auto-lending"});
  const auto multi = When("environment.parameters", {"multi"});
  const auto own_law = Both(users, When("environment.link", {"logistic", "probit", "poisson"}));
  const auto greedy = When("algorithm.name", {"ldp-sgd", "ldp-ols"});
  const auto sgd = When("algorithm.name", {"ldp-sgd"});
  const auto gloc = When("algorithm.name", {"ldp-gloc"});
  const auto ucb = Both(users, When("algorithm.name", {"ldp-ucb", "ldp-gloc", "lin-ucb"}));
  const auto by_policies = Both(contextual, Both(Not(federated), Not(users)));
  const auto mab = When("environment.kind", {"mab"});
  const auto cdp = When("algorithm.name", {"cdp-mab"});
  const auto ddp = When("algorithm.name", {"ddp-mab"});
  const auto hdp = When("algorithm.name", {"hdp-mab"});
  const auto rounds_of_arms = Either(Either(cdp, ddp), Either(hdp, When("algorithm.name", {"single-mab"})));
  const auto networked = Either(ddp, hdp);
  const auto gap = When("environment.contexts", {"gap"});
  const auto growing = When("algorithm.clients", {"growing"});
  const auto alone = When("privacy.model", {"central", "local"});  // without a shuffler
  const auto shuffled = When("privacy.model", {"shuffle"});
  const auto silos = When("privacy.model", {"silo", "peer"});
  const auto is_private = Either(silos, Either(alone, shuffled));
  const auto shuffle_sum = Both(shuffled, When("privacy.shuffle", {"sum"}));
  std::vector<Option> options = {
      Text("name", "a text", "title of the report; the file's name if not given", Always),
      Integer("horizon", 1, std::nullopt, "rounds T"),
      Integer("seed", 0, std::int64_t{1}, "of everything random in the run"),
      Integer("replicates", 1, std::int64_t{1}, "independent runs of each point, on paired instances"),
      {"checkpoints",
       OptionType::kCheckpoints,
       Value(std::string("log")),
       {},
       "\"log\", a count >= 1, or an ascending list of rounds from 1 to the horizon",
       nullptr,
       "rounds at which results are written: log-spaced, so many evenly spaced, or these",
       Always},

      Choice(
          "environment.kind", {"linear", "glm", "contextual-linear", "mab", "replay"}, "linear",
          "mean reward <theta, x> of an action x; that through a link; of the actions of a client's own "
          "context, whose distribution is known; arms with a mean each; or what a log has (ldp algorithms, "
          "lin-ucb and thompson-sampling)"),
      Choice("environment.log", {"obp", "auto-lending"}, "obp",
             "a file with the columns of the Open Bandit Pipeline (context_0, ..., action, reward, pscore), "
             "whose rounds count where a learner chooses what it has; or applications for car loans (P5, "
             "Appendix G), which a logistic regression answers",
             replay),
      Choice(
          "environment.link", {"identity", "logistic", "probit", "poisson"}, "logistic",
          "mean reward mu of s = <theta, x>: s; 1 / (1 + exp(-s)); the normal distribution function; or "
          "E min(N, B), N Poisson of mean exp(s), B the reward_bound (ldp algorithms alone). With logistic "
          "and probit rewards are bernoulli, client_sd is 0",
          When("environment.kind", {"glm", "replay"})),
      Except(Choice("environment.parameters", {"single", "multi"}, "single",
                    "one theta, and a context for each arm; or one context, and a theta for each arm. Of a "
                    "log, single takes the products of context and action_context",
                    users),
             {log_file, Value(std::string("multi"))}),
      Choice(
          "environment.action_set", {"finite", "ball", "sphere", "box"}, "finite",
          "drawn or read; or all of the unit ball, the unit sphere, or the cube of side 2/sqrt(d), of which "
          "a net is played (algorithm.net) and whose optimum regret is measured against",
          Both(When("environment.kind", {"linear", "glm"}), Not(users))),
      Choice(
          "environment.contexts",
          {"sphere", "orthant", "gaussian", "clusters", "gap", "probe", "margin", "file"}, "sphere",
          "how actions, or those of every context, are drawn: on the unit sphere, on its non-negative part "
          "(theta too; linear alone), normal, around two centres (contextual-linear alone), with one that "
          "stands out by a gap (P3, Section 4.4; federated algorithms alone), as a stream that gives one "
          "record away to who sees when agents synchronise (fed-ucb alone), two arms with a margin (P5's "
          "Assumption 4; ldp algorithms alone), or read",
          Either(Both(users, Not(replay)), Either(finite, contextual))),
      Number(
          "environment.margin", [](double v) { return v >= 0.01 && v <= 100; }, "a number in [0.01, 100]",
          1.0, "beta: the gap between two arms is at most h with a probability that grows as h^beta",
          When("environment.contexts", {"margin"})),
      Except(Text("environment.file", "a path, relative to the spec",
                  "actions, one a line, comma-separated; contextual-linear: contexts, one a line, action by "
                  "action; replay: the log; auto-lending without one: a synthetic twin of it",
                  Either(When("environment.contexts", {"file"}), replay)),
             {lending, Value(std::string())}),
      Except(Text("environment.action_context", "a path, relative to the spec",
                  "features of the log's actions, an action a line (action_context_0, ...)", log_file),
             {log_file, Value(std::string())}),
      Except(Text("environment.ignore", "names of columns, with commas between",
                  "further columns that the log, or its actions' file, may have", log_file),
             {log_file, Value(std::string())}),
      Choice("environment.evaluation", {"replay", "doubly-robust"}, "replay",
             "value is what the learner earned a round while it learned, in rounds that count; or what its "
             "greedy policy of the moment, learned from the first half of the log, earns in the other half",
             log_file),
      Choice("environment.payoff", {"acceptance", "revenue"}, "acceptance",
             "reward of a price: 1 if the applicant accepts, so that the lowest price is best; or then the "
             "price, as a share of the highest, whose mean no link of <theta, x> is",
             lending),
      Integer("environment.loans", 1, std::int64_t{20'000}, "applications in the synthetic twin",
              Both(lending, When("environment.file", {""}))),
      Integer("environment.dimension", 1, std::nullopt, "d", Either(drawn, Either(infinite, contextual))),
      Option{"environment.means",
             OptionType::kNumbersOrAuto,
             Value(std::string("auto")),
             {},
             "\"auto\" or a list of numbers in [0, 1]",
             [](double v) { return v >= 0 && v <= 1; },
             "mean reward of each arm, over all agents; auto: drawn uniformly from [0, 1]",
             mab},
      Except(Integer("environment.actions", 1, std::nullopt,
                     "number of actions k, of arms K, or K of one context; auto-lending: of prices",
                     Either(Either(drawn, Either(contextual, replay)),
                            Both(mab, When("environment.means", {"auto"})))),
             {lending, std::int64_t{25}}),
      IntegerOrAuto(
          "environment.policies", 1,
          "parameters theta_j to play by, of which g(theta_j) are the actions of the linear bandit; auto: "
          "256 in the plane, 4096 above",
          by_policies),
      Integer("environment.context_samples", 0, std::int64_t{0},
              "contexts by which the learner knows their distribution, with what that leaves open in its "
              "widths; 0: "
              "exactly",
              by_policies),
      Except(Number(
                 "environment.gap", [](double v) { return v >= 0 && v <= 1; },
                 "a number in [0, 0.3]; in [0, 1] with kind = \"mab\"", 0.1,
                 "by how much the best arm's mean, in [0.6 + gap, 0.7 + gap], is above the others', in [0.5, "
                 "0.6]; "
                 "mab: at least, of means that are drawn",
                 Either(gap, Both(mab, When("environment.means", {"auto"})))),
             {mab, 0.0}),
      Number(
          "environment.heterogeneous", [](double v) { return v >= 0 && v <= 1; }, "a number in [0, 1]", 0.0,
          "how far agents' own means are from mu, their average: this times min(mu, 1 - mu) for the farthest",
          mab),
      Choice("environment.world", {"a", "b"}, "a",
             "the neighbour: agent 1's first record is there, or it is 0",
             When("environment.contexts", {"probe"})),
      Choice("environment.precision", {"double", "float"}, "double",
             "of decision sets and of what is computed with them", Both(federated, Not(mab))),
      Number(
          "environment.theta_norm", [](double v) { return v > 0 && v <= 1; }, "a number in (0, 1]", 1.0,
          "norm of theta", Both(Not(replay), Both(Not(gap), Not(mab)))),
      Number("environment.theta_bound", Positive, "\"auto\" or a finite number > 0", "auto",
             "radius of the ball in which learners look for theta; auto: 1, auto-lending: the norm of the "
             "regression's",
             replay),
      Except(Choice("environment.reward", {"gaussian", "rademacher", "bernoulli", "uniform"}, "gaussian",
                    "law of a reward given its mean", Both(Not(own_law), Not(replay))),
             {mab, Value(std::string("bernoulli"))}),
      Except(Number("environment.reward_sd", NonNegative, "a finite number >= 0", 1.0,
                    "standard deviation of a reward", Both(gaussian_reward, Not(mab))),
             {users, 0.1}),
      Number(
          "environment.reward_bound", [](double v) { return v >= 1 && std::isfinite(v); },
          "\"auto\" or a finite number >= 1", "auto",
          "B, to which a client clips its average; auto: an interval of each phase's own, chosen for its "
          "noise (1 + 3 spreads under width = paper), or 1 under calibration = paper. With ldp algorithms "
          "c_r, "
          "to which a user clips its reward; auto: the largest mean and 3 spreads; poisson: a whole number, "
          "auto: 5",
          Either(Either(Both(gaussian_reward, Not(mab)), When("environment.link", {"poisson"})),
                 Both(replay, When("environment.link", {"identity"})))),
      Number("environment.context_bound", Positive, "\"auto\" or a finite number > 0", "auto",
             "C_B, to which a user shortens its context before anything is sent; auto: 1, or with normal "
             "contexts the length that a few in a hundred exceed",
             users),
      Number("environment.client_sd", NonNegative, "a finite number >= 0", 0.0,
             "spread sigma of the clients: theta_u = theta + N(0, sigma^2 I)",
             Both(When("environment.kind", {"linear", "glm"}), Not(users))),
      IntegerOrAuto("environment.population", 1,
                    "clients there are; each takes part at most once; auto: 100000, or the horizon where "
                    "every round has a new client",
                    Both(Both(Not(mab), Not(users)), Both(Not(federated), Not(arms)))),

      Choice("algorithm.name", AlgorithmNames(), std::nullopt, "see: bandana list algorithms"),
      Choice("algorithm.clients", {"growing", "fixed"}, "growing",
             "clients a phase: ceil(2^(alpha l)), or as many", dp_dpe),
      IntegerOrAuto("algorithm.fixed_clients", 1,
                    "clients a phase; auto: as many reports in all as the growing schedule of that alpha",
                    When("algorithm.clients", {"fixed"})),
      Number("algorithm.alpha", Positive, "a finite number > 0", 0.8, "growth of the clients",
             Either(growing, When("algorithm.fixed_clients", {"auto"}))),
      Number("algorithm.beta", Probability, "\"auto\" or a number in (0, 1)", "auto",
             "level of one confidence bound; auto: 1/(k T); lin-ucb: of all of them, auto: 1/T",
             Either(elimination, Both(When("algorithm.name", {"lin-ucb"}), Not(users)))),
      Choice("algorithm.report", {"averages", "estimate"}, "averages",
             "what a client sends: its average reward of each action that was played, or its own estimate of "
             "theta, which has fewer numbers (models none, central, local; Gaussian noise; exact widths)",
             dp_dpe),
      Choice("algorithm.width", {"exact", "paper"}, "exact", "confidence width: a pair's own, or the paper's",
             Either(elimination, Either(federated, rounds_of_arms))),
      Boolean("algorithm.warm_start", false,
              "whether a phase's design starts from the one before; saves steps and widens the support",
              elimination),
      Boolean("algorithm.core_set", true,
              "whether a batch plays a few actions that span the rest, or all of them alike", batched),

      Choice("algorithm.net", {"auto", "none", "sampled"}, "auto",
             "finitely many actions for many: auto covers an infinite set and leaves a finite one as it is; "
             "sampled thins out a finite set, or draws from an infinite one",
             Both(Not(users), Both(Not(federated), Not(arms)))),
      Number(
          "algorithm.net_radius", [](double v) { return v > 0 && v <= kMostNetRadius; },
          "\"auto\" or a number in (0, sqrt(2)]", "auto",
          "every action has one of the net so near (P2: 1/T); auto: the largest radius that costs a regret "
          "of "
          "at "
          "most 1 in all, or the smallest whose net has 2^22 numbers; sampled: 1/T",
          Either(Both(infinite, When("algorithm.net", {"auto"})), When("algorithm.net", {"sampled"}))),
      Integer("algorithm.net_samples", 1, std::int64_t{10'000}, "draws from an infinite set",
              Both(infinite, When("algorithm.net", {"sampled"}))),

      Choice(
          "algorithm.sync", {"every", "batch", "mlogt", "m15", "doubling", "released", "determinant"},
          "mlogt",
          "when agents release: every round; every batch rounds; log2 T times, or sqrt(M) times, at rounds "
          "T (k/(n+1))^2; after rounds 1, 2, 4, ...; when what released sums foretell has grown by its "
          "share; or "
          "when some agent's own data have grown enough, as in the paper, which leaks",
          federated),
      Integer("algorithm.batch", 1, std::nullopt, "rounds between two synchronisations",
              When("algorithm.sync", {"batch"})),
      Integer(
          "algorithm.most_syncs", 0, std::int64_t{0},
          "how many synchronisations the noise is set for; 0: one every round, whoever asks (P3, Remark 4)",
          When("algorithm.sync", {"determinant"})),
      Choice("algorithm.local", {"released", "raw"}, "released",
             "what an agent decides by between synchronisations: what all know, or its own records since, "
             "too, as "
             "printed: the claim is then for logged streams alone; with arms: what it pulls while messages "
             "are on their way, "
             "which whoever sees its actions then learns from",
             Either(federated, networked)),
      Choice("algorithm.prefix_sum", {"auto", "tree", "honaker", "toeplitz"}, "auto",
             "how running sums are released; auto: the least noise", federated),
      Choice("algorithm.shift", {"group", "agent"}, "group",
             "what keeps the Gram matrix positive definite: one constant for the sum, or one for every "
             "agent, as in "
             "the paper",
             federated),
      Except(
          Number("algorithm.failure", Probability, "\"auto\" or a number in (0, 1)", 0.05,
                 "alpha: probability that some confidence set of the run fails; auto: 1/T, 0.05 for fed-ucb",
                 Either(federated, rounds_of_arms)),
          {arms, Value(std::string("auto"))}),
      Integer("algorithm.gamma", 1, std::int64_t{1},
              "time to live of messages, in hops; estimators that take turns", peers),

      Number(
          "algorithm.participation", [](double v) { return v > 0 && v <= 1; }, "a number in (0, 1]", 1.0,
          "p: share of the agents that report in a round", cdp),
      IntegerOrAuto("algorithm.rounds", 1, "R: rounds of communication at most; auto: as many as there are",
                    rounds_of_arms),
      Option{"algorithm.gap",
             OptionType::kNumberOrChoice,
             Value(std::string("auto")),
             {"auto", "known"},
             "\"auto\", \"known\", or a number in (0, 1]",
             [](double v) { return v > 0 && v <= 1; },
             "smallest gap, by which R rounds are spread; auto: spread over all gaps that the horizon can "
             "tell; known: "
             "the instance's own, which only a simulation has",
             Both(rounds_of_arms, Not(When("algorithm.rounds", {"auto"})))},
      Choice("algorithm.protocol", {"gis", "flooding", "gossip"}, "gis",
             "how peers come to hold everybody's sums: told, asked and sent (P4's GIS); sent to all; or to "
             "one drawn by a "
             "public coin",
             ddp),
      Within(
          Integer("algorithm.slack", 0, std::int64_t{0},
                  "slots of a round beyond what the graph takes, for ways that losses have made longer", ddp),
          0, 1'000'000),
      Choice("algorithm.aggregation", {"weighted", "unweighted"}, "weighted",
             "components count by their agents, or all alike, as in the paper", hdp),
      Choice(
          "algorithm.cost_rule", {"paths", "edges"}, "paths",
          "the paper's cost of a component: the sum of ways to its sink (Theorem 4), or its edges (Fig. 11)",
          hdp),

      Except(
          Number("algorithm.step", Positive, "a finite number > 0", kSgdStep,
                 "of SGD: the n-th is this times d / (zeta n), zeta the link's smallest slope; of ldp-gloc: "
                 "this / sqrt(T). Defaults are of: bandana reproduce p5-tuning",
                 Either(sgd, gloc)),
          {gloc, kGlocStep}),
      Number("algorithm.delay", NonNegative, "a finite number >= 0", kSgdDelay,
             "steps begin this times as late as noise takes to move theta across its ball: n_0 = delay (step "
             "d l / "
             "zeta)^2, l the size of a message's noise; 0: at n = 1, as printed",
             sgd),
      Option{
          "algorithm.average",
          OptionType::kNumberOrChoice,
          Value(std::string("none")),
          {"none"},
          "\"none\" or a number in [0, 100]",
          [](double v) { return v >= 0 && v <= 100; },
          "users choose by a mean of the iterates, of weights that grow as n to this; none: by the last one, "
          "as printed",
          sgd},
      Except(
          Option{
              "algorithm.gram_shift",
              OptionType::kNumberOrChoice,
              Value(kOlsShift),
              {"paper"},
              "\"paper\" or a finite number >= 0",
              NonNegative,
              "what keeps a noisy Gram matrix positive definite: this times the size of the noise's largest "
              "eigenvalue; paper: Theorem 3.1's",
              Both(users, Not(sgd))},
          {When("algorithm.name", {"ldp-ucb", "ldp-gloc"}), Value(std::string("paper"))}),
      Except(Number("algorithm.bonus", NonNegative, "a finite number >= 0", kUcbBonus,
                    "optimism: this times the width that its authors give", ucb),
             {Not(When("algorithm.name", {"ldp-ucb"})), 1.0}),
      Number("algorithm.spread", NonNegative, "a finite number >= 0", 1.0,
             "of the thetas drawn, in standard deviations of a reward",
             When("algorithm.name", {"thompson-sampling"})),
      Number(
          "algorithm.lazy", [](double v) { return v >= 0 && v <= 1; }, "a number in [0, 1]", 0.001,
          "estimates are solved for again when there are this share more messages; 0: after every one",
          Both(users, Not(sgd))),
      Number("algorithm.reward_weight", Positive, "a finite number > 0", 1.0,
             "of the reward beside the context in one release: more of it takes noise off r x and puts it on "
             "x x'",
             Both(users, Not(sgd))),
      IntegerOrAuto(
          "algorithm.warm_up", 1,
          "s_0: pulls of each arm before contexts decide; auto: 2 T^(2/3) / K, at most a tenth of the "
          "horizon in all",
          Both(users, multi)),
      Number("algorithm.elimination_gap", Positive, "a finite number > 0", 1.0,
             "h: arms that are half of it below the best after the warm-up are out (equation (7))",
             Both(greedy, multi)),
      Choice("algorithm.randomizer", {"privunit", "duchi"}, "privunit", "of gradients in the l2 ball", sgd),

      Integer("federation.agents", 1, std::nullopt, "M", Either(federated, arms)),
      ListOrAuto("federation.components", OptionType::kIntegersOrAuto, 1,
                 "sizes of the components, which add up to the agents; auto: those that the graph has", hdp),
      Choice("federation.topology",
             {"complete", "star", "multi-star", "ring", "line", "grid", "regular", "erdos-renyi",
              "watts-strogatz", "barabasi-albert", "file"},
             "complete", "who is whose neighbour", Either(peers, ddp)),
      Choice("federation.component_topology",
             {"complete", "star", "multi-star", "ring", "line", "grid", "regular", "erdos-renyi",
              "watts-strogatz", "barabasi-albert", "file"},
             "complete",
             "who is whose neighbour inside a component; file: all of them, with components = auto", hdp),
      Integer("federation.degree", 1, std::int64_t{4},
              "neighbours of a node, edges that a new one brings, or hubs of the multi-star",
              InTopology({"multi-star", "regular", "watts-strogatz", "barabasi-albert"})),
      Number(
          "federation.edge_probability", [](double v) { return v >= 0 && v <= 1; }, "a number in [0, 1]", 0.2,
          "that a pair is joined, or that an edge is moved", InTopology({"erdos-renyi", "watts-strogatz"})),
      Text("federation.file", "a path, relative to the spec", "edges, two node numbers a line",
           InTopology({"file"})),
      Number("federation.cost_server", NonNegative, "a finite number >= 0", 25.0,
             "c1: of a link between an agent and the server", Either(cdp, hdp)),
      Number("federation.cost_peer", NonNegative, "a finite number >= 0", 1.0, "c2: of a link between agents",
             networked),
      Number(
          "federation.dropout", [](double v) { return v >= 0 && v < 1; }, "a number in [0, 1)", 0.0,
          "probability that nothing an agent sends in a round gets through", Either(cdp, networked)),
      Option{"federation.failures",
             OptionType::kText,
             Value(std::string("none")),
             {},
             "\"none\", or some of \"agent 3 @ 2\", \"link 4-5 @ 1\", \"miss 7 @ 3\", with commas between",
             nullptr,
             "what goes wrong: agent 3 is gone after round 2; the link is cut after round 1 (0: the server); "
             "what 7 sends "
             "in round 3 is lost",
             Either(cdp, networked)},
      ListOrAuto("federation.paces", OptionType::kIntegersOrAuto, 1,
                 "agents play every pace-th round and take these paces in turn; auto: every round",
                 federated),

      Choice("privacy.model", {"none", "central", "local", "shuffle", "silo", "peer"}, std::nullopt,
             "who is trusted: everyone, the server, nobody, a shuffler between, each agent with its own "
             "users, or the "
             "same without a controller"),
      Choice("privacy.noise", {"gaussian", "laplace"}, "gaussian",
             "law of the noise; Laplace noise gives pure privacy, delta = 0", Both(alone, Not(users))),
      Choice("privacy.out_of_range", {"clip", "zero"}, "clip",
             "what a user whose context or reward is outside its bounds sends: both brought to them, or a "
             "privatized (0, 0)",
             users),
      Choice(
          "privacy.slots", {"full", "half", "split"}, "full",
          "epsilon of each arm's part of a message: all of it, half as in the paper, or a K-th. All of it is "
          "enough: docs/proofs/synthetic-slots.md",
          Both(users, Both(multi, is_private))),
      Choice("privacy.shuffle", {"sum", "amplified"}, "sum",
             "the shuffler adds up noisy bits, or permutes reports with local noise",
             Both(shuffled, Not(federated))),
      Number("privacy.epsilon", Positive, "a finite number > 0", std::nullopt, "budget of one client",
             is_private),
      Number("privacy.delta", Probability, "a number in (0, 1)", std::nullopt, "budget of one client",
             Either(Both(silos, Not(arms)),
                    Either(shuffled,
                           Both(alone, Either(When("privacy.noise", {"gaussian"}), Both(users, Not(sgd))))))),
      ListOrAuto("privacy.budgets", OptionType::kNumbersOrAuto, 0,
                 "epsilons that the agents take in turn; auto: privacy.epsilon for all",
                 Both(federated, is_private)),
      Choice("privacy.calibration", {"tight", "paper"}, "tight",
             "the least noise provable, or the paper's formula", is_private),
      Choice("privacy.sampler", {"exact", "fast"}, "fast",
             "noise by integer arithmetic (the service takes this alone), or in floating point", is_private),
      Choice("privacy.transport", {"bits", "counts"}, "bits",
             "single bits that the shuffler cannot read, or counts that it adds up and is trusted with",
             shuffle_sum),
      Number(
          "privacy.honest_fraction", [](double v) { return v > 0 && v <= 1; }, "a number in (0, 1]", 1.0,
          "share of a phase's clients who follow the protocol: only they hide others", shuffled),
      Number(
          "privacy.loss", [](double v) { return v > 0 && v <= 10; }, "a number in (0, 10]", 0.1,
          "noise allowed above a trusted server's, as a share of its standard deviation, for fewer bits",
          Both(shuffle_sum, When("privacy.calibration", {"tight"}))),

      Text("service.listen", "ADDRESS:PORT on this machine", "where the server, or the shuffler, listens",
           Never),
      Text("service.server", "ADDRESS:PORT", "where agents and the shuffler find the server", Never),
      Text("service.shuffler", "ADDRESS:PORT", "where agents find the shuffler", Never),
      Text("service.ledger", "a path, from the working folder",
           "where a role keeps what it charges and draws, over restarts; in memory if not given", Never),
      Number("service.deployment_epsilon", Positive, "a finite number > 0", std::nullopt,
             "with deployment_delta: the most that all releases of a ledger may add up to", Never),
      Number(
          "service.deployment_delta", [](double v) { return v >= 0 && v < 1; }, "a number in [0, 1)",
          std::nullopt, "see deployment_epsilon", Never),
      Integer("service.node", 1, std::nullopt, "which peer, or which agent with arms, this process is",
              Never),
      Text("service.peers", "ADDRESS:PORT, ADDRESS:PORT, ...: of node 1, node 2, ...",
           "where peers, and agents with arms that have neighbours, listen", Never),
      Text("service.clients", "FIRST-LAST, for example 1-500", "the clients that an agent holds", Never),
  };
  for (Option& option : options) {
    if (option.type == OptionType::kNumber && option.accepted.starts_with("\"auto\"")) {
      option.type = OptionType::kNumberOrAuto;
    }
  }
  return options;
}

}  // namespace

std::span<const Option> Vocabulary() {
  static const std::vector<Option> options = MakeVocabulary();
  return options;
}

const Option* FindOption(std::string_view key) {
  const std::span<const Option> options = Vocabulary();
  const auto it = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.key == key; });
  return it == options.end() ? nullptr : &*it;
}

std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys;
  for (const Option& option : Vocabulary()) keys.push_back(option.key);
  return keys;
}

}  // namespace bandana::lab
