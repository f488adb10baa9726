#include <cmath>
#include <string>
#include <vector>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p5_points.h"
#include "fmt/format.h"

/// P5, Theorems 3.1 to 3.3: how regret grows with the horizon, by the margin between the arms.
namespace bandana::lab {
namespace {

using namespace p5;  // NOLINT(google-build-using-namespace)

constexpr char kTheorem[] = "p5 Theorem 3.3";
constexpr char kEpsilon[] = "privacy.epsilon";
constexpr char kMargin[] = "environment.margin";
constexpr double kTolerance = 0.15;  // in the exponent, for logarithms and for finite T

Where Of(const std::string& algorithm, double epsilon) {
  return {{"algorithm.name", algorithm}, {kEpsilon, epsilon}};
}

PaperClaim GrowsAtMostLike(const std::string& algorithm, double margin, double rate) {
  return {fmt::format("{}, margin beta = {}: regret grows at most as T^{} (up to {} more), at epsilon = 4",
                      algorithm, margin, rate, kTolerance),
          kTheorem, true, "", [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const double slope,
                                     LastSlope(findings, With(Of(algorithm, 4), kMargin, margin)));
            return Finding{slope <= rate + kTolerance, fmt::format("T^{:.2f}", slope)};
          }};
}

PaperClaim FallsWithMargin(const std::string& algorithm, double epsilon) {
  return {fmt::format("{}, epsilon = {}: the larger the margin's beta, the slower regret grows", algorithm,
                      epsilon),
          kTheorem, true, "", [=](const Findings& findings) -> absl::StatusOr<Finding> {
            Finding finding{true, ""};
            double before = HUGE_VAL;
            for (const double margin : ValuesOf(findings, kMargin, Of(algorithm, epsilon))) {
              BANDANA_ASSIGN_OR_RETURN(const double slope,
                                       LastSlope(findings, With(Of(algorithm, epsilon), kMargin, margin)));
              finding.holds = finding.holds && slope < before;
              finding.evidence +=
                  fmt::format("{}beta = {}: T^{:.2f}", finding.evidence.empty() ? "" : "; ", margin, slope);
              before = slope;
            }
            return finding;
          }};
}

absl::StatusOr<double> HardSlope(const Findings& findings, const std::string& algorithm) {
  return LastSlope(findings, With(Of(algorithm, 4), "environment.contexts", "gaussian"));
}

PaperClaim HardIsBounded(const std::string& algorithm) {
  return {fmt::format("{}: on the instance of Theorem 3.2 regret grows at most as T^0.5, at epsilon = 4",
                      algorithm),
          "p5 Theorem 3.1", true, "", [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const double slope, HardSlope(findings, algorithm));
            return Finding{slope <= 0.5, fmt::format("T^{:.2f}", slope)};
          }};
}

PaperClaim HardIsHard(const std::string& algorithm) {
  return {fmt::format("{}: on the instance of Theorem 3.2, theta fixed, regret grows as T^0.5 (within {}), "
                      "at epsilon = 4",
                      algorithm, kTolerance),
          "p5 Theorem 3.2", false,
          "the bound is for the worst theta, which shrinks as T grows; a fixed one has a margin of beta = 1",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const double slope, HardSlope(findings, algorithm));
            return Finding{std::abs(slope - 0.5) <= kTolerance, fmt::format("T^{:.2f}", slope)};
          }};
}

}  // namespace

std::vector<PaperClaim> P5MarginClaims() {
  std::vector<PaperClaim> claims;
  for (const char* algorithm : {"ldp-sgd", "ldp-ols"}) {
    claims.push_back(GrowsAtMostLike(algorithm, 0.25, 0.375));
    claims.push_back(GrowsAtMostLike(algorithm, 0.5, 0.25));
    claims.push_back(GrowsAtMostLike(algorithm, 1, 0));
    for (const double epsilon : {1.0, 2.0, 4.0}) claims.push_back(FallsWithMargin(algorithm, epsilon));
    claims.push_back(HardIsBounded(algorithm));
    claims.push_back(HardIsHard(algorithm));
  }
  return claims;
}

}  // namespace bandana::lab
