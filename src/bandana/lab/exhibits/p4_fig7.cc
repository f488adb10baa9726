#include <algorithm>
#include <cmath>

#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 7: regret against cost, by participation p and number of communication rounds R.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 7";
constexpr char kShare[] = "algorithm.participation";
constexpr char kRounds[] = "algorithm.rounds";
constexpr double kServerLink = 25;  // c1, the cost of a link to the server
constexpr char kFiveAreFew[] = "without a limit there are 6 to 8 rounds, and five explore longer";

Where Limited(const Where& widths, const char* gap) { return With(widths, "algorithm.gap", gap); }
Where Unlimited(const Where& widths) { return With(widths, kRounds, "auto"); }

PaperClaim TradesOff(const std::string& name, const Where& where) {
  return {fmt::format("{}: regret falls with p at every R, and with R at every p", name), kFigure, true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            const auto along = [&](const char* key, const char* other, const char* letter) {
              return AtEvery(findings, other, where, [&](double value) -> absl::StatusOr<Finding> {
                BANDANA_ASSIGN_OR_RETURN(const Named line,
                                         NamedAlong(findings, fmt::format("{} = {}", letter, value), key,
                                                    With(where, other, value)));
                return Falls(line);
              });
            };
            BANDANA_ASSIGN_OR_RETURN(const Finding shares, along(kShare, kRounds, "R"));
            BANDANA_ASSIGN_OR_RETURN(const Finding rounds, along(kRounds, kShare, "p"));
            return rounds.holds ? shares : Both(shares, rounds);  // both have the same figures
          }};
}

// Holds if it does in every run of every point that has a limit R.
absl::StatusOr<Finding> CostsNoMoreThanTheorem2(const Findings& findings) {
  std::size_t points = 0;
  double most = 0;
  double least = INFINITY;
  for (const Json& point : findings.summary()["points"]) {
    const Json& varied = point["point"];
    if (!varied[kRounds].is_number()) continue;
    const double agents =
        std::ceil(varied[kShare].get<double>() * point["network"]["nodes"].get<double>() - 1e-9);
    const double theorem = kServerLink * agents * varied[kRounds].get<double>();
    for (const double cost : point["metrics"][kCost]["values"].get<Sample>()) {
      most = std::max(most, cost / theorem);
      least = std::min(least, cost / theorem);
    }
    ++points;
  }
  if (points == 0) return absl::NotFoundError("the run has no points with a number of rounds");
  return Finding{most <= 1 + 1e-9, fmt::format("from {:.2f} to {:.2f} times c1 ceil(p M) R", least, most)};
}

absl::StatusOr<Finding> AtTheCorner(const Findings& findings, const Where& widths, const char* gap,
                                    const char* metric) {
  BANDANA_ASSIGN_OR_RETURN(
      const NamedSample corner,
      NamedFinal(findings, "p = 1, R = 5", With(With(Limited(widths, gap), kShare, 1), kRounds, 5), metric));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample all,
                           NamedFinal(findings, "no limit", Unlimited(widths), metric));
  return WithinFactor(corner, all, 1.25);
}

}  // namespace

std::vector<PaperClaim> P4Fig7Claims() {
  return {
      TradesOff("as printed", Limited(Printed(), "known")),
      TradesOff("gap-free", Limited(Ours(), "auto")),
      {"the cost counted is at most c1 ceil(p M) R", "p4 Theorem 2", true, "", CostsNoMoreThanTheorem2},
      {"as printed: R = 5, p = 1 costs about as much as no limit (within 25 %)", kFigure, false, kFiveAreFew,
       [](const Findings& findings) { return AtTheCorner(findings, Printed(), "known", kCost); }},
      {"as printed: the regret of R = 5, p = 1 is close to that of Fig. 4 (within 25 %)", kFigure, false,
       kFiveAreFew,
       [](const Findings& findings) { return AtTheCorner(findings, Printed(), "known", "regret"); }},
      {"gap-free: the regret of R = 5, p = 1 is close to that of Fig. 4 (within 25 %)", kFigure, false,
       kFiveAreFew, [](const Findings& findings) { return AtTheCorner(findings, Ours(), "auto", "regret"); }},
  };
}

}  // namespace bandana::lab
