#include <string>
#include <vector>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p5_points.h"
#include "fmt/format.h"

/// P5, Appendix G: prices of car loans (experiments/exhibits/p5-replay.toml describes the data).
namespace bandana::lab {
namespace {

using namespace p5;  // NOLINT(google-build-using-namespace)

constexpr char kAppendix[] = "p5 Appendix G";

Where At(const std::string& algorithm, double epsilon) {
  return {{"algorithm.name", algorithm}, {"privacy.epsilon", epsilon}, {"privacy.model", "local"}};
}

PaperClaim Sublinear(const std::string& algorithm, double epsilon) {
  constexpr double kClearlySublinear = 0.9;
  return {
      fmt::format("{}, epsilon = {}: regret is clearly sublinear (at most t^{} over the last factor of ten)",
                  algorithm, epsilon, kClearlySublinear),
      kAppendix, true, "", [=](const Findings& findings) {
        return LastSlopeAtMost(findings, algorithm, At(algorithm, epsilon), kClearlySublinear);
      }};
}

PaperClaim Beats(const std::string& ours, const std::string& theirs, double epsilon) {
  return {fmt::format("epsilon = {}: {} has less regret than {}, in median and in four of five replicates",
                      epsilon, ours, theirs),
          kAppendix, true, "", [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const NamedSample a, NamedFinal(findings, ours, At(ours, epsilon)));
            BANDANA_ASSIGN_OR_RETURN(const NamedSample b, NamedFinal(findings, theirs, At(theirs, epsilon)));
            return MedianBelow(a, b);
          }};
}

}  // namespace

std::vector<PaperClaim> P5ReplayClaims() {
  std::vector<PaperClaim> claims;
  for (const double epsilon : {0.5, 1.0, 4.0}) {
    claims.push_back(Sublinear("ldp-sgd", epsilon));
    for (const char* ours : {"ldp-sgd", "ldp-ols"}) {
      for (const char* theirs : {"ldp-ucb", "ldp-gloc"}) claims.push_back(Beats(ours, theirs, epsilon));
    }
  }
  claims.push_back(Beats("ldp-sgd", "ldp-ols", 4));
  return claims;
}

}  // namespace bandana::lab
