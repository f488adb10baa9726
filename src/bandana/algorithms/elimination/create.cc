#include "bandana/algorithms/elimination/create.h"

#include <memory>
#include <utility>

#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/algorithms/elimination/pe.h"
#include "bandana/algorithms/elimination/private_elimination.h"
#include "bandana/core/status.h"
#include "bandana/federation/star.h"

namespace bandana {
namespace {

template <Privatizer P>
std::vector<Claim> ClaimsOf(const P& privatizer, const EliminationRules& rules, const Facts& facts) {
  if (facts.policies) return AsJoint(DealtClaims(privatizer));
  return rules.clients == nullptr ? DealtClaims(privatizer) : privatizer.claims();
}

absl::Status CheckActions(const Facts& facts) {
  if (facts.actions != nullptr) return absl::OkStatus();
  return InvalidField(Part::kFacts, "actions", "none", "the vectors of the arms");
}

// Fails if clients shall send estimates and the mechanism has no proof for that.
absl::Status CheckReport(const DpDpeParams& params, const Privacy& privacy) {
  if (params.report == ClientReport::kAverages) return absl::OkStatus();
  const bool shuffled = privacy.model == TrustModel::kShuffle;
  const bool provided = shuffled ? privacy.shuffle == ShuffleKind::kSum
                                 : !privacy.is_private() || privacy.noise == NoiseKind::kGaussian;
  if (provided) return absl::OkStatus();
  return InvalidField(Part::kParams, "report", "estimate",
                      "averages; estimate with model = \"none\", \"central\" or \"local\" and "
                      "noise = \"gaussian\", or \"shuffle\" and shuffle = \"sum\"");
}

// A shuffler's noise is set for the clients that are asked, so all of them must answer.
absl::Status CheckDropouts(const EliminationRules& rules, const Privacy& privacy) {
  if (privacy.model != TrustModel::kShuffle || rules.over_selection == 0) return absl::OkStatus();
  return InvalidField(Part::kParams, "over_selection", rules.over_selection,
                      "0 with model = \"shuffle\", where all clients that are asked must answer");
}

}  // namespace

EliminationWorld EliminationWorldOf(const Privacy& privacy, const Facts& facts) {
  std::optional<double> bound = facts.reward_bound;
  const bool paper = privacy.is_private() && privacy.calibration == Calibration::kPaper;
  if (!bound.has_value() && paper && facts.reward.kind == RewardKind::kGaussian) bound = 1;
  return {.horizon = facts.horizon,
          .population = facts.people,
          .clip = {.reward = facts.reward, .client_sd = facts.client_sd, .fixed_bound = bound}};
}

absl::StatusOr<Federation> CreateElimination(EliminationRules rules, const Privacy& privacy,
                                             const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckActions(facts));
  rules.link = facts.mean.link();
  rules.misspecification = facts.misspecification;
  rules.quorum = privacy.quorum;
  BANDANA_RETURN_IF_ERROR(CheckDropouts(rules, privacy));
  return WithMeanPrivatizer(privacy, facts.people, [&]<class P>(P privatizer) -> absl::StatusOr<Federation> {
    const auto make_server = [rules, actions = facts.actions](const P& own) {
      return EliminationServer<P>::Create(rules, actions, own);
    };
    if constexpr (requires { privatizer.CheckWholeQueries(); }) {
      if (rules.clients != nullptr) BANDANA_RETURN_IF_ERROR(privatizer.CheckWholeQueries());
    }
    std::vector<Claim> claims = ClaimsOf(privatizer, rules, facts);
    BANDANA_ASSIGN_OR_RETURN(Federation federation, AssembleStar<EliminationClient>(
                                                        std::move(privatizer), facts.people, make_server));
    if (!claims.empty()) federation.budget = claims.front().guarantee;
    federation.claims = Narrowed(std::move(claims), facts.notes);
    federation.notes = facts.notes;
    return federation;
  });
}

absl::StatusOr<Federation> CreateDpDpe(const DpDpeParams& params, const Privacy& privacy,
                                       const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckActions(facts));
  BANDANA_RETURN_IF_ERROR(CheckReport(params, privacy));
  DpDpeParams chosen = params;
  if (!chosen.min_clients.has_value()) chosen.min_clients = DefaultMinClients(privacy);
  BANDANA_ASSIGN_OR_RETURN(EliminationRules rules,
                           DpDpeRules(chosen, EliminationWorldOf(privacy, facts), *facts.actions));
  return CreateElimination(std::move(rules), privacy, facts);
}

absl::StatusOr<Federation> CreatePe(const PeParams& params, const Privacy& privacy, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckActions(facts));
  BANDANA_ASSIGN_OR_RETURN(EliminationRules rules,
                           PeRules(params, EliminationWorldOf(privacy, facts), *facts.actions));
  return CreateElimination(std::move(rules), privacy, facts);
}

absl::StatusOr<Federation> CreatePrivateElimination(const PrivateEliminationParams& params,
                                                    const Privacy& privacy, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckActions(facts));
  BANDANA_ASSIGN_OR_RETURN(
      EliminationRules rules,
      PrivateEliminationRules(params, EliminationWorldOf(privacy, facts), *facts.actions));
  return CreateElimination(std::move(rules), privacy, facts);
}

}  // namespace bandana
