#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 11 and Table II: components. There are three costs: from the links that were counted, from the
/// edges of components (as in the text of Fig. 11), and from the paths to sinks (Theorem 4).
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 11";
constexpr char kSinkIsNear[] =
    "in a complete component everybody is one hop from the sink: it takes M_q - 1 links per round, whatever "
    "its "
    "edges, and case 3 needs one link to the server where the others need five";

const Json& Even() {
  static const auto& even = *new Json(Json::array({20, 20, 20, 20, 20}));
  return even;
}

Where Case(int number) {
  switch (number) {
    case 1:
      return {{"federation.components", Even()}, {"federation.component_topology", "complete"}};
    case 2:
      return {{"federation.components", Json::array({63, 24, 10, 6, 7})}};
    case 3:
      return {{"federation.components", Json::array({100})}};
    case 4:
      return {{"federation.components", Even()}, {"federation.component_topology", "erdos-renyi"}};
    case 5:
      return {{"federation.components", Even()}, {"federation.component_topology", "star"}};
    default:
      return {{"algorithm.name", "cdp-mab"}};
  }
}

struct Rule {
  const char* name;
  const char* metric;
  const char* rule;  ///< algorithm.cost_rule
};
constexpr Rule kCounted{"counted", kCost, "paths"};
constexpr Rule kEdges{"by edges", kPaperCost, "edges"};
constexpr Rule kPaths{"by ways to sinks", kPaperCost, "paths"};

absl::StatusOr<NamedSample> Of(const Findings& findings, int number, const Rule& rule) {
  const Where where = number == 6 ? Case(6) : With(Case(number), "algorithm.cost_rule", rule.rule);
  return NamedFinal(findings, fmt::format("case {}", number), where, rule.metric);
}

// Case a is cheaper than case b.
struct Pair {
  int a;
  int b;
};

PaperClaim Cheaper(const std::string& words, const Rule& rule, const std::vector<Pair>& pairs, bool expected,
                   const std::string& reason) {
  return {fmt::format("{}: {}", rule.name, words), kFigure, expected, reason,
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            return ForEach(pairs, [&](const Pair& pair) -> absl::StatusOr<Finding> {
              BANDANA_ASSIGN_OR_RETURN(const NamedSample a, Of(findings, pair.a, rule));
              BANDANA_ASSIGN_OR_RETURN(const NamedSample b, Of(findings, pair.b, rule));
              return Below(a, b);
            });
          }};
}

absl::StatusOr<NamedSample> RegretOf(const Findings& findings, int number, const char* metric) {
  return Of(findings, number, {"", metric, "paths"});
}

absl::StatusOr<Finding> AreAlike(const Findings& findings) {
  return ForEach(std::vector<int>{2, 3}, [&](int number) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample other, RegretOf(findings, number, kPerAgent));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample first, RegretOf(findings, 1, kPerAgent));
    return WithinFactor(other, first, 1.15);
  });
}

absl::StatusOr<Finding> DecideAlike(const Findings& findings) {
  return ForEach(std::vector<int>{3, 5, 6}, [&](int number) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample other, RegretOf(findings, number, "regret"));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample first, RegretOf(findings, 1, "regret"));
    return Finding{other.sample == first.sample,
                   fmt::format("{} {}, {} {}", other.name, Figure(MeanOf(other.sample)), first.name,
                               Figure(MeanOf(first.sample)))};
  });
}

absl::StatusOr<Finding> CostAtMostPaths(const Findings& findings) {
  return ForEach(std::vector<int>{1, 2, 3, 4, 5}, [&](int number) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample counted, Of(findings, number, kCounted));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample theorem, Of(findings, number, kPaths));
    bool holds = true;
    for (std::size_t i = 0; i < counted.sample.size(); ++i) {
      holds = holds && counted.sample[i] <= theorem.sample[i];
    }
    return Finding{holds, fmt::format("{}: {} of {}", counted.name, Figure(MeanOf(counted.sample).value),
                                      Figure(MeanOf(theorem.sample).value))};
  });
}

}  // namespace

std::vector<PaperClaim> P4Fig11Claims() {
  const std::vector<Pair> grow = {{1, 2}, {2, 3}};
  const std::vector<Pair> star = {{5, 1}, {5, 4}};
  const std::vector<Pair> server = {{1, 6}, {4, 6}, {5, 6}};
  const std::vector<Pair> one = {{1, 3}, {4, 3}, {5, 3}};
  const std::string grows = "from case 1 to 2 to 3 the cost increases";
  const std::string smallest = "of cases 1, 4 and 5 stars are cheapest";
  const std::string below_server = "components (cases 1, 4, 5) cost less than a server for all (case 6)";
  const std::string below_one = "components (cases 1, 4, 5) cost less than one component (case 3)";
  return {
      {"cases 1, 2 and 3 have similar regret per agent (within 15 %; case 2 has 110 agents, as Table II "
       "adds up)",
       kFigure, true, "", AreAlike},
      Cheaper(grows, kEdges, grow, true, ""),
      Cheaper(grows, kPaths, grow, false, kSinkIsNear),
      Cheaper(grows, kCounted, grow, false, kSinkIsNear),
      Cheaper(smallest, kEdges, star, true, ""),
      Cheaper(smallest, kCounted, star, false,
              "a complete component takes as many links as a star, one from everybody to the sink"),
      Cheaper(below_server, kEdges, server, true, ""),
      Cheaper(below_server, kCounted, server, true, ""),
      Cheaper(below_one, kEdges, one, true, ""),
      Cheaper(below_one, kPaths, one, false, kSinkIsNear),
      Cheaper(below_one, kCounted, one, false, kSinkIsNear),
      {"links counted are never more than Theorem 4's sum of ways to sinks", "p4 Theorem 4", true, "",
       CostAtMostPaths},
      {"beyond the paper: cases 1, 3, 5 and 6, where nobody waits, decide alike, run by run", kFigure, true,
       "", DecideAlike},
  };
}

}  // namespace bandana::lab
