#include "bandana/lab/audit_json.h"

namespace bandana::lab {

Json ToJson(const audit::Entry& entry) {
  return {{"target", entry.name},
          {"summary", entry.summary},
          {"nominal", GuaranteeJson(entry.nominal)},
          {"draws", entry.draws},
          {"known_to_fail", TextOrNull(entry.known_to_fail)}};
}

std::string WhyItFails(const audit::Finding& finding) {
  const absl::StatusOr<const audit::Entry*> entry = audit::FindEntry(finding.target);
  return entry.ok() ? (*entry)->known_to_fail : "";
}

Json ToJson(const audit::Finding& finding) {
  Json json = {{"target", finding.target}, {"claim", nullptr}};
  if (finding.claim) json["claim"] = ToJson(*finding.claim);
  json["epsilon_lower"] = finding.epsilon_lower;
  json["delta_lower"] = finding.delta_lower;
  json["distinguisher"] = finding.distinguisher;
  json["draws"] = finding.draws;
  json["confidence"] = 1 - finding.false_alarm;
  json["verdict"] = finding.claim ? (finding.refuted ? "refuted" : "not refuted") : "no claim";
  if (const std::string why = WhyItFails(finding); !why.empty()) json["known_to_fail"] = why;
  return json;
}

}  // namespace bandana::lab
