#include "bandana/lab/exhibits/p5_points.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace bandana::lab::p5 {

double MedianOf(Sample sample) {
  BANDANA_CHECK(!sample.empty());
  std::sort(sample.begin(), sample.end());
  const std::size_t half = sample.size() / 2;
  return sample.size() % 2 == 1 ? sample[half] : (sample[half - 1] + sample[half]) / 2;
}

Finding MedianBelow(const NamedSample& a, const NamedSample& b) {
  constexpr double kMostReplicates = 0.8;
  const double left = MedianOf(a.sample);
  const double right = MedianOf(b.sample);
  const std::size_t paired = std::min(a.sample.size(), b.sample.size());
  std::size_t wins = 0;
  for (std::size_t i = 0; i < paired; ++i) wins += a.sample[i] < b.sample[i] ? 1 : 0;
  return {left < right && static_cast<double>(wins) >= kMostReplicates * static_cast<double>(paired),
          fmt::format("{}: median {}, {}: {}; below in {} of {}", a.name, Figure(left), b.name, Figure(right),
                      wins, paired)};
}

absl::StatusOr<double> LastSlope(const Findings& findings, const Where& where) {
  constexpr double kDecade = 10;
  BANDANA_ASSIGN_OR_RETURN(const CurveOverTime curve, findings.Curve(where));
  if (curve.median.size() != curve.t.size()) return absl::NotFoundError("a curve without medians");
  const double end = curve.t.back();
  std::size_t start = 0;
  while (start + 1 < curve.t.size() && curve.t[start] < end / kDecade) ++start;
  return std::log(curve.median.back() / curve.median[start]) / std::log(end / curve.t[start]);
}

absl::StatusOr<Finding> LastSlopeAtMost(const Findings& findings, const std::string& name, const Where& where,
                                        double most) {
  BANDANA_ASSIGN_OR_RETURN(const double slope, LastSlope(findings, where));
  return Finding{slope <= most, fmt::format("{}: t^{:.2f}", name, slope)};
}

}  // namespace bandana::lab::p5
