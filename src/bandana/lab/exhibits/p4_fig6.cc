#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Fig. 6 and Remark 2: regret if there are only R communication rounds.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p4 Fig. 6";
constexpr char kRemark[] = "p4 Remark 2";
constexpr char kRounds[] = "algorithm.rounds";
constexpr char kMoreRoundsAreBetter[] =
    "log T = 4 is of no T that the run could have; rounds end when 2^-r is below half of the smallest gap, "
    "which "
    "takes 6 to 8 rounds, and R rounds explore Delta^(-2/R) times too long each";

struct Schedule {
  const char* name;
  const char* calibration;
  const char* width;
  const char* gap;
};
constexpr Schedule kPrinted{"as printed", "paper", "paper", "known"};
constexpr Schedule kKnown{"gap known", "tight", "exact", "known"};
constexpr Schedule kGapFree{"gap-free", "tight", "exact", "auto"};

Where Of(const Schedule& schedule) {
  return {{"algorithm.name", "cdp-mab"},
          {"privacy.calibration", schedule.calibration},
          {"algorithm.width", schedule.width},
          {"algorithm.gap", schedule.gap}};
}

Where Unlimited(const Where& widths) {
  return With(With(widths, "algorithm.name", "cdp-mab"), kRounds, "auto");
}
Where Alone(const Where& widths) {
  return With(With(widths, "algorithm.name", "single-mab"), kRounds, "auto");
}

absl::StatusOr<NamedSample> InRounds(const Findings& findings, const Schedule& schedule, int rounds) {
  return NamedFinal(findings, fmt::format("{}, R = {}", schedule.name, rounds),
                    With(Of(schedule), kRounds, rounds));
}

PaperClaim FallsWithRounds(const Schedule& schedule) {
  return {fmt::format("{}: regret falls from R = 2 to R = 5", schedule.name), kFigure, true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line,
                                     NamedAlong(findings, schedule.name, kRounds, Of(schedule)));
            return Falls(Part(line, 2, 5));
          }};
}

PaperClaim FourIsLikeFive(const Schedule& schedule) {
  return {fmt::format("{}: R = 4 and R = 5 are almost the same (within 10 %)", schedule.name), kFigure, false,
          kMoreRoundsAreBetter, [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const NamedSample four, InRounds(findings, schedule, 4));
            BANDANA_ASSIGN_OR_RETURN(const NamedSample five, InRounds(findings, schedule, 5));
            return WithinFactor(four, five, 1.1);
          }};
}

PaperClaim FourSuffice(const Schedule& schedule, const Where& widths) {
  return {fmt::format("{}: four rounds suffice (within 10 % of no limit)", schedule.name), kFigure, false,
          kMoreRoundsAreBetter, [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const NamedSample four, InRounds(findings, schedule, 4));
            BANDANA_ASSIGN_OR_RETURN(const NamedSample all,
                                     NamedFinal(findings, "no limit", Unlimited(widths)));
            return WithinFactor(four, all, 1.1);
          }};
}

absl::StatusOr<Finding> FourAreNeeded(const Findings& findings) {
  const auto rounds = [&](const char* name, const Where& widths) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample seen, NamedFinal(findings, name, Unlimited(widths), "rounds"));
    const Estimate mean = MeanOf(seen.sample);
    return Finding{mean.value <= 5, fmt::format("{}: {} rounds", name, Figure(mean))};
  };
  BANDANA_ASSIGN_OR_RETURN(const Finding printed, rounds("as printed", Printed()));
  BANDANA_ASSIGN_OR_RETURN(const Finding ours, rounds("exact widths", Ours()));
  return Both(printed, ours);
}

absl::StatusOr<Finding> OneRoundIsWorseThanAlone(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const NamedSample one, InRounds(findings, kGapFree, 1));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample alone, NamedFinal(findings, "each alone", Alone(Ours())));
  return Below(alone, one);
}

absl::StatusOr<Finding> ThreeRoundsAreWorseThanAlone(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const NamedSample three, InRounds(findings, kGapFree, 3));
  BANDANA_ASSIGN_OR_RETURN(const NamedSample alone, NamedFinal(findings, "each alone", Alone(Ours())));
  return Below(alone, three);
}

}  // namespace

std::vector<PaperClaim> P4Fig6Claims() {
  return {
      FallsWithRounds(kPrinted),
      FallsWithRounds(kKnown),
      FallsWithRounds(kGapFree),
      FourIsLikeFive(kPrinted),
      FourIsLikeFive(kKnown),
      FourIsLikeFive(kGapFree),
      {"about log T = 4 rounds eliminate all suboptimal arms (five at most, on average, without a limit)",
       kFigure, false, kMoreRoundsAreBetter, FourAreNeeded},
      FourSuffice(kPrinted, Printed()),
      FourSuffice(kGapFree, Ours()),
      {"beyond the paper: with one round each is better off alone", kRemark, true, "",
       OneRoundIsWorseThanAlone},
      {"with fewer rounds than 4 log T/(3 log(p M)), which is 3.9 at T = 1e5 and 4.7 at 1e6, each is better "
       "off alone: R = 3",
       kRemark, false, "the remark compares upper bounds; a round of many agents is worth more than they say",
       ThreeRoundsAreWorseThanAlone},
  };
}

}  // namespace bandana::lab
