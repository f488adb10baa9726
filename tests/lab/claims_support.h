#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bandana/lab/exhibit.h"
#include "bandana/lab/judge/claim_reader.h"
#include "bandana/lab/judge/judge.h"
#include "gmock/gmock.h"

/// Helpers for tests of claims.
namespace bandana::lab::test {

/// Returns the verdict on the exhibit's claim whose text contains `words` and that is about `version`, if one
/// is given. The run must be judged.
inline Verdict On(const Json& summary, const std::string& exhibit, const std::string& words,
                  const std::string& version = "") {
  const std::vector<PaperClaim>& claims = (*FindExhibit(exhibit))->claims;
  const auto it = std::find_if(claims.begin(), claims.end(), [&](const PaperClaim& claim) {
    return claim.says.find(words) != std::string::npos &&
           (version.empty() || NameOf(claim.version) == version);
  });
  EXPECT_TRUE(it != claims.end()) << words;
  if (it == claims.end()) return {};
  Verdict verdict = Judge(*it, Findings(summary));
  EXPECT_TRUE(verdict.judged) << verdict.evidence;
  return verdict;
}

/// Returns the one claim that a TOML text makes, without `says` and `paper`. The text may begin with [where].
inline PaperClaim ClaimOf(const std::string& where, const std::string& claim) {
  const absl::StatusOr<ExhibitClaims> read =
      ReadClaims(where + "\n[[claim]]\nsays = \"it is so\"\npaper = \"p1 Fig. 9\"\n" + claim, "test.toml");
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? read->claims.front() : PaperClaim();
}

/// A point of a made-up run. Metrics have one value per replicate.
inline Json PlantedPoint(const Json& keys, const std::map<std::string, Sample>& metrics) {
  Json point = {{"point", keys}, {"metrics", Json::object()}};
  for (const auto& [name, values] : metrics) point["metrics"][name] = {{"values", values}};
  return point;
}

inline Json PlantedRun(const std::vector<Json>& points) {
  Json summary = {{"points", Json::array()}};
  for (const Json& point : points) summary["points"].push_back(point);
  return summary;
}

}  // namespace bandana::lab::test
