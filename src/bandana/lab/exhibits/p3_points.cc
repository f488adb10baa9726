#include "bandana/lab/exhibits/p3_points.h"

#include <cmath>
#include <utility>

#include "fmt/format.h"

namespace bandana::lab::p3 {

Where Ours() { return {{"privacy.model", "silo"}, {"algorithm.local", "released"}}; }
Where AsPrinted() { return {{"privacy.calibration", "paper"}}; }
Where NonPrivate() { return {{"privacy.model", "none"}}; }

absl::StatusOr<NamedSample> NamedRegret(const Findings& findings, std::string name, const Where& where) {
  return NamedFinal(findings, std::move(name), where, kRegret);
}

Finding GrowsLike(const Named& line, double rate, double near) {
  const Estimate slope = LogLogSlope(line.line);
  std::string figures;
  for (std::size_t i = 0; i < line.line.x.size(); ++i) {
    figures += fmt::format(", {} at {}", Figure(MeanOf(line.line.y[i])), Figure(line.line.x[i]));
  }
  return {std::abs(slope.value - rate) <= near,
          fmt::format("{}: slope {:.2f} +- {:.2f}{}", line.name, slope.value, slope.se, figures)};
}

}  // namespace bandana::lab::p3
