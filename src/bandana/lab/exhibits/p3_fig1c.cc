#include "bandana/core/status.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p3_points.h"
#include "fmt/format.h"

/// P3, Fig. 1C: regret by dimension.
namespace bandana::lab {
namespace {

using namespace p3;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p3 Fig. 1C";

absl::StatusOr<Named> ByDimension(const Findings& findings, bool is_private) {
  return NamedAlong(findings, is_private ? "epsilon = 1" : "non-private", "environment.dimension",
                    is_private ? Ours() : NonPrivate(), kRegret);
}

PaperClaim IsQuadratic(bool is_private, const std::string& reason) {
  return {fmt::format("{}: essentially a quadratic dependence on d (slope from 1.7 to 2.3)",
                      is_private ? "private" : "non-private"),
          kFigure, false, reason, [is_private](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByDimension(findings, is_private));
            return GrowsLike(line, 2, 0.3);
          }};
}

PaperClaim AtMostQuadratic(bool is_private) {
  return {fmt::format("{}: regret grows at most like d^2", is_private ? "private" : "non-private"), kFigure,
          true, "", [is_private](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByDimension(findings, is_private));
            return GrowsAtMostLike(line, 2, 0);
          }};
}

}  // namespace

std::vector<PaperClaim> P3Fig1cClaims() {
  return {
      AtMostQuadratic(true),
      AtMostQuadratic(false),
      IsQuadratic(
          true,
          "the noise's norm grows like sqrt(d) and a record is one of d directions: d^1.5 at most, which "
          "these d do not reach"),
      IsQuadratic(false, "from d = 10 to 20 the slope is 1.7, but below that it is flatter"),
  };
}

}  // namespace bandana::lab
