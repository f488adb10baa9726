#include <cmath>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P1, Fig. 2(c): a number of clients that grows with the phases against a fixed number, at equal
/// communication.
namespace bandana::lab {
namespace {

constexpr char kFigure[] = "p1 Fig. 2(c)";
constexpr double kPapersU = 97;

Where Growing(double alpha) { return {{"algorithm.clients", "growing"}, {"algorithm.alpha", alpha}}; }
Where Fixed(double alpha) { return {{"algorithm.clients", "fixed"}, {"algorithm.alpha", alpha}}; }
Where FixedAt(double clients) { return {{"algorithm.fixed_clients", clients}}; }

PaperClaim PapersUFits(double alpha, bool expected, const std::string& reason) {
  return {fmt::format("U = 97 clients per phase are as many in total as DPE's at alpha = {}", alpha), kFigure,
          expected, reason, [alpha](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Sample clients, findings.Final(Growing(alpha), "clients"));
            BANDANA_ASSIGN_OR_RETURN(const Sample phases, findings.Final(Growing(alpha), "rounds"));
            const Estimate mean = PairedRatio(clients, phases);
            return Finding{std::abs(mean.value - kPapersU) < 1,
                           fmt::format("{:.0f} clients in {:.0f} phases: {:.1f} per phase",
                                       MeanOf(clients).value, MeanOf(phases).value, mean.value)};
          }};
}

absl::StatusOr<Finding> Faster(const Findings& findings, const Where& growing, const Where& fixed) {
  BANDANA_ASSIGN_OR_RETURN(const Sample a, findings.Final(growing));
  BANDANA_ASSIGN_OR_RETURN(const Sample b, findings.Final(fixed));
  BANDANA_ASSIGN_OR_RETURN(const Sample sent_a, findings.Final(growing, "communication_reals"));
  BANDANA_ASSIGN_OR_RETURN(const Sample sent_b, findings.Final(fixed, "communication_reals"));
  return Finding{Compare(a, b) == Order::kBelow,
                 fmt::format("regret {} growing, {} fixed, difference {}; reals sent {} and {}",
                             Figure(MeanOf(a)), Figure(MeanOf(b)), Figure(PairedDifference(a, b)),
                             Figure(MeanOf(sent_a).value), Figure(MeanOf(sent_b).value))};
}

PaperClaim LearnsFaster(double alpha, bool expected, const std::string& reason) {
  return {
      fmt::format("DPE learns much faster than DPE-FixedU with as many clients in all, alpha = {}", alpha),
      kFigure, expected, reason,
      [alpha](const Findings& findings) { return Faster(findings, Growing(alpha), Fixed(alpha)); }};
}

PaperClaim LearnsFasterAtEqualReals(double alpha, double clients) {
  return {
      fmt::format("DPE learns much faster than DPE-FixedU that sends as many reals (U = {:.0f}), alpha = {}",
                  clients, alpha),
      kFigure, true, "",
      [=](const Findings& findings) { return Faster(findings, Growing(alpha), FixedAt(clients)); }};
}

}  // namespace

std::vector<PaperClaim> P1Fig2cClaims() {
  return {
      PapersUFits(0.8, false,
                  "97 is the mean of ceil(2^(l/2)) over l = 1 .. 18, alpha = 0.5; at 0.8 it is 2822"),
      PapersUFits(0.5, true, ""),
      LearnsFaster(0.5, true, ""),
      LearnsFaster(
          0.8, false,
          "2822 clients settle most of it in the first phases, where the regret is made and where a growing "
          "number is small; that many also send more reals, since more actions are left then"),
      LearnsFasterAtEqualReals(0.5, 18),
      LearnsFasterAtEqualReals(0.8, 180),
      {"DPE at alpha = 0.8 learns much faster than DPE-FixedU with U = 97, as the figure has it", kFigure,
       true, "", [](const Findings& findings) { return Faster(findings, Growing(0.8), FixedAt(kPapersU)); }},
  };
}

}  // namespace bandana::lab
