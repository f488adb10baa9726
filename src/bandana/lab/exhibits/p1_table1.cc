#include <cmath>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P1, Table I: measured log-log slopes in T against the table's rates. The rates are upper bounds for the
/// worst instance, so a claim holds if the slope is not above its rate.
namespace bandana::lab {
namespace {

constexpr char kTable[] = "p1 Table I";
constexpr double kTolerance = 0.05;  // for the logarithms

absl::StatusOr<Named> ByHorizon(const Findings& findings, const std::string& model, double alpha,
                                const std::string& metric = "regret") {
  return NamedAlong(findings, model, "horizon", {{"privacy.model", model}, {"algorithm.alpha", alpha}},
                    metric);
}

PaperClaim RegretGrows(const std::string& model, double alpha, bool expected = true,
                       const std::string& reason = "") {
  return {fmt::format("{}, alpha = {}: regret grows like T^(1 - alpha/2)", model, alpha), kTable, expected,
          reason, [model, alpha](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, model, alpha));
            return GrowsAtMostLike(line, 1 - alpha / 2, kTolerance);
          }};
}

PaperClaim RateIsReached(double alpha) {
  return {fmt::format(
              "none, alpha = {}: T^(1 - alpha/2) is reached (slope within 0.1) and not only an upper bound",
              alpha),
          kTable, false,
          "on one instance, with its gap between best and second best, regret flattens; the rate is for the "
          "worst "
          "instance at each T",
          [alpha](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, "none", alpha));
            constexpr double kNear = 0.1;
            Finding finding = GrowsAtMostLike(line, 1 - alpha / 2, kTolerance);
            finding.holds = std::abs(LogLogSlope(line.line).value - (1 - alpha / 2)) <= kNear;
            return finding;
          }};
}

PaperClaim PriceGrows(const std::string& model, double alpha, bool expected = true,
                      const std::string& reason = "") {
  return {fmt::format("{}, alpha = {}: what privacy adds grows like T^(1 - alpha)", model, alpha), kTable,
          expected, reason, [model, alpha](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, model, alpha));
            BANDANA_ASSIGN_OR_RETURN(const Named none, ByHorizon(findings, "none", alpha));
            return ExcessGrowsAtMostLike(line, none, 1 - alpha, kTolerance);
          }};
}

PaperClaim CommunicationGrows(const std::string& model, double alpha, const std::string& metric,
                              double factor, const std::string& rate) {
  return {fmt::format("{}, alpha = {}: communication grows like {}", model, alpha, rate), kTable, true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByHorizon(findings, model, alpha, metric));
            return GrowsAtMostLike(line, factor * alpha, kTolerance);
          }};
}

}  // namespace

std::vector<PaperClaim> P1Table1Claims() {
  std::vector<PaperClaim> claims;
  for (const double alpha : {0.5, 0.8}) {
    for (const char* model : {"none", "central", "shuffle"}) claims.push_back(RegretGrows(model, alpha));
    claims.push_back(
        alpha > 0.6 ? RegretGrows("local", alpha)
                    : RegretGrows("local", alpha, false,
                                  "its noise is so large that at these T nearly nothing is eliminated yet"));
    claims.push_back(RateIsReached(alpha));
    for (const char* model : {"central", "shuffle"}) claims.push_back(PriceGrows(model, alpha));
    for (const char* model : {"none", "central", "local"}) {
      claims.push_back(CommunicationGrows(model, alpha, "communication_reals", 1, "T^alpha (reals)"));
    }
    claims.push_back(CommunicationGrows("shuffle", alpha, "communication_bits", 1.5, "T^(3 alpha/2) (bits)"));
  }
  return claims;
}

}  // namespace bandana::lab
