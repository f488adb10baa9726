#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P1, Fig. 2(a): regret by epsilon, for each trust model.
namespace bandana::lab {
namespace {

constexpr char kFigure[] = "p1 Fig. 2(a)";

absl::StatusOr<Named> ByEpsilon(const Findings& findings, const std::string& model, const std::string& width,
                                const std::string& calibration) {
  BANDANA_ASSIGN_OR_RETURN(Line line,
                           findings.Along("privacy.epsilon", {{"privacy.model", model},
                                                              {"algorithm.width", width},
                                                              {"privacy.calibration", calibration}}));
  return Named{model + (calibration == "paper" ? " (paper's noise)" : ""), std::move(line)};
}

absl::StatusOr<Named> Ours(const Findings& findings, const std::string& model) {
  return ByEpsilon(findings, model, "exact", "tight");
}

PaperClaim FallsWithEpsilon(const std::string& model) {
  return {fmt::format("{}: the cumulative regret decreases as epsilon grows", model), kFigure, true, "",
          [model](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, Ours(findings, model));
            return Falls(line);
          }};
}

absl::StatusOr<Finding> LocalIsLargest(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named central, Ours(findings, "central"));
  BANDANA_ASSIGN_OR_RETURN(const Named shuffle, Ours(findings, "shuffle"));
  BANDANA_ASSIGN_OR_RETURN(const Named local, Ours(findings, "local"));
  return Both(Below(central, local), Below(shuffle, local));
}

absl::StatusOr<Finding> CentralIsSmallest(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named central, Ours(findings, "central"));
  BANDANA_ASSIGN_OR_RETURN(const Named shuffle, Ours(findings, "shuffle"));
  BANDANA_ASSIGN_OR_RETURN(const Named local, Ours(findings, "local"));
  return Both(NowhereAbove(central, shuffle), NowhereAbove(central, local));
}

absl::StatusOr<Finding> ShuffleIsCloseToCentral(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named central, Ours(findings, "central"));
  BANDANA_ASSIGN_OR_RETURN(const Named shuffle, Ours(findings, "shuffle"));
  return WithinFactor(shuffle, central, 1.1);
}

absl::StatusOr<Finding> TheoremsShuffleIsCloseToCentral(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named central, Ours(findings, "central"));
  BANDANA_ASSIGN_OR_RETURN(const Named shuffle, ByEpsilon(findings, "shuffle", "exact", "paper"));
  return WithinFactor(shuffle, central, 1.1);
}

absl::StatusOr<Finding> PapersModelsDiffer(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named central, ByEpsilon(findings, "central", "paper", "paper"));
  BANDANA_ASSIGN_OR_RETURN(const Named local, ByEpsilon(findings, "local", "paper", "paper"));
  return Below(central, local);
}

// Compares the guarantee that the noise delivers with the nominal one, at the point with the largest epsilon.
absl::StatusOr<Finding> ClassicNoiseGivesItsGuarantee(const Findings& findings) {
  const Json* worst = nullptr;
  for (const Json& point : findings.summary()["points"]) {
    const Json& varied = point["point"];
    if (varied.value("privacy.model", "") != "central" || varied.value("privacy.calibration", "") != "paper")
      continue;
    if (worst == nullptr || varied["privacy.epsilon"] > (*worst)["point"]["privacy.epsilon"]) worst = &point;
  }
  if (worst == nullptr) return absl::NotFoundError("the run has no central point with the paper's noise");
  const Json& privacy = (*worst)["privacy"];
  if (privacy["delivered"].empty()) return absl::NotFoundError("nothing is delivered");
  const Json& delivered = privacy["delivered"][0];
  const auto figure = [](const Json& guarantee, const char* key) { return guarantee[key].get<double>(); };
  const bool holds = figure(delivered, "epsilon") <= figure(privacy["nominal"], "epsilon") &&
                     figure(delivered, "delta") <= figure(privacy["nominal"], "delta");
  return Finding{holds,
                 fmt::format("asked ({:.3g}, {:.3g}), delivered ({:.3g}, {:.3g})",
                             figure(privacy["nominal"], "epsilon"), figure(privacy["nominal"], "delta"),
                             figure(delivered, "epsilon"), figure(delivered, "delta"))};
}

absl::StatusOr<Finding> HundredFold(const Findings& findings) {
  const auto at_one = [&](const std::string& width, const std::string& calibration) {
    return findings.Final({{"privacy.model", "central"},
                           {"privacy.epsilon", 1.0},
                           {"algorithm.width", width},
                           {"privacy.calibration", calibration}});
  };
  BANDANA_ASSIGN_OR_RETURN(const Sample paper, at_one("paper", "paper"));
  BANDANA_ASSIGN_OR_RETURN(const Sample ours, at_one("exact", "tight"));
  const Estimate ratio = PairedRatio(paper, ours);
  return Finding{ratio.value >= 100, fmt::format("{} against {}: a factor of {}", Figure(MeanOf(paper)),
                                                 Figure(MeanOf(ours)), Figure(ratio))};
}

}  // namespace

std::vector<PaperClaim> P1Fig2aClaims() {
  return {
      FallsWithEpsilon("central"),
      FallsWithEpsilon("shuffle"),
      FallsWithEpsilon("local"),
      {"LDP-DPE has the largest regret", kFigure, true, "", LocalIsLargest},
      {"CDP-DPE achieves the smallest regret", kFigure, true, "", CentralIsSmallest},
      {"SDP-DPE achieves a regret fairly close to CDP-DPE (within 10 %), with noise calibrated exactly",
       kFigure, true, "", ShuffleIsCloseToCentral},
      {"SDP-DPE achieves a regret fairly close to CDP-DPE (within 10 %), with Theorem 4.6's noise", kFigure,
       false, "the theorem's constants make the shuffled noise some 200 times the central one",
       TheoremsShuffleIsCloseToCentral},
      {"with the paper's widths and noise, CDP-DPE has a smaller regret than LDP-DPE", kFigure, false,
       "at small epsilon the paper's widths are so wide that neither eliminates anything in 10^6 rounds",
       PapersModelsDiffer},
      {"Theorem 4.2's noise gives (epsilon, delta)-DP at the figure's largest epsilon", "p1 Theorem 4.2",
       false, "the classic Gaussian mechanism is proved only for epsilon < 1", ClassicNoiseGivesItsGuarantee},
      {"beyond the paper: exact widths and noise divide CDP-DPE's regret at epsilon = 1 by a hundred",
       kFigure, true, "", HundredFold},
  };
}

}  // namespace bandana::lab
