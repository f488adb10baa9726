#include "bandana/algorithms/fed_ucb/family.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/fed_ucb/probe.h"
#include "bandana/algorithms/fed_ucb/setup.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/check.h"
#include "bandana/core/options.h"
#include "bandana/core/status.h"
#include "bandana/federation/failure.h"

namespace bandana {
namespace {

std::vector<Spelling<Sync>> Syncs(FedUcbForm form) {
  std::vector<Spelling<Sync>> syncs = {
      {"every", Sync::kEvery, "Agents release after every round."},
      {"batch", Sync::kBatch, "Agents release after every batch of rounds."},
      {"mlogt", Sync::kMLogT, "Agents release n = log2 T times; release k comes after round T (k/(n+1))^2."},
      {"m15", Sync::kM15,
       "Agents release n = sqrt(M) times (M agents); release k comes after round T (k/(n+1))^2."},
      {"doubling", Sync::kDoubling, "Agents release after rounds 1, 2, 4, ..."},
      {"released", Sync::kReleased,
       "Agents release when the determinant that the released sums predict has grown by a fixed factor."},
      {"determinant", Sync::kDeterminant,
       "Agents release when the data of one of them have grown enough, as in the paper; this leaks."}};
  if (form == FedUcbForm::kPeers) {  // peers have no sums that all of them know
    std::erase_if(syncs, [](const Spelling<Sync>& each) { return each.value == Sync::kReleased; });
  }
  return syncs;
}

std::string RawSentence(FedUcbForm form) {
  const std::string same = "An agent also uses its own unreleased records, as in the paper. ";
  if (form == FedUcbForm::kAlone) return same + "There is then no privacy claim.";
  return same + "The privacy claim then holds only for logged streams.";
}

template <class P>
OptionsFor<P> AlgorithmOptions(FedUcbForm form) {
  using Mechanism = std::optional<PrefixSumMechanism>;
  OptionsFor<P> options("algorithm");
  options
      .template Choice<RegressionWidth>(
          "width", Claims::kKept, &P::width,
          {{"exact", RegressionWidth::kExact, "The tightest width that we can prove."},
           {"paper", RegressionWidth::kPaper, "The formula of the paper's Proposition 2."}},
          "Which confidence width an agent uses.")
      .template Choice<Sync>("sync", Claims::kChanged, &P::sync, Syncs(form),
                             "When agents release their sums.")
      .Integer("batch", Claims::kChanged, &P::batch, 1, "The number of rounds between two syncs.")
      .Required()
      .When([](const P& p) { return p.sync == Sync::kBatch; }, "with sync = batch")
      .Integer("most_syncs", Claims::kKept, &P::most_syncs, 0,
               "The number of syncs that the noise allows for. 0: as many as rounds (P3, Remark 4).")
      .When([](const P& p) { return p.sync == Sync::kDeterminant; }, "with sync = determinant")
      .Number("threshold", Claims::kKept, &P::threshold, Positive, "a finite number > 0",
              "The constant D: an agent asks for a sync when the growth of its log determinant, times the "
              "rounds since the last sync, reaches D. auto: the D of Theorem 1.")
      .When([](const P& p) { return p.sync == Sync::kDeterminant; }, "with sync = determinant")
      .template Choice<LocalData>(
          "local", Claims::kChanged, &P::local,
          {{"released", LocalData::kReleased, "An agent uses only the shared, released sums."},
           {"raw", LocalData::kRaw, RawSentence(form)}},
          "What an agent uses to decide between two syncs.")
      .template Choice<Mechanism>(
          "prefix_sum", Claims::kKept, &P::prefix_sum,
          {{"auto", std::nullopt, "The mechanism of the three that has the least noise."},
           {"tree", PrefixSumMechanism::kTree, "Noise in the sums of a binary tree, as in the paper."},
           {"honaker", PrefixSumMechanism::kHonaker, "Noise in a tree, and Honaker's estimates from it."},
           {"toeplitz", PrefixSumMechanism::kToeplitz, "Noise that is correlated by a Toeplitz matrix."}},
          "How noise is added to running sums.")
      .template Choice<Shift>(
          "shift", Claims::kKept, &P::shift,
          {{"group", Shift::kGroup, "One constant is added for the sum of all agents."},
           {"agent", Shift::kAgent, "One constant is added for each agent, as in the paper."}},
          "What keeps a noisy Gram matrix positive definite.")
      .Number("failure", Claims::kKept, &P::failure, Probability, "a number in (0, 1)",
              "The probability alpha that some confidence set of the run fails.");
  return options;
}

template <class P>
void AddPaces(OptionsFor<P>& options) {
  options.In("federation")
      .Integers(
          "paces", Claims::kKept, &P::paces, 1,
          "Agent i plays in every p-th round, where p is its pace; the agents take the paces of this list "
          "in turn. auto: they play every round.");
}

OptionsFor<FedUcbParams> FedUcbOptions(FedUcbForm form) {
  OptionsFor<FedUcbParams> options = AlgorithmOptions<FedUcbParams>(form);
  AddPaces(options);
  return options;
}

OptionsFor<FedUcbP2pParams> FedUcbP2pOptions() {
  using P = FedUcbP2pParams;
  OptionsFor<P> options = AlgorithmOptions<P>(FedUcbForm::kPeers);
  options
      .Integer("gamma", Claims::kChanged, &P::gamma, 1,
               "How many hops a message travels, which is also how many estimators take turns.")
      .Also(PeerNetworkOptions());
  AddPaces(options);
  return options;
}

Family Entry(std::string name, std::string paper, std::string sentence, FedUcbForm form) {
  std::vector<std::string> keys = {"epsilon", "delta",       "neighbours", "records_per_person",
                                   "budgets", "calibration", "sampler"};
  std::vector<Option> losses;
  if (form == FedUcbForm::kStar) {
    keys.insert(keys.end(), {"colluding", "honest_fraction"});
    losses = LossOptions().options();
  }
  return {.name = std::move(name),
          .paper = std::move(paper),
          .sentence = std::move(sentence),
          .time = TimeModel::kRound,
          .trust = TrustModelsOf(form),
          .worlds = {"contextual-linear"},
          .privacy_keys = std::move(keys),
          .simulation_options = std::move(losses)};
}

// Sets the level of the probe's contexts. It is computed from the algorithm's parameters; no other contexts
// depend on the algorithm.
absl::Status AimProbe(const std::any& params, const Privacy& privacy, const WorldDraw& draw,
                      std::any& world) {
  auto* contexts = std::any_cast<RoundContextsParams>(&world);
  if (contexts == nullptr || contexts->contexts != RoundLaw::kProbe) return absl::OkStatus();
  contexts->horizon = draw.horizon;
  BANDANA_ASSIGN_OR_RETURN(contexts->probe_level,
                           FedUcbProbeLevel(std::any_cast<const FedUcbParams&>(params), privacy,
                                            RoundContexts::FactsOf(*contexts)));
  return absl::OkStatus();
}

// A short run would choose another mechanism of prefix sums, and it would sync more often than a long one: of
// the few syncs that most schedules have it gets none.
template <class P>
absl::StatusOr<Values> ForShortRun(const std::any& any, const Privacy& privacy, const Facts& facts) {
  const auto& params = std::any_cast<const P&>(any);
  Values values;
  if (privacy.is_private()) {
    BANDANA_ASSIGN_OR_RETURN(const PrefixSumMechanism mechanism, FedUcbMechanism(params, privacy, facts));
    values["prefix_sum"] = std::string(NameOf(mechanism));
  }
  if (params.sync != Sync::kEvery && params.sync != Sync::kBatch && params.sync != Sync::kDeterminant) {
    values["sync"] = std::string("batch");
    values["batch"] = std::int64_t{facts.horizon};
  }
  return values;
}

}  // namespace

void AddFedUcbFamilies(Registry& registry) {
  Family fed_ucb = WithParams(Entry("fed-ucb", "P3, Algorithm 1",
                                    "Agents share private running sums through a controller and play LinUCB "
                                    "on them.",
                                    FedUcbForm::kStar),
                              FedUcbOptions(FedUcbForm::kStar), &CreateFedUcb);
  fed_ucb.aim = &AimProbe;
  fed_ucb.for_short_run = &ForShortRun<FedUcbParams>;
  registry.MustAdd(std::move(fed_ucb));
  Family peers = WithParams(Entry("fed-ucb-p2p", "P3, Algorithm 3",
                                  "Peers on a graph send private running "
                                  "sums to those at most gamma hops away.",
                                  FedUcbForm::kPeers),
                            FedUcbP2pOptions(), &CreateFedUcbP2p);
  peers.for_short_run = &ForShortRun<FedUcbP2pParams>;
  registry.MustAdd(std::move(peers));
  Family alone = WithParams(
      Entry("private-lin-ucb", "Shariff and Sheffet 2018",
            "Every agent plays LinUCB alone, on its own private running sums.", FedUcbForm::kAlone),
      FedUcbOptions(FedUcbForm::kAlone), &CreatePrivateLinUcb);
  alone.for_short_run = &ForShortRun<FedUcbParams>;
  registry.MustAdd(std::move(alone));
}

}  // namespace bandana
