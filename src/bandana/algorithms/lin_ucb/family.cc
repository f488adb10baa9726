#include "bandana/algorithms/lin_ucb/family.h"

#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/algorithms/lin_ucb/lin_ucb.h"
#include "bandana/core/status.h"
#include "bandana/federation/star.h"

namespace bandana {

absl::StatusOr<Federation> CreateLinUcb(const LinUcbParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone}));
  if (facts.actions == nullptr) {
    return InvalidField(Part::kFacts, "actions", "none", "the vectors of the arms");
  }
  const LinUcbSetting setting{.horizon = facts.horizon,
                              .beta = params.beta,
                              .bonus = params.bonus,
                              .population = facts.people,
                              .reward = facts.reward,
                              .client_sd = facts.client_sd};
  BANDANA_RETURN_IF_ERROR(ValidateLinUcb(setting, *facts.actions));
  BANDANA_ASSIGN_OR_RETURN(
      Federation federation,
      AssembleStar<EliminationClient>(NoPrivacyMean(NoPrivacy()), facts.people,
                                      [setting, actions = facts.actions](const NoPrivacyMean& bare) {
                                        return LinUcbServer<NoPrivacyMean>::Create(setting, *actions, bare);
                                      }));
  federation.notes = facts.notes;
  return federation;
}

void AddLinUcbFamily(Registry& registry) {
  using P = LinUcbParams;
  OptionsFor<P> options("algorithm");
  options
      .Number("beta", Claims::kKept, &P::beta, Probability, "a number in (0, 1)",
              "The probability that some confidence set of the run fails. auto: 1/T.")
      .Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0",
              "The factor of the confidence width. With 1 the width is proved; less explores less.");
  registry.MustAdd(
      WithParams(Family{.name = "lin-ucb",
                        .paper = "P1, Section VII-B; Abbasi-Yadkori, Pal and Szepesvari 2011",
                        .sentence = "LinUCB with a new client in every round, a baseline without privacy.",
                        .time = TimeModel::kSlot,
                        .trust = {TrustModel::kNone},
                        .worlds = {"linear"},
                        .one_client_per_round = true},
                 options, &CreateLinUcb));
}

}  // namespace bandana
