#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bandana/lab/summary.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::lab {

/// The smallest effect that a comparison would have called clear: kClear standard errors.
struct Resolution {
  double value = 0;
  bool exponent = false;  ///< whether it is of an exponent of growth, or else relative to the smaller mean
};

/// The result of comparing a claim with a run.
struct Finding {
  bool holds = false;    ///< whether the run confirms the claim; false also if the run is not clear enough
  std::string evidence;  ///< the numbers, with standard errors
  std::optional<Resolution> resolves = std::nullopt;  ///< nothing: the comparison is not of means
  std::optional<double> measured = std::nullopt;      ///< our number, of a claim about a printed one
  std::optional<double> printed = std::nullopt;       ///< the number that the paper prints
};

/// A guarantee that was asked for and another one that the noise delivers.
struct OtherGuarantee {
  DpGuarantee asked;
  DpGuarantee delivered;
};

/// A claim and whether a run confirmed it.
struct Verdict {
  std::string claim;
  std::string paper;
  bool expected = true;
  bool holds = false;
  std::string evidence;
  bool judged = true;        ///< false: the run lacks the points or metrics that the claim is about
  std::string version = {};  ///< "printed", "ours", or empty: the claim is not about a version
  std::string reason = {};   ///< why it is not expected to hold; empty if it is
  std::optional<Resolution> resolves = std::nullopt;
  std::optional<double> measured = std::nullopt;
  std::optional<double> printed = std::nullopt;
  std::vector<OtherGuarantee> delivers = {};  ///< where the noise delivers another guarantee than was asked

  bool as_expected() const { return judged && holds == expected; }
};

/// Returns the verdicts in the shape of verdict.json (docs/exhibits.md).
Json ToJson(const std::vector<Verdict>& verdicts);

/// Returns the verdict in one or two words: "confirmed", "not confirmed" or "not judged".
std::string InWords(const Verdict& verdict);

}  // namespace bandana::lab
