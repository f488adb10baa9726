#include "bandana/privacy/claim.h"

namespace bandana {

std::vector<Claim> AsDealt(std::vector<Claim> claims) {
  for (Claim& claim : claims) {
    claim.unit = "one client's one reward";
    claim.proof = "docs/proofs/dealt.md";
  }
  return claims;
}

std::vector<Claim> AsJoint(std::vector<Claim> claims) {
  for (Claim& claim : claims) {
    claim.adversary =
        "joint differential privacy, against everyone but the client itself, who alone sees its context, its "
        "action and its reward: " +
        claim.adversary;
    claim.unit = "one client's context and reward";
    claim.proof = "docs/proofs/known-contexts.md";
  }
  return claims;
}

}  // namespace bandana
