#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

/// P1, Fig. 2(b): per-round regret over time at epsilon = 10.
namespace bandana::lab {
namespace {

constexpr char kFigure[] = "p1 Fig. 2(b)";

absl::StatusOr<Sample> Ours(const Findings& findings, const std::string& model) {
  return findings.Final({{"privacy.model", model}, {"algorithm.width", "exact"}});
}

PaperClaim LearnsOverTime(const std::string& model) {
  return {fmt::format("{}: the per-round regret falls over time", model), kFigure, true, "",
          [model](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(
                const CurveOverTime curve,
                findings.Curve({{"privacy.model", model}, {"algorithm.width", "exact"}}));
            const std::size_t last = curve.t.size() - 1;
            // Three checkpoints in the last factor of ten of the rounds.
            std::vector<std::string> words;
            std::vector<double> rates;
            for (const double share : {0.1, 0.3, 1.0}) {
              std::size_t i = 0;
              while (i < last && curve.t[i] < share * curve.t[last]) ++i;
              rates.push_back(curve.mean[i] / curve.t[i]);
              words.push_back(fmt::format("{:.3g} (sd {:.2g}) at t = {}", rates.back(),
                                          curve.sd[i] / curve.t[i], Figure(curve.t[i])));
            }
            const bool falls = rates[1] < rates[0] && rates[2] < rates[1];
            return Finding{falls, fmt::format("{}", fmt::join(words, ", "))};
          }};
}

absl::StatusOr<Finding> LocalIsLargest(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Sample local, Ours(findings, "local"));
  bool holds = true;
  std::vector<std::string> words;
  for (const char* model : {"none", "central", "shuffle"}) {
    BANDANA_ASSIGN_OR_RETURN(const Sample other, Ours(findings, model));
    holds = holds && Compare(other, local) == Order::kBelow;
    words.push_back(fmt::format("local / {}: {}", model, Figure(PairedRatio(local, other))));
  }
  return Finding{holds, fmt::format("{}", fmt::join(words, ", "))};
}

struct Beside {
  Estimate ratio;  // the regret divided by DPE's
  double share;    // the excess over DPE's regret, divided by LDP-DPE's excess
};

absl::StatusOr<Beside> BesideNonPrivate(const Findings& findings, const std::string& model) {
  BANDANA_ASSIGN_OR_RETURN(const Sample mine, Ours(findings, model));
  BANDANA_ASSIGN_OR_RETURN(const Sample none, Ours(findings, "none"));
  BANDANA_ASSIGN_OR_RETURN(const Sample local, Ours(findings, "local"));
  return Beside{PairedRatio(mine, none),
                PairedDifference(mine, none).value / PairedDifference(local, none).value};
}

PaperClaim IsCloseOnTheFiguresScale(const std::string& model) {
  return {
      fmt::format("{}: the regret is very close to DPE's, as the figure is drawn (2 % of LDP-DPE's distance)",
                  model),
      kFigure, true, "", [model](const Findings& findings) -> absl::StatusOr<Finding> {
        BANDANA_ASSIGN_OR_RETURN(const Beside beside, BesideNonPrivate(findings, model));
        return Finding{beside.share <= 0.02,
                       fmt::format("{:.2g} % of LDP-DPE's distance from DPE; {} times DPE's",
                                   100 * beside.share, Figure(beside.ratio))};
      }};
}

PaperClaim IsFree(const std::string& model) {
  return {
      fmt::format("{}: privacy is free, the regret within 10 % of DPE's", model), kFigure, false,
      "the added term is of lower order in T, but at T = 10^6 it still comes to more than half of the first",
      [model](const Findings& findings) -> absl::StatusOr<Finding> {
        BANDANA_ASSIGN_OR_RETURN(const Beside beside, BesideNonPrivate(findings, model));
        return Finding{beside.ratio.value <= 1.1, Figure(beside.ratio) + " times DPE's"};
      }};
}

absl::StatusOr<Finding> PapersOwnIsClose(const Findings& findings) {
  bool holds = true;
  std::vector<std::string> words;
  BANDANA_ASSIGN_OR_RETURN(const Sample none,
                           findings.Final({{"privacy.model", "none"}, {"algorithm.width", "paper"}}));
  for (const char* model : {"central", "shuffle"}) {
    BANDANA_ASSIGN_OR_RETURN(const Sample mine,
                             findings.Final({{"privacy.model", model}, {"algorithm.width", "paper"}}));
    const Estimate ratio = PairedRatio(mine, none);
    holds = holds && ratio.value <= 1.5;
    words.push_back(fmt::format("{} / none: {}", model, Figure(ratio)));
  }
  return Finding{holds, fmt::format("{}", fmt::join(words, ", "))};
}

}  // namespace

std::vector<PaperClaim> P1Fig2bClaims() {
  return {
      LearnsOverTime("none"),
      LearnsOverTime("central"),
      LearnsOverTime("shuffle"),
      LearnsOverTime("local"),
      {"LDP-DPE incurs the largest regret", kFigure, true, "", LocalIsLargest},
      IsCloseOnTheFiguresScale("central"),
      IsCloseOnTheFiguresScale("shuffle"),
      IsFree("central"),
      IsFree("shuffle"),
      {"with the paper's own widths and noise, CDP-DPE and SDP-DPE are very close to DPE (within 50 %)",
       kFigure, false, "Theorem 5.2's sigma_n = 2 sigma sqrt(S d) swamps the width", PapersOwnIsClose},
  };
}

}  // namespace bandana::lab
