#include "bandana/algorithms/fed_ucb/family.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/fed_ucb/setup.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/check.h"
#include "bandana/core/options.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

std::vector<Spelling<Sync>> Syncs() {
  return {{"every", Sync::kEvery, "Agents release after every round."},
          {"batch", Sync::kBatch, "Agents release after every batch of rounds."},
          {"mlogt", Sync::kMLogT, "Agents release n = log2 T times, after rounds T (k/(n+1))^2."},
          {"m15", Sync::kM15, "Agents release n = sqrt(M) times, after rounds T (k/(n+1))^2."},
          {"doubling", Sync::kDoubling, "Agents release after rounds 1, 2, 4, ..."},
          {"released", Sync::kReleased,
           "Agents release when the determinant that the released sums predict has grown by a fixed factor."},
          {"determinant", Sync::kDeterminant,
           "Agents release when the data of one of them have grown enough, as in the paper; this leaks."}};
}

template <class P>
OptionsFor<P> AlgorithmOptions() {
  using Mechanism = std::optional<PrefixSumMechanism>;
  OptionsFor<P> options("algorithm");
  options
      .template Choice<RegressionWidth>(
          "width", Claims::kKept, &P::width,
          {{"exact", RegressionWidth::kExact, "The tightest width that we can prove."},
           {"paper", RegressionWidth::kPaper, "The formula of the paper's Proposition 2."}},
          "Which confidence width an agent uses.")
      .template Choice<Sync>("sync", Claims::kChanged, &P::sync, Syncs(), "When agents release their sums.")
      .Integer("batch", Claims::kKept, &P::batch, 1, "The number of rounds between two syncs.")
      .Required()
      .When([](const P& p) { return p.sync == Sync::kBatch; })
      .Integer("most_syncs", Claims::kKept, &P::most_syncs, 0,
               "How many syncs the noise is set for. 0: one after every round (P3, Remark 4).")
      .When([](const P& p) { return p.sync == Sync::kDeterminant; })
      .template Choice<LocalData>(
          "local", Claims::kChanged, &P::local,
          {{"released", LocalData::kReleased, "An agent uses only the shared, released sums."},
           {"raw", LocalData::kRaw,
            "An agent also uses its own unreleased records, as in the paper. The privacy claim then holds "
            "only for logged streams."}},
          "What an agent uses to decide between two syncs.")
      .template Choice<Mechanism>(
          "prefix_sum", Claims::kKept, &P::prefix_sum,
          {{"auto", std::nullopt, "The one of the three with the least noise."},
           {"tree", PrefixSumMechanism::kTree, "Noise in the sums of a binary tree, as in the paper."},
           {"honaker", PrefixSumMechanism::kHonaker, "The tree with Honaker's estimates from it."},
           {"toeplitz", PrefixSumMechanism::kToeplitz, "Noise that is correlated by a Toeplitz matrix."}},
          "How noise is added to running sums.")
      .template Choice<Shift>(
          "shift", Claims::kKept, &P::shift,
          {{"group", Shift::kGroup, "One constant is added for the sum of all agents."},
           {"agent", Shift::kAgent, "One constant is added for each agent, as in the paper."}},
          "What keeps a noisy Gram matrix positive definite.")
      .Number("failure", Claims::kKept, &P::failure, Probability, "a number in (0, 1)",
              "The probability alpha that some confidence set of the run fails. auto: 0.05.");
  return options;
}

template <class P>
void AddPaces(OptionsFor<P>& options) {
  options.In("federation")
      .Integers("paces", Claims::kKept, &P::paces, 1,
                "Agents play every pace-th round and take these paces in turn. auto: they play every round.");
}

OptionsFor<FedUcbParams> FedUcbOptions() {
  OptionsFor<FedUcbParams> options = AlgorithmOptions<FedUcbParams>();
  AddPaces(options);
  return options;
}

OptionsFor<FedUcbP2pParams> FedUcbP2pOptions() {
  using P = FedUcbP2pParams;
  OptionsFor<P> options = AlgorithmOptions<P>();
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
  if (form == FedUcbForm::kStar) keys.insert(keys.end(), {"colluding", "honest_fraction"});
  return {.name = std::move(name),
          .paper = std::move(paper),
          .sentence = std::move(sentence),
          .time = TimeModel::kRound,
          .trust = TrustModelsOf(form),
          .worlds = {"contextual-linear"},
          .privacy_keys = std::move(keys)};
}

absl::StatusOr<std::unique_ptr<World>> MakeRoundContexts(const RoundContextsParams& given,
                                                         const WorldDraw& draw) {
  RoundContextsParams params = given;
  params.horizon = draw.horizon;
  params.seed = draw.seed;
  params.replicate = draw.replicate;
  BANDANA_ASSIGN_OR_RETURN(RoundContexts contexts, RoundContexts::Create(params));
  return std::make_unique<RoundContexts>(std::move(contexts));
}

}  // namespace

void AddFedUcbFamilies(Registry& registry) {
  registry.MustAdd(
      WithParams(Entry("fed-ucb", "P3, Algorithm 1",
                       "Agents share private running sums through a controller and play LinUCB on them.",
                       FedUcbForm::kStar),
                 FedUcbOptions(), &CreateFedUcb));
  registry.MustAdd(
      WithParams(Entry("fed-ucb-p2p", "P3, Algorithm 3",
                       "Peers on a graph send private running sums to those at most gamma hops away.",
                       FedUcbForm::kPeers),
                 FedUcbP2pOptions(), &CreateFedUcbP2p));
  registry.MustAdd(WithParams(
      Entry("private-lin-ucb", "Shariff and Sheffet 2018",
            "Every agent plays LinUCB alone, on its own private running sums.", FedUcbForm::kAlone),
      FedUcbOptions(), &CreatePrivateLinUcb));
}

void AddRoundWorlds(Registry& registry) {
  registry.MustAdd(
      WithParams(WorldKind{.name = "contextual-linear",
                           .sentence = "Every agent meets new arms in every round; the mean reward of "
                                       "arm x is <theta, x>.",
                           .time = TimeModel::kRound},
                 RoundContextsOptions(), &MakeRoundContexts));
}

}  // namespace bandana
