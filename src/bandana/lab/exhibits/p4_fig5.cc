#include <algorithm>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 5: regret and cost by p, the share of agents that report in a communication round.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 5";
constexpr char kShare[] = "algorithm.participation";

PaperClaim FallsWithShare(const std::string& name, const Where& where) {
  return {fmt::format("{}: regret falls as p grows", name), kFigure, true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, NamedAlong(findings, name, kShare, where));
            return Falls(line);
          }};
}

PaperClaim GrowsSlowly(const std::string& name, const Where& where) {
  return {fmt::format("{}: regret grows at most like p^(-3/2)", name), "p4 Theorem 2", true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(Named line, NamedAlong(findings, name + ", by 1/p", kShare, where));
            for (double& x : line.line.x) x = 1 / x;
            std::reverse(line.line.x.begin(), line.line.x.end());
            std::reverse(line.line.y.begin(), line.line.y.end());
            return GrowsAtMostLike(line, 1.5, 0);
          }};
}

absl::StatusOr<Finding> CostRises(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(Named line, NamedAlong(findings, "from p = 1 down", kShare, Ours(), kCost));
  std::reverse(line.line.x.begin(), line.line.x.end());
  std::reverse(line.line.y.begin(), line.line.y.end());
  return Falls(line);
}

}  // namespace

std::vector<PaperClaim> P4Fig5Claims() {
  return {
      FallsWithShare("as printed", Printed()),
      FallsWithShare("epsilon delivered", Ours()),
      GrowsSlowly("as printed", Printed()),
      GrowsSlowly("epsilon delivered", Ours()),
      {"the cost falls with p: c1 ceil(p M) per round", "p4 Theorem 2", true, "", CostRises},
  };
}

}  // namespace bandana::lab
