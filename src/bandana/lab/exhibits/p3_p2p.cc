#include <algorithm>
#include <map>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p3_points.h"
#include "fmt/format.h"

/// P3, Section 4.2: peers on graphs. Theorem 2 has the factor sqrt(cliques * gamma). `cliques` is the number
/// of cliques that cover the graph in which peers at a distance of at most gamma are joined.
namespace bandana::lab {
namespace {

using namespace p3;  // NOLINT(google-build-using-namespace)

constexpr char kTheorem[] = "p3 Theorem 2";
constexpr char kRemark[] = "p3 Remark 2";

struct Privacy {
  const char* name;
  const char* peers;  ///< privacy.model of peers on a graph
  const char* silos;  ///< privacy.model of the algorithms without a graph
};
constexpr Privacy kNone{"non-private", "none", "none"};
constexpr Privacy kPrivate{"private", "peer", "silo"};

Where OnGraph(const Privacy& privacy, const std::string& topology) {
  return {
      {"algorithm.name", "fed-ucb-p2p"}, {"privacy.model", privacy.peers}, {"federation.topology", topology}};
}

Where OnGraph(const Privacy& privacy, const std::string& topology, double gamma) {
  return With(OnGraph(privacy, topology), "algorithm.gamma", gamma);
}

Where Elsewhere(const Privacy& privacy, const std::string& algorithm) {
  return {{"algorithm.name", algorithm}, {"privacy.model", privacy.silos}};
}

// Returns regret by cliques * gamma. Graphs with the same product are averaged, replicate by replicate.
absl::StatusOr<Named> ByCover(const Findings& findings, const Privacy& privacy) {
  std::map<double, std::pair<Sample, double>> lines;
  for (const Json& point : findings.summary()["points"]) {
    const Json& varied = point["point"];
    if (!point.contains("graph") || varied["privacy.model"] != privacy.peers) continue;
    const double product = point["graph"]["cliques"].get<double>() * varied["algorithm.gamma"].get<double>();
    const auto values = point["metrics"][kRegret]["values"].get<Sample>();
    auto& [sum, points] = lines.try_emplace(product, Sample(values.size(), 0.0), 0.0).first->second;
    for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
    ++points;
  }
  if (lines.size() < 2) return absl::NotFoundError("the run has fewer than two graphs");
  Named line{privacy.name, {}};
  for (auto& [product, each] : lines) {
    for (double& value : each.first) value /= each.second;
    line.line.x.push_back(product);
    line.line.y.push_back(each.first);
  }
  return line;
}

// Claims that the last mean is clearly above the first, and that no step goes clearly down.
PaperClaim IsOrdered(const Privacy& privacy, bool expected, const std::string& reason) {
  return {fmt::format("{}: regret is ordered by the cover number times gamma", privacy.name), kTheorem,
          expected, reason, [privacy](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(Named line, ByCover(findings, privacy));
            std::reverse(line.line.y.begin(), line.line.y.end());
            std::reverse(line.line.x.begin(), line.line.x.end());
            return Falls(line);
          }};
}

PaperClaim GrowsLikeTheRoot(const Privacy& privacy, bool expected, const std::string& reason) {
  return {fmt::format("{}: regret grows at most like sqrt(cover number times gamma)", privacy.name), kTheorem,
          expected, reason, [privacy](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByCover(findings, privacy));
            return GrowsAtMostLike(line, 0.5, 0.05);
          }};
}

// Compares the line graph at its smallest gamma (`first`) or its largest with agents that learn alone.
absl::StatusOr<Finding> LineAgainstAlone(
    const Findings& findings, const Privacy& privacy, bool first,
    const std::function<Finding(const NamedSample&, const NamedSample&)>& compare) {
  const std::vector<double> gammas = ValuesOf(findings, "algorithm.gamma", OnGraph(privacy, "line"));
  if (gammas.empty()) return absl::NotFoundError("the run has no line");
  const double gamma = first ? gammas.front() : gammas.back();
  BANDANA_ASSIGN_OR_RETURN(const NamedSample line,
                           NamedRegret(findings, fmt::format("{}, line, gamma = {}", privacy.name, gamma),
                                       OnGraph(privacy, "line", gamma)));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample alone,
                           NamedRegret(findings, "alone", Elsewhere(privacy, "private-lin-ucb")));
  return compare(line, alone);
}

absl::StatusOr<Finding> LineIsLikeAlone(const Findings& findings, const Privacy& privacy) {
  const auto alike = [](const NamedSample& a, const NamedSample& b) { return lab::WithinFactor(a, b, 1.1); };
  BANDANA_ASSIGN_OR_RETURN(const Finding first, LineAgainstAlone(findings, privacy, true, alike));
  BANDANA_ASSIGN_OR_RETURN(const Finding last, LineAgainstAlone(findings, privacy, false, alike));
  return Both(first, last);
}

absl::StatusOr<Finding> LongLineIsWorse(const Findings& findings) {
  const auto worse = [](const NamedSample& a, const NamedSample& b) {
    const Finding below = lab::Below(b, a);
    return Finding{below.holds, below.evidence};
  };
  return LineAgainstAlone(findings, kPrivate, false, worse);
}

absl::StatusOr<Finding> CompleteIsLikeController(const Findings& findings) {
  Finding both{true, ""};
  for (const Privacy& privacy : {kNone, kPrivate}) {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample peers,
                             NamedRegret(findings, fmt::format("{}, complete, gamma = 1", privacy.name),
                                         OnGraph(privacy, "complete", 1)));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample controller,
                             NamedRegret(findings, "controller", Elsewhere(privacy, "fed-ucb")));
    const Finding one = lab::WithinFactor(peers, controller, 1.25);
    both = both.evidence.empty() ? one : Both(both, one);
  }
  return both;
}

absl::StatusOr<Finding> StarNeedsTwoHops(const Findings& findings) {
  Finding both{true, ""};
  for (const Privacy& privacy : {kNone, kPrivate}) {
    const auto star = [&](double gamma) {
      return NamedRegret(findings, fmt::format("{}, star, gamma = {}", privacy.name, gamma),
                         OnGraph(privacy, "star", gamma));
    };
    BANDANA_ASSIGN_OR_RETURN(const NamedSample two, star(2));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample one, star(1));
    const Finding finding = lab::Below(two, one);
    both = both.evidence.empty() ? finding : Both(both, finding);
  }
  return both;
}

}  // namespace

std::vector<PaperClaim> P3P2pClaims() {
  return {
      {"on a complete graph with gamma = 1 peers do as well as with a controller (within 25 %)", kRemark,
       true, "", CompleteIsLikeController},
      IsOrdered(kNone, true, ""),
      IsOrdered(kPrivate, false,
                "each of the gamma estimators has noise of its own, whoever shares it: gamma costs more than "
                "a cover number does"),
      GrowsLikeTheRoot(
          kNone, false,
          "the root is for the worst instance; here there is a gap, and regret is the time until "
          "a clique's records suffice for one estimator"),
      GrowsLikeTheRoot(kPrivate, true, ""),
      {"non-private: on a line it is as good as each agent acting individually (within 10 %)", kRemark, false,
       "gamma + 1 peers make a clique, so that the product is M gamma/(gamma + 1) and not M",
       [](const Findings& findings) { return LineIsLikeAlone(findings, kNone); }},
      {"private: on a line it is as good as each agent acting individually (within 10 %)", kRemark, false,
       "neighbours share at gamma = 1, and longer messages mean more estimators, each with its noise",
       [](const Findings& findings) { return LineIsLikeAlone(findings, kPrivate); }},
      {"beyond the paper: private, on a line with the largest gamma each agent is better off alone", kRemark,
       true, "", LongLineIsWorse},
      {"a star is one clique from gamma = 2 on: two hops have less regret than one", kTheorem, true, "",
       StarNeedsTwoHops},
  };
}

}  // namespace bandana::lab
