#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bandana/lab/exhibits/claim.h"
#include "gmock/gmock.h"

/// Helpers for tests of exhibits' claims.
namespace bandana::lab::test {

/// Returns the verdict on the claim whose text contains `words`.
inline Verdict On(const Json& summary, const std::vector<PaperClaim>& claims, const std::string& words) {
  const auto it = std::find_if(claims.begin(), claims.end(), [&](const PaperClaim& claim) {
    return claim.claim.find(words) != std::string::npos;
  });
  EXPECT_TRUE(it != claims.end()) << words;
  if (it == claims.end()) return {};
  Verdict verdict = Judge(*it, Findings(summary));
  EXPECT_TRUE(verdict.judged) << verdict.evidence;
  return verdict;
}

}  // namespace bandana::lab::test
