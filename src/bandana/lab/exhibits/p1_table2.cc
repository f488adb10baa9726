#include <algorithm>
#include <map>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

/// P1, Table II: communication cost and number of users by alpha. LinUCB and PE ask a new user and send one
/// real number in each of the T = 5e4 rounds.
namespace bandana::lab {
namespace {

constexpr char kTable[] = "p1 Table II";
constexpr double kHorizon = 50'000;

absl::StatusOr<Finding> UserCounts(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Line line, findings.Along("algorithm.alpha", {}, "clients"));
  const std::map<double, double> paper = {{0.5, 437}, {0.6, 997}, {0.7, 2321}, {0.8, 5532}, {0.9, 13381}};
  bool holds = line.x.size() == paper.size();
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    const auto it = paper.find(line.x[i]);
    for (const double clients : line.y[i]) holds = holds && it != paper.end() && clients == it->second;
    words.push_back(fmt::format("{:.0f} at {:.3g}", MeanOf(line.y[i]).value, line.x[i]));
  }
  return Finding{holds, fmt::format("{}", fmt::join(words, ", "))};
}

absl::StatusOr<Finding> SendsLessInTheMean(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Line line, findings.Along("algorithm.alpha", {}, "communication_reals"));
  bool holds = true;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    const Estimate reals = MeanOf(line.y[i]);
    if (line.x[i] < 0.85) holds = holds && reals.value + kClear * reals.se < kHorizon;
    words.push_back(fmt::format("{} at {:.3g}", Figure(reals), line.x[i]));
  }
  return Finding{holds, fmt::format("reals sent: {}, against {}", fmt::join(words, ", "), Figure(kHorizon))};
}

absl::StatusOr<Finding> SendsLessAlways(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Line line, findings.Along("algorithm.alpha", {}, "communication_reals"));
  const Sample& reals = line.y.back();
  const auto [least, most] = std::minmax_element(reals.begin(), reals.end());
  const auto more = std::count_if(reals.begin(), reals.end(), [](double sent) { return sent >= kHorizon; });
  return Finding{more == 0,
                 fmt::format("at alpha = {:.3g} {} of {} runs send more than {}: from {} to {}, mean {}",
                             line.x.back(), more, reals.size(), Figure(kHorizon), Figure(*least),
                             Figure(*most), Figure(MeanOf(reals)))};
}

absl::StatusOr<Finding> InvolvesFewer(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Line line, findings.Along("algorithm.alpha", {}, "clients"));
  const Estimate most = MeanOf(line.y.back());
  return Finding{most.value < kHorizon, fmt::format("{:.0f} at alpha = {:.3g}, against {:.0f}", most.value,
                                                    line.x.back(), kHorizon)};
}

}  // namespace

std::vector<PaperClaim> P1Table2Claims() {
  return {
      {"users by alpha: 0.04, 0.10, 0.23, 0.55, 1.34 (x 10^4); exactly 437, 997, 2321, 5532, 13381", kTable,
       true, "", UserCounts},
      {"DPE always involves fewer users than LinUCB and PE", kTable, true, "", InvolvesFewer},
      {"DPE sends less than LinUCB and PE in the mean, at alpha <= 0.8", kTable, true, "",
       SendsLessInTheMean},
      {"DPE always sends less than LinUCB and PE, at alpha = 0.9 too", kTable, false,
       "a run that keeps several actions to the end has 13381 clients report each of them", SendsLessAlways},
  };
}

}  // namespace bandana::lab
