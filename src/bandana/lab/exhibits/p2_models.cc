#include "bandana/lab/exhibits/p2_models.h"

#include <cmath>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::lab::p2 {
namespace {

absl::StatusOr<Named> ByEpsilon(const Findings& findings, const Curve& curve) {
  Where where = {{"privacy.model", curve.model}};
  if (curve.shuffle != nullptr) where["privacy.shuffle"] = curve.shuffle;
  return NamedAlong(findings, curve.name, "privacy.epsilon", where);
}

absl::StatusOr<Sample> NonPrivate(const Findings& findings) {
  return findings.Final({{"privacy.model", "none"}});
}

}  // namespace

PaperClaim Converges(const Curve& curve, const std::string& paper, const Known& known) {
  return {fmt::format("{} converges to the non-private regret as epsilon grows (within 10 % at the largest)",
                      curve.name),
          paper, known.expected, known.reason, [curve](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByEpsilon(findings, curve));
            BANDANA_ASSIGN_OR_RETURN(const Sample none, NonPrivate(findings));
            return ConvergesTo(line, "non-private", none, 1.1);
          }};
}

PaperClaim FollowsNonPrivate(const Curve& curve, double lowest, const std::string& paper,
                             const Known& known) {
  const std::string where = lowest > 0 ? fmt::format("from epsilon = {:.3g}", lowest) : "at every epsilon";
  return {
      fmt::format("{} closely follows the non-private regret (within a factor of 2) {}", curve.name, where),
      paper, known.expected, known.reason,
      [curve, lowest](const Findings& findings) -> absl::StatusOr<Finding> {
        BANDANA_ASSIGN_OR_RETURN(const Named whole, ByEpsilon(findings, curve));
        BANDANA_ASSIGN_OR_RETURN(const Sample none, NonPrivate(findings));
        const Named line = Part(whole, lowest, INFINITY);
        const Named flat{"non-private", {line.line.x, std::vector<Sample>(line.line.x.size(), none)}};
        return WithinFactor(line, flat, 2);
      }};
}

Finding BelowAtSmallEpsilon(const Named& a, const Named& b) {
  constexpr double kSmall = 1;
  return Below(Part(a, 0, kSmall), Part(b, 0, kSmall));
}

PaperClaim Compared(const std::string& claim, const Curve& a, const Curve& b, const Comparison& compare,
                    const std::string& paper, const Known& known) {
  return {claim, paper, known.expected, known.reason,
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named left, ByEpsilon(findings, a));
            BANDANA_ASSIGN_OR_RETURN(const Named right, ByEpsilon(findings, b));
            return compare(left, right);
          }};
}

}  // namespace bandana::lab::p2
