#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P2, Table I: measured log-log slopes in T against the table's rates. The rates are upper bounds for the
/// worst instance.
namespace bandana::lab {
namespace {

constexpr char kTable[] = "p2 Table I";
constexpr double kTolerance = 0.05;  // for the logarithms

absl::StatusOr<Named> ByHorizon(const Findings& findings, const std::string& model, double epsilon) {
  Where where = {{"privacy.model", model}};
  if (model != "none") where["privacy.epsilon"] = epsilon;
  return NamedAlong(findings, model, "horizon", where);
}

PaperClaim GrowsLikeRoot(const std::string& model, double epsilon) {
  const bool learns = model != "local" || epsilon > 0.1;
  const std::string at = model == "none" ? "" : fmt::format(" at epsilon = {}", epsilon);
  return {fmt::format("{}: regret grows like sqrt(T){}", model, at), kTable, learns,
          learns ? "" : "sqrt(T)/epsilon is above T for the shorter runs: those have learned nothing yet",
          [model, epsilon](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, model, epsilon));
            return GrowsAtMostLike(line, 0.5, kTolerance);
          }};
}

// The rate is O~(1/epsilon). Only logarithms grow with T, and the tolerance allows for them.
PaperClaim PriceIsBounded(const std::string& model, double epsilon) {
  return {fmt::format("{}: what privacy adds at epsilon = {} does not grow with sqrt(T) (O~(1/epsilon))",
                      model, epsilon),
          kTable, true, "", [model, epsilon](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, model, epsilon));
            BANDANA_ASSIGN_OR_RETURN(const Named none, ByHorizon(findings, "none", epsilon));
            return ExcessGrowsAtMostLike(line, none, 0, 0.2);
          }};
}

PaperClaim LocalPriceGrows(double epsilon) {
  return {fmt::format("local: what privacy adds at epsilon = {} grows with T, unlike in the other models",
                      epsilon),
          kTable, true, "", [epsilon](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, "local", epsilon));
            BANDANA_ASSIGN_OR_RETURN(const Named none, ByHorizon(findings, "none", epsilon));
            Finding finding = ExcessGrowsAtMostLike(line, none, 0, 0.2);
            finding.holds = !finding.holds;
            return finding;
          }};
}

}  // namespace

std::vector<PaperClaim> P2Table1Claims() {
  std::vector<PaperClaim> claims = {GrowsLikeRoot("none", 0)};
  for (const char* model : {"central", "shuffle", "local"}) {
    for (const double epsilon : {0.05, 0.2}) claims.push_back(GrowsLikeRoot(model, epsilon));
  }
  for (const char* model : {"central", "shuffle"}) {
    for (const double epsilon : {0.05, 0.2}) claims.push_back(PriceIsBounded(model, epsilon));
  }
  for (const double epsilon : {0.05, 0.2}) claims.push_back(LocalPriceGrows(epsilon));
  return claims;
}

}  // namespace bandana::lab
