#include <algorithm>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

/// P1, Fig. 3: DPE at several alphas against the baselines, which ask a new user in every round.
namespace bandana::lab {
namespace {

constexpr char kFigure[] = "p1 Fig. 3";

absl::StatusOr<Named> Dpe(const Findings& findings, const std::string& metric = "regret") {
  return NamedAlong(findings, "DPE", "algorithm.alpha", {{"algorithm.name", "dp-dpe"}}, metric);
}

absl::StatusOr<Finding> FallsWithAlpha(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named dpe, Dpe(findings));
  return Falls(dpe);
}

PaperClaim ComesClose(const std::string& name, const std::string& algorithm, bool expected,
                      const std::string& reason) {
  return {
      fmt::format("by adjusting alpha DPE achieves a regret close to {}'s, or smaller (at most twice)", name),
      kFigure, expected, reason, [name, algorithm](const Findings& findings) -> absl::StatusOr<Finding> {
        BANDANA_ASSIGN_OR_RETURN(const Named dpe, Dpe(findings));
        BANDANA_ASSIGN_OR_RETURN(const Sample other, findings.Final({{"algorithm.name", algorithm}}));
        std::vector<std::string> words;
        double best = PairedRatio(dpe.line.y.front(), other).value;
        for (std::size_t i = 0; i < dpe.line.x.size(); ++i) {
          const Estimate ratio = PairedRatio(dpe.line.y[i], other);
          best = std::min(best, ratio.value);
          words.push_back(fmt::format("{} at {:.3g}", Figure(ratio), dpe.line.x[i]));
        }
        return Finding{best <= 2, fmt::format("{}: {}; DPE / {}: {}", name, Figure(MeanOf(other)), name,
                                              fmt::join(words, ", "))};
      }};
}

struct Baseline {
  const char* name;
  const char* algorithm;
};
constexpr Baseline kLinUcb{"LinUCB", "lin-ucb"};
constexpr Baseline kPe{"PE", "pe"};

// Claims that DPE's metric is clearly below the baseline's at every alpha up to `most`.
PaperClaim TakesLess(const std::string& claim, const std::string& metric, const Baseline& baseline,
                     double most, bool expected = true, const std::string& reason = "") {
  return {claim, kFigure, expected, reason, [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named whole, Dpe(findings, metric));
            BANDANA_ASSIGN_OR_RETURN(const Sample other,
                                     findings.Final({{"algorithm.name", baseline.algorithm}}, metric));
            const Line line = Part(whole, 0, most).line;
            bool holds = !line.x.empty();
            std::vector<std::string> words;
            for (std::size_t i = 0; i < line.x.size(); ++i) {
              holds = holds && Compare(line.y[i], other) == Order::kBelow;
              words.push_back(fmt::format("{} at {:.3g}", Figure(MeanOf(line.y[i])), line.x[i]));
            }
            return Finding{holds, fmt::format("{} against {}'s {}", fmt::join(words, ", "), baseline.name,
                                              Figure(MeanOf(other).value))};
          }};
}

}  // namespace

std::vector<PaperClaim> P1Fig3Claims() {
  return {
      {"DPE's regret falls as alpha grows", kFigure, true, "", FallsWithAlpha},
      ComesClose("LinUCB", "lin-ucb", true, ""),
      ComesClose("PE", "pe", true, ""),
      TakesLess("DPE always involves fewer users than LinUCB", "clients", kLinUcb, 1),
      TakesLess("DPE always involves fewer users than PE", "clients", kPe, 1),
      TakesLess("DPE always sends less than LinUCB", "communication_reals", kLinUcb, 1),
      TakesLess("DPE sends less than PE, at alpha <= 0.8", "communication_reals", kPe, 0.85),
      TakesLess("DPE sends less than PE, at alpha = 0.9 too", "communication_reals", kPe, 1, false,
                "PE's last phase is cut short by the horizon and so reports nothing: PE sends 3.3e4 reals "
                "and not 5e4"),
  };
}

}  // namespace bandana::lab
