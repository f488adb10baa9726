#include "bandana/privacy/claim.h"

#include <algorithm>

#include "absl/strings/str_replace.h"
#include "fmt/format.h"

namespace bandana {

std::string ToText(const Claim& claim) {
  std::string text =
      fmt::format("{}-DP of {} against {}", ToText(claim.guarantee), claim.unit, claim.adversary);
  if (!claim.only_if.empty()) text += fmt::format(". This holds only if {}", claim.only_if);
  return text;
}

std::optional<DpGuarantee> Weakest(const std::vector<Claim>& claims) {
  std::optional<DpGuarantee> weakest;
  for (const Claim& claim : claims) {
    if (!claim.asked) continue;
    const DpGuarantee before = weakest.value_or(DpGuarantee{0, 0});
    weakest = {std::max(before.epsilon, claim.guarantee.epsilon),
               std::max(before.delta, claim.guarantee.delta)};
  }
  return weakest;
}

std::vector<Claim> Narrowed(std::vector<Claim> claims, const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    if (note.weight != Note::Weight::kNarrowsClaim) continue;
    for (Claim& claim : claims) {
      claim.only_if += fmt::format("{}{}", claim.only_if.empty() ? "" : ", and ", note.only_if);
    }
  }
  return claims;
}

std::string RecordUnit(const std::string& record, const std::string& records,
                       std::optional<Count> records_per_person) {
  if (!records_per_person.has_value()) {
    return fmt::format("one {} of one agent (it is not known how many a person has)", record);
  }
  if (*records_per_person == 1) return fmt::format("one person with at most one {}", record);
  return fmt::format("one person with at most {} {}, at one agent or at several", *records_per_person,
                     records);
}

std::vector<Claim> AsJoint(std::vector<Claim> claims) {
  for (Claim& claim : claims) {
    // A client's action depends on its context without noise. Others see the server's plans, not the action.
    absl::StrReplaceAll({{"releases and actions", "releases and plans"}}, &claim.adversary);
    claim.adversary +=
        ". This is joint differential privacy: only the client itself sees its context and its action";
    claim.unit = "one client's context and reward";
    claim.proof = "docs/proofs/known-contexts.md";
  }
  return claims;
}

}  // namespace bandana
