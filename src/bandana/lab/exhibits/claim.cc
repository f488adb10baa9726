#include "bandana/lab/exhibits/claim.h"

namespace bandana::lab {

Verdict Judge(const PaperClaim& claim, const Findings& findings) {
  Verdict verdict{.claim = claim.claim, .paper = claim.paper, .expected = claim.expected};
  const absl::StatusOr<Finding> finding = claim.judge(findings);
  if (!finding.ok()) {
    verdict.judged = false;
    verdict.evidence = "cannot be judged: " + std::string(finding.status().message());
    return verdict;
  }
  verdict.holds = finding->holds;
  verdict.evidence = finding->evidence;
  if (!claim.expected) verdict.evidence += ". Not expected to hold: " + claim.reason;
  return verdict;
}

Json ToJson(const std::vector<Verdict>& verdicts) {
  Json json = Json::array();
  for (const Verdict& verdict : verdicts) {
    json.push_back({{"claim", verdict.claim},
                    {"paper", verdict.paper},
                    {"expected", verdict.expected},
                    {"holds", verdict.holds},
                    {"evidence", verdict.evidence}});
  }
  return json;
}

}  // namespace bandana::lab
