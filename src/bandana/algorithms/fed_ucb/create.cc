#include "bandana/algorithms/fed_ucb/create.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "bandana/algorithms/fed_ucb/setup.h"
#include "bandana/core/status.h"
#include "bandana/federation/clique_cover.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// An agent that has a record of a person sees it as it is. So a claim for a person is against the others.
constexpr char kWithoutThisPerson[] = "that have no record of this person";

std::string AdversaryOf(FedUcbForm form, bool for_person) {
  switch (form) {
    case FedUcbForm::kStar:
      return for_person ? fmt::format("the controller and all agents {}, together", kWithoutThisPerson)
                        : "the controller and all other agents, together";
    case FedUcbForm::kAlone:
      // A person who comes again is a later user, and sees an action that depends on its own context.
      return for_person ? "all other users of all agents, together (joint privacy)"
                        : "all later users of the agent, together (joint privacy)";
    case FedUcbForm::kPeers:
      return for_person ? fmt::format("all peers {}, together", kWithoutThisPerson)
                        : "all other peers, together";
  }
  return "";
}

// Later users of a single agent see its actions, which are functions of unreleased records.
bool ShowsRaw(const FedUcbSetup& setup) {
  return setup.acts_on_raw() && setup.choices().form == FedUcbForm::kAlone;
}

// The noise is Gaussian, so a guarantee is one number, sensitivity over noise. The paper's noise may deliver
// (0, delta).
absl::StatusOr<double> SensitivityByNoise(DpGuarantee guarantee) {
  guarantee.epsilon = std::max(guarantee.epsilon, 1e-6);
  BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(guarantee));
  return 1 / multiplier;
}

// Somebody who meets several agents has a record at each. Agents have noise of their own, so the squares of
// sensitivity over noise add up. A shuffler adds the agents' sums up, and then the sensitivities add up.
absl::StatusOr<DpGuarantee> ComposedOverAgents(const FedUcbSetup& setup) {
  const Count agents = setup.choices().facts.people;
  const double delta = setup.choices().privacy.delta;
  if (setup.is_shuffled()) {
    BANDANA_ASSIGN_OR_RETURN(const double one, SensitivityByNoise(setup.shuffled().guarantee()));
    return DpGuarantee{GaussianEpsilon(delta, 1 / (one * static_cast<double>(agents))), delta};
  }
  double squares = 0;
  for (Count i = 0; i < agents; ++i) {
    const NodeId agent{static_cast<std::uint32_t>(i + 1)};
    BANDANA_ASSIGN_OR_RETURN(const double each, SensitivityByNoise(setup.MechanismOf(agent).guarantee()));
    squares += each * each;
  }
  return DpGuarantee{GaussianEpsilon(delta, 1 / std::sqrt(squares)), delta};
}

// The shuffler sees each silo's reports, which have noise of their own: the squares add up.
absl::StatusOr<DpGuarantee> ComposedByShuffler(const FedUcbSetup& setup) {
  const double delta = setup.choices().privacy.delta;
  BANDANA_ASSIGN_OR_RETURN(const double one, SensitivityByNoise(setup.shuffled().alone()));
  const double agents = std::sqrt(static_cast<double>(setup.choices().facts.people));
  return DpGuarantee{GaussianEpsilon(delta, 1 / (one * agents)), delta};
}

// Returns a unit without the words that say at which agents its records are.
std::string WithoutPlace(const std::string& unit) {
  return absl::StrReplaceAll(unit, {{", at one agent or at several", ""}});
}

// Returns the claim for a person whose records are at agents of different budgets. With k_i of its k records
// at agent i, whose noise is for k records and hides them by mu_i = sensitivity over noise, the squares of
// (k_i / k) mu_i add up, to at most the largest mu_i^2.
Claim AtAgentsOfSeveralBudgets(const std::vector<Claim>& claims, const std::string& person) {
  Claim mixed = claims.front();
  for (const Claim& claim : claims) {
    if (claim.guarantee.epsilon > mixed.guarantee.epsilon) mixed.guarantee = claim.guarantee;
  }
  mixed.unit = person + ", at agents of different budgets";
  mixed.asked = false;
  mixed.asked_epsilon.reset();
  return mixed;
}

// Returns the claims for one record, or for one person with a known number of records.
std::vector<Claim> RecordClaims(const FedUcbSetup& setup) {
  const std::string unit =
      RecordUnit("record (x, y)", "records (x, y)", setup.choices().privacy.records_per_person);
  const bool for_person = setup.choices().privacy.records_per_person.has_value();
  std::vector<Claim> claims;
  if (setup.is_shuffled()) {
    claims = setup.shuffled().claims();
    for (Claim& claim : claims) {
      claim.unit = unit;
      if (for_person) {
        const std::string others = fmt::format("silos {}", kWithoutThisPerson);
        absl::StrReplaceAll(
            {{"the other silos", "the " + others}, {"all silos but the record's own", "all " + others}},
            &claim.adversary);
        claim.adversary += ". No silo that works with the adversary has a record of this person";
      }
    }
    return claims;
  }
  const std::vector<double>& epsilons = setup.epsilons();
  const bool budgets = epsilons.size() > 1;
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    for (Claim claim : setup.mechanisms()[i].claims()) {
      claim.adversary = AdversaryOf(setup.choices().form, for_person);
      claim.proof = "docs/proofs/fed-ucb-streams.md";  // records depend on what agents do
      claim.unit = unit;
      if (budgets) {
        claim.asked_epsilon = epsilons[i];
        const std::string agents = fmt::format("agents {}, {}, ...", i + 1, i + 1 + epsilons.size());
        claim.unit = for_person
                         ? fmt::format("{}, all at {} (epsilon {})", WithoutPlace(unit), agents, epsilons[i])
                         : fmt::format("{}, at {} (epsilon {})", unit, agents, epsilons[i]);
      }
      claims.push_back(claim);
    }
  }
  if (budgets && setup.choices().privacy.records_per_person.value_or(1) > 1) {
    claims.push_back(AtAgentsOfSeveralBudgets(claims, WithoutPlace(unit)));
  }
  return claims;
}

absl::StatusOr<std::vector<Claim>> ClaimsOf(const FedUcbSetup& setup) {
  if (!setup.is_private() || setup.has_trigger() || ShowsRaw(setup)) return std::vector<Claim>{};
  std::vector<Claim> claims = RecordClaims(setup);
  const Count agents = setup.choices().facts.people;
  if (agents > 1 && !setup.choices().privacy.records_per_person.has_value()) {
    Claim composed = claims.front();
    BANDANA_ASSIGN_OR_RETURN(composed.guarantee, ComposedOverAgents(setup));
    composed.unit = fmt::format("one person who has a record at each of the {} agents", agents);
    composed.adversary = "everyone who sees the releases of all agents, is none of them, and works with none";
    if (setup.choices().form == FedUcbForm::kAlone) {
      composed.adversary = AdversaryOf(FedUcbForm::kAlone, true);
    }
    if (setup.is_shuffled()) {
      composed.adversary = "everyone who sees the totals of all steps, is no agent, and works with none";
    }
    composed.asked = false;
    composed.asked_epsilon.reset();
    claims.push_back(composed);
    if (setup.is_shuffled()) {
      BANDANA_ASSIGN_OR_RETURN(composed.guarantee, ComposedByShuffler(setup));
      composed.adversary =
          "the shuffler, who sees every silo's reports, and with it everyone who is no agent and works with "
          "none";
      claims.push_back(composed);
    }
  }
  if (setup.acts_on_raw()) {
    for (Claim& claim : claims) {
      claim.only_if = "the stream is logged: later records do not depend on earlier ones (local = raw)";
    }
  }
  return Narrowed(std::move(claims), setup.choices().facts.notes);
}

std::vector<Note> NotesOf(const FedUcbSetup& setup) {
  std::vector<Note> notes = setup.choices().facts.notes;
  if (!setup.is_private()) return notes;
  const auto is_void = [&](const char* why) { notes.emplace_back(Note::Weight::kVoidsClaim, why); };
  if (setup.has_trigger()) {
    is_void("no guarantee: synchronisation times depend on unreleased data");
  } else if (ShowsRaw(setup)) {
    is_void("no guarantee: later users see actions that depend on unreleased records (local = raw)");
  } else if (setup.acts_on_raw()) {
    is_void(
        "no guarantee: agents act on their own unreleased records (local = raw), and their later records "
        "depend on what they did. The claims hold only for logged streams, where this is not so");
  }
  if (const std::optional<Note> unknown = UnknownRecords(setup.choices().privacy)) notes.push_back(*unknown);
  return notes;
}

Topology TopologyOf(const FedUcbSetup& setup) {
  if (setup.choices().form == FedUcbForm::kPeers) return Topology::Peers(*setup.choices().graph);
  const Count agents = setup.choices().facts.people;
  return setup.is_shuffled() ? Topology::ShuffledStar(agents) : Topology::Star(agents);
}

RoundRoles RolesOf(const std::shared_ptr<const FedUcbSetup>& setup) {
  RoundRoles roles{.agent = [setup](NodeId self) { return setup->MakeAgent<double>(self); },
                   .agent_float = [setup](NodeId self) { return setup->MakeAgent<float>(self); },
                   .groups = setup->groups(),
                   .lock_step = setup->has_trigger(),
                   .budget = [setup](NodeId self) { return setup->MechanismOf(self).guarantee(); }};
  if (setup->choices().form != FedUcbForm::kPeers) {
    roles.controller = [setup](NodeId first) { return setup->MakeController(first); };
  }
  if (setup->is_shuffled()) roles.shuffler = [setup] { return setup->MakeShuffler(); };
  return roles;
}

// Tells about the graph of peers, and the size of a clique cover of its power: the graph in which peers at a
// distance of at most gamma are joined.
std::vector<Statement> DescribeGraph(const Graph& graph, int gamma) {
  const auto whole = [](auto number) { return Value(static_cast<std::int64_t>(number)); };
  return {{"graph",
           {{"nodes", whole(graph.nodes())},
            {"edges", whole(graph.edges())},
            {"diameter", whole(graph.diameter())},
            {"cliques", whole(CliqueCover(graph.Power(gamma)).size())}}}};
}

absl::StatusOr<Federation> Assemble(FedUcbChoices choices) {
  BANDANA_ASSIGN_OR_RETURN(const auto setup, FedUcbSetup::Create(std::move(choices)));
  BANDANA_ASSIGN_OR_RETURN(std::vector<Claim> claims, ClaimsOf(*setup));
  Federation federation{.roles = RolesOf(setup),
                        .topology = TopologyOf(*setup),
                        .budget = setup->budget(),
                        .charges_clients = setup->is_private(),
                        .claims = std::move(claims),
                        .notes = NotesOf(*setup)};
  if (setup->choices().graph.has_value()) {
    federation.describe = [setup] { return DescribeGraph(*setup->choices().graph, setup->choices().gamma); };
  }
  return federation;
}

absl::StatusOr<FedUcbChoices> PeerChoices(const FedUcbP2pParams& params, const Privacy& privacy,
                                          const Facts& facts) {
  if (params.gamma < 1 || params.gamma > std::numeric_limits<int>::max()) {
    return InvalidField(Part::kParams, "gamma", static_cast<double>(params.gamma), "a whole number >= 1");
  }
  BANDANA_ASSIGN_OR_RETURN(Graph graph, MakePeerGraph(params, facts.people, facts.public_seed));
  return FedUcbChoices{.form = FedUcbForm::kPeers,
                       .params = static_cast<const FedUcbParams&>(params),
                       .privacy = privacy,
                       .facts = facts,
                       .gamma = static_cast<int>(params.gamma),
                       .graph = std::move(graph)};
}

absl::StatusOr<PrefixSumMechanism> MechanismOf(FedUcbChoices choices) {
  BANDANA_ASSIGN_OR_RETURN(const auto setup, FedUcbSetup::Create(std::move(choices)));
  return setup->MechanismOf(NodeId{1}).strategy().mechanism();
}

}  // namespace

absl::StatusOr<Federation> CreateFedUcb(const FedUcbParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  return Assemble({.form = FedUcbForm::kStar, .params = params, .privacy = privacy, .facts = facts});
}

absl::StatusOr<Federation> CreatePrivateLinUcb(const FedUcbParams& params, const Privacy& privacy,
                                               const Facts& facts) {
  return Assemble({.form = FedUcbForm::kAlone, .params = params, .privacy = privacy, .facts = facts});
}

absl::StatusOr<Federation> CreateFedUcbP2p(const FedUcbP2pParams& params, const Privacy& privacy,
                                           const Facts& facts) {
  BANDANA_ASSIGN_OR_RETURN(FedUcbChoices choices, PeerChoices(params, privacy, facts));
  return Assemble(std::move(choices));
}

absl::StatusOr<PrefixSumMechanism> FedUcbMechanism(const FedUcbParams& params, const Privacy& privacy,
                                                   const Facts& facts) {
  return MechanismOf({.params = params, .privacy = privacy, .facts = facts});
}

absl::StatusOr<PrefixSumMechanism> FedUcbMechanism(const FedUcbP2pParams& params, const Privacy& privacy,
                                                   const Facts& facts) {
  BANDANA_ASSIGN_OR_RETURN(FedUcbChoices choices, PeerChoices(params, privacy, facts));
  return MechanismOf(std::move(choices));
}

}  // namespace bandana
