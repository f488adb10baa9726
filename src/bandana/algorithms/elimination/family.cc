#include "bandana/algorithms/elimination/family.h"

#include <string>
#include <vector>

#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/algorithms/elimination/pe.h"
#include "bandana/algorithms/elimination/private_elimination.h"
#include "bandana/federation/failure.h"

namespace bandana {
namespace {

std::vector<std::string> MeanPrivacyKeys() {
  return {"noise",   "shuffle",   "epsilon",   "delta",           "neighbours", "calibration",
          "sampler", "transport", "colluding", "honest_fraction", "loss",       "quorum"};
}

constexpr char kBeta[] =
    "The probability that one confidence bound fails. auto: 1/(k T) for k actions and T rounds.";
constexpr char kWarmStart[] =
    "Whether the search for a design starts from the design of the phase before. The search is then "
    "shorter, but the design plays more actions.";

template <class P>
void AddWidth(OptionsFor<P>& options) {
  options.template Choice<Width>(
      "width", Claims::kKept, &P::width,
      {{"exact", Width::kExact, "Every pair of actions has its own width, the tightest that we can prove."},
       {"paper", Width::kPaper, "All pairs share the width that the paper prints."}},
      "Which confidence width is used.");
}

Family DpDpeFamily() {
  using P = DpDpeParams;
  OptionsFor<P> options("algorithm");
  options
      .Choice<ClientSchedule>("clients", Claims::kKept, &P::clients,
                              {{"growing", ClientSchedule::kGrowing, "ceil(2^(alpha l)) clients in phase l."},
                               {"fixed", ClientSchedule::kFixed, "fixed_clients clients in every phase."}},
                              "How many clients take part in each phase.")
      .Integer(
          "fixed_clients", Claims::kKept, &P::fixed_clients, 1,
          "The number of clients in each phase. auto: the paper's number, with which the clients send as "
          "much in total as those of the growing schedule with this alpha.")
      .When([](const P& p) { return p.clients == ClientSchedule::kFixed; }, "with clients = fixed")
      .Integer("min_clients", Claims::kKept, &P::min_clients, 1,
               "The smallest number of clients in a phase. auto: 1; with a shuffler, 20 for each client that "
               "may collude, which keeps the noise within 3 % of a trusted server's.")
      .When([](const P& p) { return p.clients == ClientSchedule::kGrowing; }, "with clients = growing")
      .Number("over_selection", Claims::kKept, &P::over_selection, InClosed(0, 10), "a number from 0 to 10",
              "How many more clients a phase asks than it needs, as a share, because some never answer. The "
              "phase ends when those that it needs have answered; without a trusted server, when all have.")
      .Number("alpha", Claims::kKept, &P::alpha, Positive, "a finite number > 0",
              "How fast the number of clients grows.")
      .When([](const P& p) { return p.clients == ClientSchedule::kGrowing || !p.fixed_clients.has_value(); },
            "with clients = growing or fixed_clients = auto")
      .Number("beta", Claims::kKept, &P::beta, Probability, "a number in (0, 1)", kBeta)
      .Choice<ClientReport>(
          "report", Claims::kKept, &P::report,
          {{"averages", ClientReport::kAverages, "Its average reward of each action that was played."},
           {"estimate", ClientReport::kEstimate,
            "Its own estimate of theta, which has fewer numbers. It needs exact widths, and Gaussian noise "
            "or "
            "shuffled sums."}},
          "The content of a client's report.");
  AddWidth(options);
  options.Flag("warm_start", Claims::kKept, &P::warm_start, kWarmStart);
  return WithParams(
      Family{.name = "dp-dpe",
             .paper = "P1, Algorithm 1",
             .sentence = "Distributed phased elimination. A growing number of clients watches each phase.",
             .time = TimeModel::kSlot,
             .trust = MeanModels(),
             .worlds = {"linear", "glm", "live"},
             .privacy_keys = MeanPrivacyKeys(),
             .simulation_options = DropoutOptions().options()},
      options, &CreateDpDpe);
}

Family PeFamily() {
  using P = PeParams;
  OptionsFor<P> options("algorithm");
  options.Number("beta", Claims::kKept, &P::beta, Probability, "a number in (0, 1)", kBeta);
  AddWidth(options);
  options.Flag("warm_start", Claims::kKept, &P::warm_start, kWarmStart);
  return WithParams(Family{.name = "pe",
                           .paper = "P1, Section VII-B",
                           .sentence = "Phased elimination with a new client in every round.",
                           .time = TimeModel::kSlot,
                           .trust = MeanModels(),
                           .worlds = {"linear", "glm", "live", "contextual-linear"},
                           .privacy_keys = MeanPrivacyKeys(),
                           .one_client_per_round = true,
                           .simulation_options = DropoutOptions().options()},
                    options, &CreatePe);
}

Family PrivateEliminationFamily() {
  using P = PrivateEliminationParams;
  OptionsFor<P> options("algorithm");
  options.Number("beta", Claims::kKept, &P::beta, Probability, "a number in (0, 1)", kBeta);
  AddWidth(options);
  options.Flag("warm_start", Claims::kKept, &P::warm_start, kWarmStart)
      .When([](const P& p) { return p.core_set && p.design == CoreSetSearch::kSmall; },
            "with core_set = true and design = small")
      .Flag("core_set", Claims::kKept, &P::core_set,
            "true: a batch plays a few actions that span all others. false: it plays all active actions "
            "equally often.")
      .Choice<CoreSetSearch>(
          "design", Claims::kKept, &P::design,
          {{"small", CoreSetSearch::kSmall, "A search that starts with few actions and adds some."},
           {"paper", CoreSetSearch::kFrankWolfe,
            "The search of Appendix A, which starts with all actions and never drops one."}},
          "How the core set is found.")
      .When([](const P& p) { return p.core_set; }, "with core_set = true");
  return WithParams(
      Family{.name = "private-elimination",
             .paper = "P2, Algorithms 1 to 4",
             .sentence = "Batched elimination with a new client in every round. The trust model chooses the "
                         "paper's algorithm: central, local, shuffle with permuted reports, or with sums.",
             .time = TimeModel::kSlot,
             .trust = MeanModels(),
             .worlds = {"linear", "glm", "live", "contextual-linear"},
             .privacy_keys = MeanPrivacyKeys(),
             .one_client_per_round = true,
             .simulation_options = DropoutOptions().options()},
      options, &CreatePrivateElimination);
}

}  // namespace

void AddEliminationFamilies(Registry& registry) {
  registry.MustAdd(DpDpeFamily());
  registry.MustAdd(PeFamily());
  registry.MustAdd(PrivateEliminationFamily());
}

}  // namespace bandana
