#include <algorithm>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

/// P1, Fig. 3: DPE by alpha against the baselines that take a new user every round.
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
  return {fmt::format("by adjusting alpha DPE achieves a regret close to {}'s (within a factor of 2)", name),
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

PaperClaim Takes(const std::string& what, const std::string& metric) {
  return {fmt::format("DPE always takes {} than LinUCB and PE", what), kFigure, true, "",
          [metric](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named dpe, Dpe(findings, metric));
            Finding all{true, ""};
            for (const auto& [name, algorithm] : {std::pair{"LinUCB", "lin-ucb"}, {"PE", "pe"}}) {
              BANDANA_ASSIGN_OR_RETURN(const Sample other,
                                       findings.Final({{"algorithm.name", algorithm}}, metric));
              std::vector<std::string> words;
              for (std::size_t i = 0; i < dpe.line.x.size(); ++i) {
                all.holds = all.holds && Compare(dpe.line.y[i], other) == Order::kBelow;
                words.push_back(fmt::format("{} at {:.3g}", Figure(MeanOf(dpe.line.y[i])), dpe.line.x[i]));
              }
              all.evidence += fmt::format("{}{} against {}'s {}", all.evidence.empty() ? "" : "; ",
                                          fmt::join(words, ", "), name, Figure(MeanOf(other).value));
            }
            return all;
          }};
}

}  // namespace

std::vector<PaperClaim> P1Fig3Claims() {
  return {
      {"DPE's regret falls as alpha grows", kFigure, true, "", FallsWithAlpha},
      ComesClose("LinUCB", "lin-ucb", true, ""),
      ComesClose("PE", "pe", true, ""),
      Takes("fewer users", "clients"),
      Takes("less communication", "communication_reals"),
  };
}

}  // namespace bandana::lab
