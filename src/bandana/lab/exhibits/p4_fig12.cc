#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 12 and Corollary 3: the three structures if the agents' means differ, and the errors that follow.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 12";
constexpr char kCorollary[] = "p4 Corollary 3";
constexpr char kDiffer[] = "environment.heterogeneous";

struct Structure {
  const char* name;
  const char* algorithm;
};
constexpr Structure kServer{"server", "cdp-mab"};
constexpr Structure kComponents{"five rings", "hdp-mab"};
constexpr Structure kPeers{"one ring", "ddp-mab"};

// Returns a metric of a structure, at the points whose arms are drawn at random.
absl::StatusOr<NamedSample> Of(const Findings& findings, const Structure& structure, double differ,
                               const char* metric) {
  return NamedFinal(
      findings, structure.name,
      {{"algorithm.name", structure.algorithm}, {"environment.means", "auto"}, {kDiffer, differ}}, metric);
}

absl::StatusOr<Finding> WaitingIsBetween(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const NamedSample server, Of(findings, kServer, 1, kWaitingRegret));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample components, Of(findings, kComponents, 1, kWaitingRegret));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample peers, Of(findings, kPeers, 1, kWaitingRegret));
  return Finding{Compare(server.sample, components.sample) == Order::kBelow &&
                     Compare(components.sample, peers.sample) == Order::kBelow,
                 fmt::format("server {}, five rings {}, one ring {}", Figure(MeanOf(server.sample)),
                             Figure(MeanOf(components.sample)), Figure(MeanOf(peers.sample)))};
}

absl::StatusOr<Finding> PeersAreWorst(const Findings& findings) {
  return ForEach(std::vector<Structure>{kServer, kComponents},
                 [&](const Structure& structure) -> absl::StatusOr<Finding> {
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample one, Of(findings, structure, 1, "regret"));
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample peers, Of(findings, kPeers, 1, "regret"));
                   return Below(one, peers);
                 });
}

absl::StatusOr<Finding> HardlyDiffer(const Findings& findings) {
  return ForEach(std::vector<Structure>{kComponents, kPeers},
                 [&](const Structure& structure) -> absl::StatusOr<Finding> {
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample one, Of(findings, structure, 1, "regret"));
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample server, Of(findings, kServer, 1, "regret"));
                   return WithinFactor(one, server, 1.05);
                 });
}

absl::StatusOr<Finding> SlightlyAffected(const Findings& findings) {
  return ForEach(std::vector<Structure>{kServer, kComponents, kPeers},
                 [&](const Structure& structure) -> absl::StatusOr<Finding> {
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample differ, Of(findings, structure, 1, "regret"));
                   BANDANA_ASSIGN_OR_RETURN(NamedSample same, Of(findings, structure, 0, "regret"));
                   same.name = "homogeneous";
                   return WithinFactor(differ, same, 1.05);
                 });
}

absl::StatusOr<Finding> WaitingIsWorse(const Findings& findings) {
  return ForEach(std::vector<Structure>{kComponents, kPeers},
                 [&](const Structure& structure) -> absl::StatusOr<Finding> {
                   BANDANA_ASSIGN_OR_RETURN(NamedSample same, Of(findings, structure, 0, kWaitingRegret));
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample differ,
                                            Of(findings, structure, 1, kWaitingRegret));
                   same.name += ", homogeneous";
                   return Below(same, differ);
                 });
}

// A way to weight or to choose the agents that report.
struct Way {
  const char* name;
  Where where;
};
Way Weighted() { return {"weighted", {{"algorithm.aggregation", "weighted"}}}; }
Way Unweighted() { return {"alike", {{"algorithm.aggregation", "unweighted"}}}; }
Way Everybody() { return {"all report", {{"algorithm.participation", 1}}}; }
Way AFifth() { return {"a fifth reports", {{"algorithm.participation", 0.2}}}; }

// Returns 1 for each run in which the best arm was played in less than half of the rounds, else 0. The points
// are those whose arms lie around 1/2 with a gap of 0.05.
absl::StatusOr<NamedSample> Wrong(const Findings& findings, const Way& way, double differ) {
  for (const Json& point : findings.summary()["points"]) {
    const Json& varied = point["point"];
    if (!varied["environment.means"].is_array() || varied[kDiffer] != differ) continue;
    const auto& [key, value] = *way.where.begin();
    if (!varied.contains(key) || varied[key] != value) continue;
    NamedSample wrong{way.name, point["metrics"]["best_action_rate"]["values"].get<Sample>()};
    for (double& rate : wrong.sample) rate = rate < 0.5 ? 1 : 0;
    return wrong;
  }
  return absl::NotFoundError("the run has no point with " + NameOf(way.where) + " and arms around 1/2");
}

// Holds if b does not go wrong clearly more often than a.
absl::StatusOr<Finding> FindsTheBestAsOften(const Findings& findings, const Way& b, const Way& a,
                                            double differ) {
  BANDANA_ASSIGN_OR_RETURN(const NamedSample one, Wrong(findings, a, differ));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample other, Wrong(findings, b, differ));
  return Finding{Compare(one.sample, other.sample) != Order::kBelow,
                 fmt::format("wrong arms: {} {:.1f} % of the runs, {} {:.1f} %", one.name,
                             100 * MeanOf(one.sample).value, other.name, 100 * MeanOf(other.sample).value)};
}

}  // namespace

std::vector<PaperClaim> P4Fig12Claims() {
  return {
      {"where means differ: while waiting, nothing is lost with a server, less in components than among "
       "peers",
       kFigure, true, "", WaitingIsBetween},
      {"where means differ: peers have the largest regret, clearly", kFigure, true, "", PeersAreWorst},
      {"beyond the paper: the three are within 5 % of each other", kFigure, true, "", HardlyDiffer},
      {"each is slightly affected where means differ (within 5 %)", kCorollary, true, "", SlightlyAffected},
      {"waiting costs more where means differ", kCorollary, true, "", WaitingIsWorse},
      {"unequal components that count alike (Algorithm 5, Line 14) find the best arm as often as if "
       "weighted, "
       "where means are the same",
       kCorollary, true, "",
       [](const Findings& findings) { return FindsTheBestAsOften(findings, Unweighted(), Weighted(), 0); }},
      {"unequal components that count alike (Algorithm 5, Line 14) find the best arm as often as if "
       "weighted, "
       "where means differ",
       kCorollary, false,
       "a mean of the components' means is not the mean over agents if components differ in size: its error "
       "does not shrink with data",
       [](const Findings& findings) { return FindsTheBestAsOften(findings, Unweighted(), Weighted(), 1); }},
      {"a fifth of the agents per round finds the best arm as often as all, where means are the same",
       kCorollary, true, "",
       [](const Findings& findings) { return FindsTheBestAsOften(findings, AFifth(), Everybody(), 0); }},
      {"a fifth of the agents per round finds the best arm as often as all, where means differ", kCorollary,
       false,
       "the mean over those that are drawn is not the mean over all, and no width allows for that: its error "
       "does not shrink with data",
       [](const Findings& findings) { return FindsTheBestAsOften(findings, AFifth(), Everybody(), 1); }},
  };
}

}  // namespace bandana::lab
