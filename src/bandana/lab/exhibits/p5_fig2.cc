#include <string>
#include <vector>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p5_points.h"
#include "fmt/format.h"

/// P5, Fig. 2: regret with local privacy in several worlds.
namespace bandana::lab {
namespace {

using namespace p5;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p5 Fig. 2";
constexpr char kName[] = "algorithm.name";
constexpr char kEpsilon[] = "privacy.epsilon";
constexpr double kEpsilons[] = {0.5, 1};

struct World {
  std::string name;
  std::string link;
  std::string parameters;
  int dimension;
};

Where In(const World& world) {
  return {{"environment.link", world.link},
          {"environment.parameters", world.parameters},
          {"environment.dimension", world.dimension},
          {"privacy.model", "local"},
          {"privacy.calibration", "tight"}};
}

Where At(const World& world, const std::string& algorithm, double epsilon) {
  return With(With(In(world), kName, algorithm), kEpsilon, epsilon);
}

absl::StatusOr<NamedSample> RegretOf(const Findings& findings, const World& world,
                                     const std::string& algorithm, double epsilon) {
  return NamedFinal(findings, fmt::format("{} at epsilon = {}", algorithm, epsilon),
                    At(world, algorithm, epsilon));
}

PaperClaim Sublinear(const World& world, const std::string& algorithm, bool expected,
                     std::string reason = "") {
  constexpr double kClearlySublinear = 0.9;
  return {fmt::format("{}: {}'s regret is clearly sublinear (at most t^{} over the last factor of ten)",
                      world.name, algorithm, kClearlySublinear),
          kFigure, expected, std::move(reason), [=](const Findings& findings) {
            return ForEach(kEpsilons, [&](double epsilon) {
              return LastSlopeAtMost(findings, fmt::format("epsilon = {}", epsilon),
                                     At(world, algorithm, epsilon), kClearlySublinear);
            });
          }};
}

PaperClaim Beats(const World& world, const std::string& ours, const std::string& theirs, bool expected,
                 std::string reason = "") {
  return {fmt::format("{}: {} has less regret than {}, in median and in four of five replicates", world.name,
                      ours, theirs),
          kFigure, expected, std::move(reason), [=](const Findings& findings) {
            return ForEach(kEpsilons, [&](double epsilon) -> absl::StatusOr<Finding> {
              BANDANA_ASSIGN_OR_RETURN(const NamedSample a, RegretOf(findings, world, ours, epsilon));
              BANDANA_ASSIGN_OR_RETURN(const NamedSample b, RegretOf(findings, world, theirs, epsilon));
              return MedianBelow(a, b);
            });
          }};
}

}  // namespace

std::vector<PaperClaim> P5Fig2Claims() {
  const std::vector<World> worlds = {
      {"linear, one theta, d = 2, K = 10", "identity", "single", 2},
      {"linear, one theta, d = 20, K = 20", "identity", "single", 20},
      {"linear, K thetas, d = 10, K = 3", "identity", "multi", 10},
      {"logistic, one theta, d = 2, K = 10", "logistic", "single", 2},
      {"logistic, one theta, d = 20, K = 20", "logistic", "single", 20},
      {"logistic, K thetas, d = 10, K = 3", "logistic", "multi", 10},
      {"Poisson, one theta, d = 2, K = 10", "poisson", "single", 2},
  };
  std::vector<PaperClaim> claims;
  for (const World& world : worlds) {
    claims.push_back(Sublinear(world, "ldp-sgd", true));
    claims.push_back(Sublinear(world, "ldp-ols", true));
    for (const char* ours : {"ldp-sgd", "ldp-ols"}) {
      for (const char* theirs : {"ldp-ucb", "ldp-gloc"}) claims.push_back(Beats(world, ours, theirs, true));
    }
  }
  return claims;
}

}  // namespace bandana::lab
