#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 4: regret by epsilon, with a server.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 4";
constexpr char kEpsilon[] = "privacy.epsilon";

Where Under(const std::string& calibration, const std::string& width) {
  return {{"privacy.calibration", calibration}, {"algorithm.width", width}};
}

PaperClaim FallsWithEpsilon(const std::string& name, const Where& where) {
  return {fmt::format("{}: regret falls as epsilon grows", name), kFigure, true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, NamedAlong(findings, name, kEpsilon, where));
            return Falls(line);
          }};
}

// Compares epsilon = 1 with no privacy, with the same widths.
absl::StatusOr<Finding> IsLikeNone(const Findings& findings, const Where& where) {
  BANDANA_ASSIGN_OR_RETURN(const NamedSample one,
                           NamedFinal(findings, "epsilon = 1", With(where, kEpsilon, 1)));
  const Where none = {{"privacy.model", "none"}, {"algorithm.width", where.at("algorithm.width")}};
  BANDANA_ASSIGN_OR_RETURN(const NamedSample without, NamedFinal(findings, "non-private", none));
  return WithinFactor(one, without, 1.05);
}

absl::StatusOr<Finding> HardlyMatters(const Findings& findings) {
  const Where where = Under("paper", "exact");
  const auto at = [&](double epsilon) {
    return NamedFinal(findings, fmt::format("epsilon = {}", epsilon), With(where, kEpsilon, epsilon));
  };
  BANDANA_ASSIGN_OR_RETURN(const NamedSample small, at(0.1));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample large, at(1));
  return WithinFactor(small, large, 1.1);
}

}  // namespace

std::vector<PaperClaim> P4Fig4Claims() {
  return {
      FallsWithEpsilon("as printed, so that M epsilon is delivered", Printed()),
      FallsWithEpsilon("epsilon delivered, the paper's widths", Under("tight", "paper")),
      FallsWithEpsilon("epsilon delivered, exact widths", Ours()),
      {"as printed, epsilon = 1 indicates the non-private case (within 5 %)", kFigure, true, "",
       [](const Findings& findings) { return IsLikeNone(findings, Printed()); }},
      {"epsilon delivered, epsilon = 1 indicates the non-private case (within 5 %)", kFigure, false,
       "the printed noise is that of epsilon = M, 50 here; the noise of epsilon = 1 is M times as large",
       [](const Findings& findings) { return IsLikeNone(findings, Ours()); }},
      {"beyond the paper: under the printed noise and exact widths epsilon hardly matters (0.1 within 10 % "
       "of "
       "1)",
       kFigure, true, "", HardlyMatters},
  };
}

}  // namespace bandana::lab
