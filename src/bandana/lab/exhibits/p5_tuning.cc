#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bandana/algorithms/registry.h"
#include "bandana/core/check.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p5_points.h"
#include "fmt/format.h"

/// Each of P5's algorithms has one number that must be searched for. These claims check that our default is
/// nearly the best value over all worlds.
namespace bandana::lab {
namespace {

using namespace p5;  // NOLINT(google-build-using-namespace)

// Returns the median regret at each value of the key, as the geometric mean over the worlds.
absl::StatusOr<std::map<double, double>> Scores(const Findings& findings, const std::string& algorithm,
                                                const std::string& key) {
  std::map<double, double> scores;
  for (const double value : ValuesOf(findings, key, {{"algorithm.name", algorithm}})) {
    double sum = 0;
    int worlds = 0;
    for (const char* link : {"identity", "logistic"}) {
      for (const char* parameters : {"single", "multi"}) {
        const Where where = {{"algorithm.name", algorithm},
                             {key, value},
                             {"environment.link", link},
                             {"environment.parameters", parameters}};
        BANDANA_ASSIGN_OR_RETURN(const Sample sample, findings.Final(where));
        sum += std::log(MedianOf(sample));
        ++worlds;
      }
    }
    scores[value] = std::exp(sum / worlds);
  }
  if (scores.empty()) return absl::NotFoundError(fmt::format("no point varies {}", key));
  return scores;
}

PaperClaim DefaultIsBest(const std::string& algorithm, const std::string& key, double chosen) {
  constexpr double kAsGood = 1.1;
  return {fmt::format("{}: {} = {}, the default, is within a tenth of the best on the grid", algorithm, key,
                      chosen),
          "p5 Section 5, footnote 3", true, "", [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const auto scores, Scores(findings, algorithm, key));
            Finding finding{true, ""};
            const auto found = scores.find(chosen);
            for (const auto& [value, score] : scores) {
              finding.holds = finding.holds && found != scores.end() && found->second <= kAsGood * score;
              finding.evidence +=
                  fmt::format("{}{}: {}", finding.evidence.empty() ? "" : "; ", value, Figure(score));
            }
            return finding;
          }};
}

// Returns the value that a user has who does not set the option.
double DefaultOf(const std::string& algorithm, const std::string& key) {
  const Family& family = **Families().FindFamily(algorithm, "glm");
  for (const Option& option : family.options) {
    if (option.FullKey() == key) return std::get<double>(option.get(family.defaults));
  }
  BANDANA_CHECK(false);
  return 0;
}

}  // namespace

std::vector<PaperClaim> P5TuningClaims() {
  std::vector<PaperClaim> claims;
  const std::vector<std::pair<std::string, std::string>> searched = {{"ldp-sgd", "algorithm.step"},
                                                                     {"ldp-ols", "algorithm.gram_shift"},
                                                                     {"ldp-ucb", "algorithm.bonus"},
                                                                     {"ldp-gloc", "algorithm.step"}};
  for (const auto& [algorithm, key] : searched) {
    claims.push_back(DefaultIsBest(algorithm, key, DefaultOf(algorithm, key)));
  }
  return claims;
}

}  // namespace bandana::lab
