#include <cmath>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P2, Fig. 2(b): regret with and without the core set.
namespace bandana::lab {
namespace {

constexpr char kFigure[] = "p2 Fig. 2(b)";
constexpr double kSmallEpsilon = 0.1;

absl::StatusOr<Named> ByEpsilon(const Findings& findings, bool core_set) {
  return NamedAlong(findings, core_set ? "core set" : "no core set", "privacy.epsilon",
                    {{"privacy.model", "central"}, {"algorithm.core_set", core_set}});
}

Named Part(const Named& whole, bool small) {
  return small ? Part(whole, 0, kSmallEpsilon) : Part(whole, 1.001 * kSmallEpsilon, INFINITY);
}

absl::StatusOr<Finding> Degrades(const Findings& findings, bool small) {
  BANDANA_ASSIGN_OR_RETURN(const Named with, ByEpsilon(findings, true));
  BANDANA_ASSIGN_OR_RETURN(const Named without, ByEpsilon(findings, false));
  return Below(Part(with, small), Part(without, small));
}

absl::StatusOr<Finding> CloseToNonPrivate(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named with, ByEpsilon(findings, true));
  BANDANA_ASSIGN_OR_RETURN(const Sample none,
                           findings.Final({{"privacy.model", "none"}, {"algorithm.core_set", true}}));
  const Named large = Part(with, false);
  return WithinFactor(large, {"non-private", {large.line.x, std::vector<Sample>(large.line.x.size(), none)}},
                      1.5);
}

absl::StatusOr<Finding> CostsWithoutPrivacy(const Findings& findings) {
  const auto at = [&](bool core_set) {
    return findings.Final({{"privacy.model", "none"}, {"algorithm.core_set", core_set}});
  };
  BANDANA_ASSIGN_OR_RETURN(const Sample with, at(true));
  BANDANA_ASSIGN_OR_RETURN(const Sample without, at(false));
  return Finding{Compare(with, without) == Order::kAbove,
                 fmt::format("core set {}, no core set {}, difference {}", Figure(MeanOf(with)),
                             Figure(MeanOf(without)), Figure(PairedDifference(with, without)))};
}

}  // namespace

std::vector<PaperClaim> P2Fig2bClaims() {
  return {
      {"no core set significantly degrades the performance, at epsilon <= 0.1", kFigure, true, "",
       [](const Findings& findings) { return Degrades(findings, true); }},
      {"no core set significantly degrades the performance, at epsilon > 0.1", kFigure, false,
       "the noise is small there, and a core set plays the extreme actions, which are bad ones, more often",
       [](const Findings& findings) { return Degrades(findings, false); }},
      {"with the core set the performance is very close to the non-private one (within 50 %), at epsilon > "
       "0.1",
       kFigure, true, "", CloseToNonPrivate},
      {"beyond the paper: without privacy the core set costs more than it brings", kFigure, true, "",
       CostsWithoutPrivacy},
  };
}

}  // namespace bandana::lab
