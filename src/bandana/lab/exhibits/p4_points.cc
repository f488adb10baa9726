#include "bandana/lab/exhibits/p4_points.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace bandana::lab::p4 {

Where Printed() { return {{"privacy.calibration", "paper"}, {"algorithm.width", "paper"}}; }
Where Ours() { return {{"privacy.calibration", "tight"}, {"algorithm.width", "exact"}}; }

absl::StatusOr<Sample> PerRound(const Findings& findings, const Where& where, const std::string& metric) {
  BANDANA_ASSIGN_OR_RETURN(Sample sample, findings.Final(where, metric));
  BANDANA_ASSIGN_OR_RETURN(const Sample rounds, findings.Final(where, "rounds"));
  for (std::size_t i = 0; i < sample.size(); ++i) sample[i] /= rounds[i];
  return sample;
}

Finding AtLeastTimes(const NamedSample& a, const NamedSample& b, double factor) {
  const Estimate ratio = PairedRatio(a.sample, b.sample);
  return {ratio.value >= factor, fmt::format("{} {}, {} {}: {} times", a.name, Figure(MeanOf(a.sample)),
                                             b.name, Figure(MeanOf(b.sample)), Figure(ratio))};
}

Finding IsExactly(const NamedSample& a, double value) {
  const bool exactly = std::all_of(a.sample.begin(), a.sample.end(), [&](double each) {
    return std::abs(each - value) <= 1e-9 * std::max(1.0, std::abs(value));
  });
  return {exactly, fmt::format("{} {:.6g} ({:.6g})", a.name, MeanOf(a.sample).value, value)};
}

absl::StatusOr<double> GrowthAtEnd(const Findings& findings, const Where& where) {
  BANDANA_ASSIGN_OR_RETURN(const CurveOverTime curve, findings.Curve(where));
  for (std::size_t i = 0; i < curve.t.size(); ++i) {
    if (curve.t[i] == curve.t.back() / 2) return curve.mean.back() / curve.mean[i] - 1;
  }
  return absl::NotFoundError("the run has no checkpoint at half of its horizon");
}

}  // namespace bandana::lab::p4
