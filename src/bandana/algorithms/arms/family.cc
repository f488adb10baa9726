#include "bandana/algorithms/arms/family.h"

#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/arms/create.h"
#include "bandana/core/check.h"
#include "bandana/federation/failure.h"

namespace bandana {
namespace {

template <class P>
void AddWidth(OptionsFor<P>& options) {
  options.template Choice<Width>(
      "width", Claims::kKept, &P::width,
      {{"exact", Width::kExact, "The tightest width that we can prove, over rewards and noise together."},
       {"paper", Width::kPaper, "The width of the paper's formula."}},
      "Which confidence width decides whether an arm is eliminated.");
  options.Number(
      "bonus", Claims::kKept, &P::bonus, Positive, "a finite number > 0",
      "The factor of the confidence width. 1: the width is proved. Below 1, the best arm may be lost "
      "more often.");
}

template <class P>
void AddLocal(OptionsFor<P>& options) {
  options.template Choice<LocalData>(
      "local", Claims::kChanged, &P::local,
      {{"released", LocalData::kReleased, "It pulls the arm that is best by its own released sums."},
       {"raw", LocalData::kRaw,
        "It pulls the arm that is best by its own raw rewards; whoever sees its pulls learns from them, and "
        "no claim covers that."}},
      "The arm that an agent pulls while messages are on their way.");
}

template <class P>
void AddFailure(OptionsFor<P>& options) {
  options.Number("failure", Claims::kKept, &P::failure, Probability, "a number in (0, 1)",
                 "The probability that some confidence width of the run fails. auto: 1 / (1 + horizon).");
}

absl::StatusOr<Value> CheckGap(const Value& value) {
  return internal::CheckNumber("gap", value, InHalfOpen(0, 1), {"auto", "known"},
                               "\"auto\", \"known\", or a number in (0, 1]");
}

void SetGap(GapChoice& gap, const Value& value) {
  gap.known = IsWord(value, "known");
  const auto* number = std::get_if<double>(&value);
  gap.value = number == nullptr ? std::nullopt : std::optional(*number);
}

Value GetGap(const GapChoice& gap) {
  if (gap.known) return std::string("known");
  return gap.value.has_value() ? Value(*gap.value) : Value(std::string("auto"));
}

// Adds the limit on syncs and the gap by which they are spread.
template <class P>
void AddRounds(OptionsFor<P>& options) {
  options
      .Integer("rounds", Claims::kKept, &P::rounds, 1,
               "The largest number of syncs. auto: as many as the horizon allows.")
      .Custom(
          "gap", Claims::kKept, "\"auto\", \"known\", or a number in (0, 1]",
          "The smallest gap between means. If `rounds` limits "
          "the syncs, their lengths are chosen for this gap.",
          CheckGap, [](P& params, const Value& value) { SetGap(params.gap, value); },
          [](const P& params) { return GetGap(params.gap); })
      .Meaning({{"auto", "The lengths are chosen for all gaps that the horizon is long enough to see."},
                {"known", "The gap of the world itself, which only a simulation knows."}})
      .When([](const P& params) { return params.rounds.has_value(); }, "unless rounds = auto");
}

template <class P>
void AddOverrun(OptionsFor<P>& options) {
  options.template Choice<Overrun>(
      "overrun", Claims::kKept, &P::overrun,
      {{"best", Overrun::kBest, "They pull the best arm so far until the end."},
       {"explore", Overrun::kExplore,
        "They pull all arms that are left in turn until the end, as in the paper. Nothing is released."}},
      "What agents do if the next exploration does not fit into the horizon.");
}

template <class P>
void AddServerCost(OptionsFor<P>& options) {
  options.In("federation")
      .Number("cost_server", Claims::kKept, &P::cost_server, NonNegative, "a finite number >= 0",
              "The cost of a link between an agent and the server, each time it is used.");
}

template <class P>
void AddPeerCost(OptionsFor<P>& options) {
  options.In("federation")
      .Number("cost_peer", Claims::kKept, &P::cost_peer, NonNegative, "a finite number >= 0",
              "The cost of a link between two agents, each time it is used.");
}

Family Entry(std::string name, std::string paper, std::string sentence, std::vector<TrustModel> trust) {
  const bool is_private = trust.size() > 1;
  return {.name = std::move(name),
          .paper = std::move(paper),
          .sentence = std::move(sentence),
          .time = TimeModel::kTick,
          .trust = std::move(trust),
          .worlds = {"mab"},
          .privacy_keys = is_private ? std::vector<std::string>{"epsilon", "neighbours", "records_per_person",
                                                                "calibration", "sampler"}
                                     : std::vector<std::string>{}};
}

Family WithLosses(Family family) {
  family.simulation_options = LossOptions().options();
  return family;
}

}  // namespace

OptionsFor<CdpMabParams> CdpMabOptions() {
  using P = CdpMabParams;
  OptionsFor<P> options("algorithm");
  AddWidth(options);
  AddFailure(options);
  options.Number("participation", Claims::kChanged, &P::participation, InHalfOpen(0, 1), "a number in (0, 1]",
                 "The share of the agents that report in a sync, drawn anew each time.");
  AddRounds(options);
  AddOverrun(options);
  AddServerCost(options);
  return options;
}

OptionsFor<DdpMabParams> DdpMabOptions() {
  using P = DdpMabParams;
  OptionsFor<P> options("algorithm");
  AddWidth(options);
  AddLocal(options);
  AddFailure(options);
  AddRounds(options);
  AddOverrun(options);
  options
      .Choice<Protocol>("protocol", Claims::kKept, &P::protocol,
                        {{"gis", Protocol::kGis,
                          "Peers announce what is new, and send what neighbours ask for (P4's GIS)."},
                         {"flooding", Protocol::kFlooding, "Peers send what is new to all neighbours."},
                         {"gossip", Protocol::kGossip,
                          "In every slot a peer sends to one neighbour, which a public coin draws."}},
                        "How every peer gets everybody's sums.")
      .Integer("slack", Claims::kKept, &P::slack, 0,
               "How many slots a sync takes beyond what the "
               "graph needs, for routes that losses have made longer.",
               1'000'000)
      .Also(&P::network, PeerNetworkOptions());
  AddPeerCost(options);
  return options;
}

OptionsFor<HdpMabParams> HdpMabOptions() {
  using P = HdpMabParams;
  OptionsFor<P> options("algorithm");
  AddWidth(options);
  AddLocal(options);
  AddFailure(options);
  options.Number("participation", Claims::kChanged, &P::participation, InHalfOpen(0, 1), "a number in (0, 1]",
                 "The share of the components that report in a sync, drawn anew each time.");
  AddRounds(options);
  AddOverrun(options);
  options
      .Choice<Aggregation>(
          "aggregation", Claims::kKept, &P::aggregation,
          {{"weighted", Aggregation::kWeighted, "A component counts by the number of its agents."},
           {"unweighted", Aggregation::kUnweighted, "All components count alike, as in the paper."}},
          "How the server averages over components.")
      .Choice<CostRule>(
          "cost_rule", Claims::kKept, &P::cost_rule,
          {{"paths", CostRule::kPaths, "The sum of its agents' distances to the sink (Theorem 4)."},
           {"edges", CostRule::kEdges, "The number of its edges (Fig. 11)."}},
          "Which of the paper's formulas gives the cost of a component in a sync.")
      .Also(&P::network, ComponentOptions());
  AddServerCost(options);
  AddPeerCost(options);
  return options;
}

OptionsFor<SingleMabParams> SingleMabOptions() {
  OptionsFor<SingleMabParams> options("algorithm");
  AddWidth(options);
  AddFailure(options);
  AddRounds(options);
  AddOverrun(options);
  return options;
}

OptionsFor<Ucb1Params> Ucb1Options() {
  OptionsFor<Ucb1Params> options("algorithm");
  options.Number("bonus", Claims::kKept, &Ucb1Params::bonus, NonNegative, "a finite number >= 0",
                 "The factor of the confidence width that UCB1 adds to an arm's mean. 1: as published.");
  return options;
}

OptionsFor<SweepParams> SweepOptions() {
  OptionsFor<SweepParams> options("algorithm");
  options.Number("bonus", Claims::kKept, &SweepParams::bonus, Positive, "a finite number > 0",
                 "The factor of the confidence width by which arms are dropped. 1: as published.");
  return options;
}

void AddArmFamilies(Registry& registry) {
  using enum TrustModel;
  registry.MustAdd(WithParams(
      WithLosses(Entry("cdp-mab", "P4, Algorithm 1",
                       "Agents send sums of rewards to a server, which eliminates arms.", {kNone, kSilo})),
      CdpMabOptions(), &CreateCdpMab));
  registry.MustAdd(WithParams(
      WithLosses(Entry("ddp-mab", "P4, Algorithm 3",
                       "Peers on a graph share sums of rewards and eliminate arms.", {kNone, kPeer})),
      DdpMabOptions(), &CreateDdpMab));
  registry.MustAdd(
      WithParams(WithLosses(Entry("hdp-mab", "P4, Algorithm 5",
                                  "Agents form components, each of which reports to a server by one sink.",
                                  {kNone, kSilo})),
                 HdpMabOptions(), &CreateHdpMab));
  registry.MustAdd(
      WithParams(Entry("single-mab", "P4", "Every agent eliminates arms by itself.", {kNone, kSilo}),
                 SingleMabOptions(), &CreateSingleMab));
  registry.MustAdd(
      WithParams(Entry("ucb1", "Auer, Cesa-Bianchi, Fischer 2002",
                       "Every agent plays the arm with the largest upper confidence bound.", {kNone}),
                 Ucb1Options(), &CreateUcb1));
  registry.MustAdd(WithParams(Entry("successive-elimination", "Even-Dar, Mannor, Mansour 2006",
                                    "Every agent sweeps over its arms and drops the worst.", {kNone}),
                              SweepOptions(), &CreateSuccessiveElimination));
}

}  // namespace bandana
