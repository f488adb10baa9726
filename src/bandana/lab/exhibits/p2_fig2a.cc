#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P2, Fig. 2(a): regret against epsilon for Algorithms 1 to 4.
namespace bandana::lab {
namespace {

constexpr char kFigure[] = "p2 Fig. 2(a)";

struct Curve {
  const char* name;
  const char* model;
  const char* shuffle;  // or nothing
};
constexpr Curve kCentral{"Algorithm 1", "central", nullptr};
constexpr Curve kLocal{"Algorithm 2", "local", nullptr};
constexpr Curve kAmplified{"Algorithm 3", "shuffle", "amplified"};
constexpr Curve kSum{"Algorithm 4", "shuffle", "sum"};

absl::StatusOr<Named> ByEpsilon(const Findings& findings, const Curve& curve) {
  Where where = {{"privacy.model", curve.model}};
  if (curve.shuffle != nullptr) where["privacy.shuffle"] = curve.shuffle;
  return NamedAlong(findings, curve.name, "privacy.epsilon", where);
}

absl::StatusOr<Sample> NonPrivate(const Findings& findings) {
  return findings.Final({{"privacy.model", "none"}});
}

PaperClaim Converges(const Curve& curve, bool expected = true, const std::string& reason = "") {
  return {fmt::format("{} converges to the non-private regret as epsilon grows (within 10 % at the largest)",
                      curve.name),
          kFigure, expected, reason, [curve](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByEpsilon(findings, curve));
            BANDANA_ASSIGN_OR_RETURN(const Sample none, NonPrivate(findings));
            return ConvergesTo(line, "non-private", none, 1.1);
          }};
}

using Comparison = Finding (*)(const Named&, const Named&);

PaperClaim Compared(const std::string& claim, const Curve& a, const Curve& b, Comparison compare,
                    bool expected = true, const std::string& reason = "") {
  return {claim, kFigure, expected, reason, [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named left, ByEpsilon(findings, a));
            BANDANA_ASSIGN_OR_RETURN(const Named right, ByEpsilon(findings, b));
            return compare(left, right);
          }};
}

PaperClaim CloseToNonPrivate(const Curve& curve, bool expected = true, const std::string& reason = "") {
  return {fmt::format("{} closely follows the non-private regret (within a factor of 2 at every epsilon)",
                      curve.name),
          kFigure, expected, reason, [curve](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const Named line, ByEpsilon(findings, curve));
            BANDANA_ASSIGN_OR_RETURN(const Sample none, NonPrivate(findings));
            const Named flat{"non-private", {line.line.x, std::vector<Sample>(line.line.x.size(), none)}};
            return WithinFactor(line, flat, 2);
          }};
}

}  // namespace

std::vector<PaperClaim> P2Fig2aClaims() {
  return {
      Converges(kCentral),
      Converges(kLocal),
      Converges(kAmplified),
      Converges(kSum),
      CloseToNonPrivate(kCentral),
      CloseToNonPrivate(kAmplified),
      Compared("Algorithm 1 outperforms Algorithm 2 (local)", kCentral, kLocal, Below),
      Compared("Algorithm 3 outperforms Algorithm 2 (local)", kAmplified, kLocal, Below),
      Compared("Algorithm 3 has a performance close to Algorithm 1 (within a factor of 2)", kAmplified,
               kCentral, [](const Named& a, const Named& b) { return WithinFactor(a, b, 2); }),
      Compared("Algorithm 4 is as good as Algorithm 3", kSum, kAmplified, NowhereAbove),
      Compared("Algorithm 4 has a performance close to Algorithm 1 (within 10 %)", kSum, kCentral,
               [](const Named& a, const Named& b) { return WithinFactor(a, b, 1.1); }),
  };
}

}  // namespace bandana::lab
