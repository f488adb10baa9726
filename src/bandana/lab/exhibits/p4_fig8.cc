#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 8: agents alone or with a server, if their means are the same and if they differ.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 8";

struct Way {
  const char* name;
  Where where;
};

std::vector<Way> Ways() {
  return {{"as printed", Printed()},
          {"epsilon delivered", Ours()},
          {"non-private", {{"privacy.model", "none"}, {"algorithm.width", "exact"}}}};
}

Where Of(const Way& way, const char* algorithm, double heterogeneous) {
  return With(With(way.where, "algorithm.name", algorithm), "environment.heterogeneous", heterogeneous);
}

absl::StatusOr<Finding> ServerIsIndifferent(const Findings& findings) {
  return ForEach(Ways(), [&](const Way& way) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(
        const NamedSample differ,
        NamedFinal(findings, fmt::format("{}, heterogeneous", way.name), Of(way, "cdp-mab", 1)));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample same,
                             NamedFinal(findings, "homogeneous", Of(way, "cdp-mab", 0)));
    return WithinFactor(differ, same, 1.1);
  });
}

absl::StatusOr<Finding> ReachesOneOfM(const Findings& findings) {
  return ForEach(Ways(), [&](const Way& way) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(
        const NamedSample together,
        NamedFinal(findings, fmt::format("{}, server", way.name), Of(way, "cdp-mab", 0)));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample alone,
                             NamedFinal(findings, "alone", Of(way, "single-mab", 0)));
    constexpr double kAgents = 5;
    constexpr double kNear = 1.5;
    const Finding ratio = WithinFactor(together, alone, 1);
    const double share = kAgents * PairedRatio(together.sample, alone.sample).value;
    return Finding{share <= kNear && share >= 1 / kNear, ratio.evidence};
  });
}

absl::StatusOr<Finding> AloneIsLinear(const Findings& findings) {
  return ForEach(Ways(), [&](const Way& way) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const double alone, GrowthAtEnd(findings, Of(way, "single-mab", 1)));
    BANDANA_ASSIGN_OR_RETURN(const double server, GrowthAtEnd(findings, Of(way, "cdp-mab", 1)));
    return Finding{alone >= 0.6 && server <= 0.1,
                   fmt::format("{}: the second half adds {:.0f} % to the first alone, {:.0f} % with a server",
                               way.name, 100 * alone, 100 * server)};
  });
}

}  // namespace

std::vector<PaperClaim> P4Fig8Claims() {
  return {
      {"with a server regret is similar under both reward structures (within 10 %)", kFigure, true, "",
       ServerIsIndifferent},
      {"with a server regret is 1/M of that alone, where means are the same (within a factor of 1.5)",
       kFigure, true, "", ReachesOneOfM},
      {"where means differ regret alone is linear in T (the second half adds 60 % or more; a root would add "
       "41 %), with a server it is not (10 % or less)",
       kFigure, true, "", AloneIsLinear},
  };
}

}  // namespace bandana::lab
