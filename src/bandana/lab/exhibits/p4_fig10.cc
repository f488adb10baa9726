#include <utility>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 10: peers on four graphs. Their regret is that of a run with a server, plus the regret of waiting
/// pulls. The second part is measured by itself, because it is small against the spread of the first.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 10";

Where On(const Where& widths, const std::string& topology) {
  return With(With(widths, "algorithm.name", "ddp-mab"), "federation.topology", topology);
}

absl::StatusOr<NamedSample> Of(const Findings& findings, const Where& widths, const char* topology,
                               const char* metric) {
  return NamedFinal(findings, topology, On(widths, topology), metric);
}

// Holds if in each pair the first topology is clearly below the second.
absl::StatusOr<Finding> Ascend(const Findings& findings, const Where& widths, const char* metric,
                               const std::vector<std::pair<const char*, const char*>>& pairs) {
  return ForEach(pairs, [&](const auto& pair) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample a, Of(findings, widths, pair.first, metric));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample b, Of(findings, widths, pair.second, metric));
    return Finding{
        Compare(a.sample, b.sample) == Order::kBelow,
        fmt::format("{} {}, {} {}", a.name, Figure(MeanOf(a.sample)), b.name, Figure(MeanOf(b.sample)))};
  });
}

absl::StatusOr<Finding> RingWaitsMost(const Findings& findings, const Where& widths) {
  return Ascend(findings, widths, kWaitingRegret,
                {{"complete", "star"}, {"star", "erdos-renyi"}, {"erdos-renyi", "ring"}});
}

absl::StatusOr<Finding> RingIsVisible(const Findings& findings, const Where& widths) {
  return ForEach(std::vector<const char*>{"complete", "star"},
                 [&](const char* other) -> absl::StatusOr<Finding> {
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample ring, Of(findings, widths, "ring", "regret"));
                   BANDANA_ASSIGN_OR_RETURN(const NamedSample least, Of(findings, widths, other, "regret"));
                   return p4::AtLeastTimes(ring, least, 1.05);
                 });
}

absl::StatusOr<Finding> StarIsCheapest(const Findings& findings) {
  return Ascend(findings, Ours(), kCost, {{"star", "ring"}, {"star", "complete"}, {"star", "erdos-renyi"}});
}

absl::StatusOr<Finding> CompleteIsTheServer(const Findings& findings) {
  return ForEach(
      std::vector<std::pair<const char*, Where>>{{"as printed", Printed()}, {"epsilon delivered", Ours()}},
      [&](const auto& way) -> absl::StatusOr<Finding> {
        BANDANA_ASSIGN_OR_RETURN(const NamedSample peers, Of(findings, way.second, "complete", "regret"));
        BANDANA_ASSIGN_OR_RETURN(const Sample server,
                                 findings.Final(With(way.second, "algorithm.name", "cdp-mab")));
        return Finding{
            peers.sample == server,
            fmt::format("{}: {} and {}", way.first, Figure(MeanOf(peers.sample)), Figure(MeanOf(server)))};
      });
}

}  // namespace

std::vector<PaperClaim> P4Fig10Claims() {
  const std::string lost =
      "a round's waiting is d_G - 1 slots, about 170 of an agent's T in all on the ring: it is lost in what "
      "exploration costs, which is the same on every graph";
  return {
      {"as printed: what is lost while waiting is nothing on the complete graph, little on the star, most on "
       "the ring",
       kFigure, true, "", [](const Findings& findings) { return RingWaitsMost(findings, Printed()); }},
      {"epsilon delivered: what is lost while waiting is nothing on the complete graph, little on the star, "
       "most on the ring",
       kFigure, true, "", [](const Findings& findings) { return RingWaitsMost(findings, Ours()); }},
      {"as printed: the ring incurs visibly larger regret than star and complete graph (5 % or more)",
       kFigure, false, lost, [](const Findings& findings) { return RingIsVisible(findings, Printed()); }},
      {"epsilon delivered: the ring incurs visibly larger regret than star and complete graph (5 % or more)",
       kFigure, false, lost, [](const Findings& findings) { return RingIsVisible(findings, Ours()); }},
      {"the star has the smallest communication cost, counted", kFigure, true, "", StarIsCheapest},
      {"beyond the paper: on the complete graph peers decide as the server does, run by run", kFigure, true,
       "", CompleteIsTheServer},
  };
}

}  // namespace bandana::lab
