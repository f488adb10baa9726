#include "bandana/algorithms/fed_ucb/create.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "bandana/algorithms/fed_ucb/setup.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "fmt/format.h"

namespace bandana {
namespace {

std::string AdversaryOf(FedUcbForm form) {
  switch (form) {
    case FedUcbForm::kStar:
      return "the controller and all other agents, colluding";
    case FedUcbForm::kAlone:
      return "all later users of the agent, colluding (joint privacy)";
    case FedUcbForm::kPeers:
      return "all other peers, colluding";
  }
  return "";
}

// Who meets several agents has a record at each. Their releases are independent and Gaussian, so the squares
// of sensitivity over noise add up.
absl::StatusOr<DpGuarantee> ComposedOverAgents(const FedUcbSetup& setup) {
  double squares = 0;
  for (Count i = 0; i < setup.choices().facts.people; ++i) {
    DpGuarantee each = setup.MechanismOf(NodeId{static_cast<std::uint32_t>(i + 1)}).guarantee();
    each.epsilon = std::max(each.epsilon, 1e-6);  // the paper's noise may deliver (0, delta)
    BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(each));
    squares += 1 / (multiplier * multiplier);
  }
  const double delta = setup.choices().privacy.delta;
  return DpGuarantee{GaussianEpsilon(delta, 1 / std::sqrt(squares)), delta};
}

absl::StatusOr<std::vector<Claim>> ClaimsOf(const FedUcbSetup& setup) {
  if (!setup.is_private() || setup.has_trigger()) return std::vector<Claim>{};
  if (setup.is_shuffled()) return setup.shuffled().claims();
  const std::string logged =
      setup.acts_on_raw()
          ? "; for logged streams alone, whose later records do not depend on earlier ones (local = raw)"
          : "";
  const std::vector<double>& epsilons = setup.epsilons();
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    for (Claim claim : setup.mechanisms()[i].claims()) {
      claim.adversary = AdversaryOf(setup.choices().form) + logged;
      claim.unit = "one record (x, y) of one agent";
      if (epsilons.size() > 1) {
        claim.unit +=
            fmt::format(" (agents {}, {}, ...: epsilon {})", i + 1, i + 1 + epsilons.size(), epsilons[i]);
      }
      claims.push_back(claim);
    }
  }
  const Count agents = setup.choices().facts.people;
  if (agents > 1 && !claims.empty()) {
    Claim composed = claims.front();
    BANDANA_ASSIGN_OR_RETURN(composed.guarantee, ComposedOverAgents(setup));
    composed.unit = fmt::format("one person who has a record at each of the {} agents", agents);
    composed.adversary = "whoever sees the releases of all agents" + logged;
    claims.push_back(composed);
  }
  return claims;
}

std::vector<Note> NotesOf(const FedUcbSetup& setup) {
  std::vector<Note> notes = setup.choices().facts.notes;
  if (!setup.is_private()) return notes;
  if (setup.has_trigger()) {
    notes.emplace_back(Note::Weight::kVoidsClaim,
                       "no guarantee: synchronisation times depend on unreleased data");
  } else if (setup.acts_on_raw()) {
    notes.emplace_back(
        Note::Weight::kNarrowsClaim,
        "The claims hold only for logged streams, whose later records do not depend on earlier "
        "ones: agents act on their own unreleased records (local = raw).");
  }
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

absl::StatusOr<Federation> Assemble(FedUcbChoices choices) {
  BANDANA_ASSIGN_OR_RETURN(const auto setup, FedUcbSetup::Create(std::move(choices)));
  BANDANA_ASSIGN_OR_RETURN(std::vector<Claim> claims, ClaimsOf(*setup));
  return Federation{.roles = RolesOf(setup),
                    .topology = TopologyOf(*setup),
                    .budget = setup->budget(),
                    .charges_clients = setup->is_private(),
                    .claims = std::move(claims),
                    .notes = NotesOf(*setup)};
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
  if (params.gamma < 1 || params.gamma > std::numeric_limits<int>::max()) {
    return InvalidField(Part::kParams, "gamma", static_cast<double>(params.gamma), "a whole number >= 1");
  }
  BANDANA_ASSIGN_OR_RETURN(Graph graph, MakePeerGraph(params, facts.people, facts.public_seed));
  return Assemble({.form = FedUcbForm::kPeers,
                   .params = static_cast<const FedUcbParams&>(params),
                   .privacy = privacy,
                   .facts = facts,
                   .gamma = static_cast<int>(params.gamma),
                   .graph = std::move(graph)});
}

}  // namespace bandana
